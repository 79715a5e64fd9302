package embedded

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/store"
)

// A saved form of the branches is a folder of the data folder's "indexes" named
// <collection number>-<sequence of the store>, with a file for each part. It is
// made under another name, so that one that has its name is whole, and it may be
// deleted at any time: the records are what counts.
const (
	savedFolder = "indexes"
	unfinished  = ".new"
)

// part is a piece of the branches that has a file of its own.
type part struct {
	name string
	// version is that of the form that save writes; load reads those up to it.
	version uint64
	save    func(*snapshot.Writer)
	load    func(*snapshot.Reader) error
}

// save writes the branches, which are those of version, and returns the size.
// Searches may go on, changes not.
func (b *branches) save(dir string, number uint32, version store.Version) (size int64, err error) {
	final := savedPath(dir, number, version.Sequence)
	fresh := final + unfinished
	if err := os.RemoveAll(fresh); err != nil {
		return 0, fmt.Errorf("clear the way: %w", err)
	}
	if err := os.MkdirAll(fresh, 0o700); err != nil {
		return 0, fmt.Errorf("make its folder: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(fresh) // what is left is ignored and removed later
		}
	}()
	for _, p := range append([]part{b.directory(&version)}, b.parts()...) {
		n, err := writePart(filepath.Join(fresh, p.name), p)
		if err != nil {
			return 0, err
		}
		size += n
	}
	if err := syncFolder(fresh); err != nil {
		return 0, err
	}
	// There is one of this version already when that one was damaged.
	if err := os.RemoveAll(final); err != nil {
		return 0, fmt.Errorf("remove the one before: %w", err)
	}
	if err := os.Rename(fresh, final); err != nil {
		return 0, fmt.Errorf("put it in place: %w", err)
	}
	return size, syncFolder(filepath.Dir(final))
}

func writePart(path string, p part) (size int64, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, fmt.Errorf("make %s: %w", p.name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buffer := bufio.NewWriterSize(f, 1<<20)
	w := snapshot.NewWriter(buffer, p.name, p.version)
	p.save(w)
	if err := w.Close(); err != nil {
		return 0, fmt.Errorf("write %s: %w", p.name, err)
	}
	if err := buffer.Flush(); err != nil {
		return 0, fmt.Errorf("write %s: %w", p.name, err)
	}
	if err := f.Sync(); err != nil {
		return 0, fmt.Errorf("sync %s: %w", p.name, err)
	}
	return w.Written(), nil
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync a folder: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// load fills new branches from a saved form and returns the version it is of.
// older reports whether a part of it is of an earlier form than save writes.
func (b *branches) load(ctx context.Context, path string) (version store.Version, older bool, err error) {
	// The other parts are checked against the documents.
	if older, err = readPart(ctx, path, b.directory(&version)); err != nil {
		return store.Version{}, false, err
	}
	parts := b.parts()
	olds := make([]bool, len(parts))
	g, ctx := errgroup.WithContext(ctx)
	for i, p := range parts {
		g.Go(func() (err error) {
			olds[i], err = readPart(ctx, path, p)
			return err
		})
	}
	err = g.Wait()
	return version, older || slices.Contains(olds, true), err
}

func readPart(ctx context.Context, folder string, p part) (older bool, err error) {
	path := filepath.Join(folder, p.name)
	f, err := os.Open(path)
	if err != nil {
		return false, braid.Errorf(braid.Corrupt, "%w", err)
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return false, braid.Errorf(braid.Internal, "%w", err)
	}
	r := snapshot.NewReader(readerUntil{ctx, f}, info.Size(), p.name, p.version)
	if err = r.Err(); err == nil {
		err = p.load(r)
	}
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		return false, braid.Errorf(braid.CodeOf(err), "%s: %w", path, err)
	}
	return r.Version() < p.version, nil
}

// readerUntil reads until its context ends.
type readerUntil struct {
	ctx context.Context
	r   io.Reader
}

func (r readerUntil) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

func savedPath(dir string, number uint32, sequence uint64) string {
	return filepath.Join(dir, savedFolder, fmt.Sprintf("%d-%d", number, sequence))
}

// saved returns the sequences of the saved forms of a collection.
func saved(dir string, number uint32) (sequences []uint64, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, savedFolder))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	prefix := strconv.FormatUint(uint64(number), 10) + "-"
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if sequence, err := strconv.ParseUint(rest, 10, 64); ok && err == nil {
			sequences = append(sequences, sequence)
		}
	}
	return sequences, nil
}

// removeSaved removes what is saved of a collection but for one sequence, and
// what was not finished. What cannot be removed is found again the next time.
func removeSaved(dir string, number uint32, but uint64) {
	prefix := strconv.FormatUint(uint64(number), 10) + "-"
	keep := filepath.Base(savedPath(dir, number, but))
	entries, _ := os.ReadDir(filepath.Join(dir, savedFolder))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) && e.Name() != keep {
			_ = os.RemoveAll(filepath.Join(dir, savedFolder, e.Name()))
		}
	}
}
