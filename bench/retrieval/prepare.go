package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/sparse"
)

// built is what making an index of some size took, and what came of it.
type built struct {
	AddMicros    float64 `json:"add_us"`     // of one passage, in the mean
	SlowestMilli float64 `json:"slowest_ms"` // of one passage
	FileBytes    int64   `json:"file_bytes"` // of the snapshot
	Entries      int     `json:"entries"`    // terms of all passages, each once a passage
}

// folder is where what belongs to n passages is kept.
func (b *bench) folder(n int) string { return filepath.Join(b.scratch(), strconv.Itoa(n)) }

// snapshotFile and builtFile hold an index and what is to be said of it.
func (b *bench) snapshotFile(part string, n int) string {
	return filepath.Join(b.folder(n), part+".snapshot")
}
func (b *bench) builtFile(part string, n int) string { return filepath.Join(b.folder(n), part+".json") }

// prepare makes the indexes of n passages, ours and the peers', unless they are
// there.
func (b *bench) prepare(ctx context.Context, n int) error {
	if err := os.MkdirAll(b.folder(n), 0o755); err != nil {
		return err
	}
	for part, make := range map[string]func(int) (built, error){partSparse: b.prepareSparse, partLexical: b.prepareLexical} {
		if _, err := os.Stat(b.builtFile(part, n)); err == nil {
			continue
		}
		b.log("%d passages: making the %s index", n, part)
		made, err := make(n)
		if err != nil {
			return err
		}
		data, err := json.Marshal(made)
		if err == nil {
			err = os.WriteFile(b.builtFile(part, n), data, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return b.preparePeers(ctx, n)
}

// adding measures calls that add one passage each.
type adding struct{ total, slowest time.Duration }

func (a *adding) time(add func()) {
	start := time.Now()
	add()
	took := time.Since(start)
	a.total += took
	a.slowest = max(a.slowest, took)
}

func (a *adding) built(n, entries int, file int64) built {
	return built{
		AddMicros: a.total.Seconds() * 1e6 / float64(n), SlowestMilli: a.slowest.Seconds() * 1e3,
		FileBytes: file, Entries: entries,
	}
}

func (b *bench) prepareSparse(n int) (built, error) {
	p := sparse.New()
	var a adding
	entries := 0
	for i := range n {
		v := b.mixer.Vector(i)
		entries += len(v.Indices)
		a.time(func() { p.Add(uint32(i), v) })
	}
	size, err := save(b.snapshotFile(partSparse, n), p.Save)
	return a.built(n, entries, size), err
}

// analysed is what is made of a passage, in a goroutine of its own.
type analysed struct {
	words lexical.Analysis
	terms []lexical.Term
}

func (b *bench) prepareLexical(n int) (built, error) {
	x := lexical.New(lexical.Options{})
	terms, err := newTermFiles(b.folder(n))
	if err != nil {
		return built{}, err
	}
	analyzer := lexical.NewAnalyzer()
	var a adding
	for i, p := range ordered(n, func(i int) analysed {
		text := b.mixer.Text(i)
		return analysed{x.Analyze(text), analyzer.Terms(text)}
	}) {
		a.time(func() { x.AddAnalysis(uint32(i), p.words) })
		terms.add(p.terms)
	}
	if err := terms.close(); err != nil {
		return built{}, err
	}
	size, err := save(b.snapshotFile(partLexical, n), x.Save)
	return a.built(n, len(terms.terms), size), err
}

// ordered yields make_(0) to make_(n-1). Many are made at a time, on all cores,
// and yielded when all of them are done, so that what the caller does with them
// can be timed.
func ordered[T any](n int, make_ func(int) T) func(func(int, T) bool) {
	const chunk = 4096
	return func(yield func(int, T) bool) {
		for first := 0; first < n; first += chunk {
			values := make([]T, min(chunk, n-first))
			var wg sync.WaitGroup
			for core := range runtime.GOMAXPROCS(0) {
				wg.Go(func() {
					for i := core; i < len(values); i += runtime.GOMAXPROCS(0) {
						values[i] = make_(first + i)
					}
				})
			}
			wg.Wait()
			for i, v := range values {
				if !yield(first+i, v) {
					return
				}
			}
		}
	}
}

// snapshotKind names the files of indexes.
const snapshotKind = "bench-retrieval"

func save(path string, write func(*snapshot.Writer)) (int64, error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	buffer := bufio.NewWriterSize(file, 1<<20)
	w := snapshot.NewWriter(buffer, snapshotKind, 1)
	write(w)
	if err := errors.Join(w.Close(), buffer.Flush(), file.Close()); err != nil {
		return 0, fmt.Errorf("save %s: %w", path, err)
	}
	return w.Written(), nil
}

// load reads an index that save wrote; end is the number of its passages.
func load[I any](path string, end int, read func(*snapshot.Reader, uint64) (I, error)) (I, error) {
	var none I
	file, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return none, err
	}
	r := snapshot.NewReader(bufio.NewReaderSize(file, 1<<20), info.Size(), snapshotKind, 1)
	index, err := read(r, uint64(end))
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		return none, fmt.Errorf("load %s: %w", path, err)
	}
	return index, nil
}
