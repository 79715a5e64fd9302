package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/docjson"
	"github.com/braid-search/braid/search"
)

// input is documents that can be read more than once: a file of them, or pages.
type input struct {
	file  *os.File
	size  int64
	pages []page // instead of file
	count int
}

// openInput opens the file called name, or a copy of stdin for "-", and checks
// every document in it.
func openInput(ctx context.Context, name string, stdin io.Reader, stderr io.Writer) (_ *input, err error) {
	in := &input{}
	if name == "-" {
		in.file, err = keep(ctx, stdin)
	} else if in.file, err = os.Open(name); err != nil {
		err = braid.Errorf(braid.NotFound, "open documents: %w", err)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			in.close()
			err = fmt.Errorf("%s: %w (nothing was stored)", name, err)
		}
	}()
	info, err := in.file.Stat()
	if err != nil {
		return nil, err
	}
	in.size = info.Size()
	return in, in.check(ctx, stderr)
}

// check reads every document once.
func (in *input) check(ctx context.Context, stderr io.Writer) error {
	bar := newByteProgress(stderr, "checking", in.size)
	defer bar.finish()
	for d, err := range in.each {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		in.count++
		bar.add(len(d.Text))
	}
	if in.count == 0 {
		return braid.Errorf(braid.InvalidArgument, "it holds no document")
	}
	return nil
}

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close() // it was only read
	}
}

// keep copies r into a file that has no name any more, so that nothing is left
// of it whatever happens. It gives up when ctx ends, even if r does not.
func keep(ctx context.Context, r io.Reader) (*os.File, error) {
	file, err := os.CreateTemp("", "braid-stdin-*.jsonl")
	if err != nil {
		return nil, braid.Errorf(braid.Unavailable, "keep standard input: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(braid.Errorf(braid.Unavailable, "keep standard input: %w", err), file.Close())
	}
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(file, r)
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		// The copy cannot be stopped while it waits for r; it ends with the
		// process, which is about to.
		return nil, braid.Errorf(braid.Canceled, "interrupted: nothing was stored")
	}
	if err != nil {
		return nil, errors.Join(braid.Errorf(braid.Unavailable, "keep standard input: %w", err), file.Close())
	}
	return file, nil
}

// each yields the documents from the start of the input; after an error nothing
// follows.
func (in *input) each(yield func(braid.Document, error) bool) {
	if in.file == nil {
		in.eachPage(yield)
		return
	}
	if _, err := in.file.Seek(0, io.SeekStart); err != nil {
		yield(braid.Document{}, braid.Errorf(braid.InvalidArgument, "the file cannot be read twice: %w: pipe it in with -", err))
		return
	}
	r := docjson.NewReader(in.file)
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) || !yield(d, err) || err != nil {
			return
		}
	}
}

// storeIn stores every document of the input in collection, which is made if it
// is not there.
func (in *input) storeIn(ctx context.Context, b backend, collection string, settings search.Settings, stderr io.Writer) (search.IngestResult, error) {
	if _, err := b.CreateWith(ctx, collection, settings); err != nil {
		return search.IngestResult{}, err
	}
	var changed error // the file was checked: it can only fail if it is being written to
	docs := func(yield func(braid.Document) bool) {
		for d, err := range in.each {
			if err != nil {
				changed = err
				return
			}
			if !yield(d) {
				return
			}
		}
	}
	total, err := storeAll(ctx, b, collection, docs, in.count, stderr)
	return total, errors.Join(err, changed)
}
