package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/docjson"
	"github.com/braid-search/braid/search"
)

const defaultCollection = "default"

func newIndexCommand() *cobra.Command {
	var cfg backendConfig
	var collection string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "index FILE.jsonl",
		Short: "Store the documents of a file",
		Long: `Store the documents of a file in a collection, which is made if it is not there.

The file holds one JSON object a line, or one JSON array:
  {"id": "1", "title": "…", "text": "…", "payload": {"any": "thing"}}
It is read twice: once to find every fault before anything is stored, then to
store. Use - for standard input.

A document replaces the stored one of the same id. One whose content is stored
already is not encoded again, so that an interrupted run is finished by running
it again.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := openInput(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			defer input.close()
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			begun := time.Now()
			result, err := input.storeIn(cmd.Context(), b, collection, cmd.ErrOrStderr())
			if err = errors.Join(err, b.Close()); err != nil {
				return err
			}
			return printIndexed(cmd.OutOrStdout(), collection, result, time.Since(begun), asJSON)
		},
	}
	cfg.register(cmd)
	cmd.Flags().StringVar(&collection, "collection", defaultCollection, "collection to store the documents in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// input is a file of documents that can be read more than once.
type input struct {
	file  *os.File
	count int
	close func()
}

// openInput opens the file called name, or a copy of stdin for "-", and checks
// every document in it.
func openInput(name string, stdin io.Reader) (*input, error) {
	in := &input{}
	var err error
	if name == "-" {
		if in.file, err = os.CreateTemp("", "braid-stdin-*.jsonl"); err != nil {
			return nil, braid.Errorf(braid.Unavailable, "keep standard input: %w", err)
		}
		in.close = func() { _ = in.file.Close(); _ = os.Remove(in.file.Name()) }
		if _, err := io.Copy(in.file, stdin); err != nil {
			in.close()
			return nil, braid.Errorf(braid.Unavailable, "keep standard input: %w", err)
		}
	} else {
		if in.file, err = os.Open(name); err != nil {
			return nil, braid.Errorf(braid.NotFound, "open documents: %w", err)
		}
		in.close = func() { _ = in.file.Close() } // it was only read
	}
	for _, fault := range in.each {
		err = fault
		in.count++
	}
	if err == nil && in.count == 0 {
		err = braid.Errorf(braid.InvalidArgument, "it holds no document")
	}
	if err != nil {
		in.close()
		return nil, fmt.Errorf("%s: %w (nothing was stored)", name, err)
	}
	return in, nil
}

// each yields the documents from the start of the input; after an error nothing
// follows.
func (in *input) each(yield func(braid.Document, error) bool) {
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
func (in *input) storeIn(ctx context.Context, b backend, collection string, stderr io.Writer) (search.IngestResult, error) {
	if _, err := b.Create(ctx, collection); err != nil {
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
	total, err := store(ctx, b, collection, docs, in.count, stderr)
	return total, errors.Join(err, changed)
}

// store stores documents in a collection that exists, a batch at a time. After
// an error, or when ctx ends, what is stored stays stored.
func store(ctx context.Context, b backend, collection string, docs iter.Seq[braid.Document], count int, stderr io.Writer) (search.IngestResult, error) {
	var total search.IngestResult
	bar := newProgress(stderr, "indexing", count)
	defer bar.finish()
	batch := make([]braid.Document, 0, search.IngestBatch)
	flush := func() error {
		result, err := b.Ingest(ctx, collection, batch)
		total.Add(result)
		bar.add(len(batch))
		batch = batch[:0]
		return err
	}
	var err error
	for d := range docs {
		if batch = append(batch, d); len(batch) == cap(batch) {
			if err = flush(); err != nil {
				break
			}
		}
	}
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	if err != nil {
		return total, fmt.Errorf("%w: %d of %d documents are stored; run the same command again to store the rest", err, total.Stored(), count)
	}
	return total, nil
}

func printIndexed(out io.Writer, collection string, r search.IngestResult, took time.Duration, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Collection string `json:"collection"`
			search.IngestResult
			Seconds float64 `json:"seconds"`
		}{collection, r, took.Seconds()})
	}
	_, err := fmt.Fprintf(out, "%d documents in collection %q: %d new, %d replaced, %d unchanged\n", r.Stored(), collection, r.Created, r.Replaced, r.Unchanged)
	if err == nil && r.Tokens > 0 {
		encoded := float64(r.Created + r.Replaced)
		_, err = fmt.Fprintf(out, "%d tokens in %.1f s (%.1f documents/s); %d longer than the dense model reads\n", r.Tokens, took.Seconds(), encoded/took.Seconds(), r.Truncated)
	}
	return err
}
