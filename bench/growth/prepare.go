package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/index/topk"
)

const (
	// name is that of the collection in each data folder.
	name = "growth"
	// batch is how many passages a write has.
	batch = 500
	// best is how many passages every search asks for, and few how many of them
	// recall is also told of.
	best, few = 100, 10
	// tenants is how many values the field that filters ask for has.
	tenants = 20
)

// built is what making a collection took, and what its searches have to find.
type built struct {
	Passages int `json:"passages"`
	Added    int `json:"added"` // to a copy of the one before
	// CPUMicros is the processor time of one passage of those added, in the mean,
	// on all cores and with all that is done in the background.
	CPUMicros float64 `json:"cpu_us"`
	// GraphSeconds passed from the last write to the first answer of a graph.
	GraphSeconds float64    `json:"graph_s"`
	CloseSeconds float64    `json:"close_s"`
	RecordBytes  int64      `json:"record_bytes"` // on disk
	IndexBytes   int64      `json:"index_bytes"`  // on disk: what is saved of the branches
	Truth        [][]uint32 `json:"truth"`        // the best of each dense query
}

// prepare makes the collections that are not there.
func (b *bench) prepare(ctx context.Context) error {
	before := 0
	for _, n := range b.sizes {
		if _, err := os.Stat(b.builtFile(n)); err != nil {
			b.log("%d passages: making the collection from that of %d", n, before)
			made, err := b.make(ctx, before, n)
			if err != nil {
				return fmt.Errorf("%d passages: %w", n, err)
			}
			b.log("%d passages: %.0f µs of processor time each; comparing all vectors", n, made.CPUMicros)
			made.Truth = b.truth(n)
			data, err := json.Marshal(made)
			if err != nil {
				return err
			}
			if err := os.WriteFile(b.builtFile(n), data, 0o644); err != nil {
				return err
			}
		}
		before = n
	}
	return nil
}

// make makes a collection of n passages from one of fewer, 0 for none.
func (b *bench) make(ctx context.Context, before, n int) (made built, err error) {
	if err := os.RemoveAll(b.folder(n)); err != nil {
		return made, err
	}
	if err := os.MkdirAll(b.folder(n), 0o755); err != nil {
		return made, err
	}
	if before > 0 {
		if err := os.CopyFS(b.dataFolder(n), os.DirFS(b.dataFolder(before))); err != nil {
			return made, err
		}
	}
	made.Passages, made.Added = n, n-before
	engine, err := embedded.Open(ctx, b.dataFolder(n), embedded.Options{})
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }() // again: that does nothing
	c, err := b.collection(ctx, engine, before)
	if err != nil {
		return made, err
	}
	if err := b.fill(ctx, c, before, n, &made); err != nil {
		return made, err
	}
	begun := time.Now()
	if err := engine.Close(); err != nil {
		return made, err
	}
	made.CloseSeconds = time.Since(begun).Seconds()
	if made.RecordBytes, err = size(filepath.Join(b.dataFolder(n), "records")); err == nil {
		made.IndexBytes, err = size(filepath.Join(b.dataFolder(n), "indexes"))
	}
	return made, err
}

// collection opens the one there is, or makes it where there is none.
func (b *bench) collection(ctx context.Context, engine *embedded.Engine, before int) (index.Collection, error) {
	if before > 0 {
		return engine.Open(ctx, name)
	}
	return engine.Create(ctx, name, index.Schema{
		Dense: index.ModelRef{Name: "dense", Digest: "dense"}, Dimensions: corpus.Dim,
		Sparse: index.ModelRef{Name: "sparse", Digest: "sparse"},
	})
}

// fill writes passages before to n-1 and waits until the graph answers.
func (b *bench) fill(ctx context.Context, c index.Collection, before, n int, made *built) error {
	runtime.LockOSThread() // so that making the passages can be told from writing them
	defer runtime.UnlockOSThread()
	begun := processorTime(syscall.RUSAGE_SELF)
	var making time.Duration
	for first := before; first < n; first += batch {
		own := processorTime(syscall.RUSAGE_THREAD)
		entries := make([]index.Entry, 0, batch)
		for i := first; i < min(first+batch, n); i++ {
			entries = append(entries, b.entry(i))
		}
		making += processorTime(syscall.RUSAGE_THREAD) - own
		if _, err := c.Write(ctx, index.Batch{Upserts: entries}); err != nil {
			return err
		}
		if first%50_000 < batch {
			b.log("%d of %d", first, n)
		}
	}
	written := time.Now()
	for method := index.MethodExact; method != index.MethodGraph && n >= dense.DefaultGraphFrom; time.Sleep(100 * time.Millisecond) {
		if _, err := c.SearchDense(ctx, b.dense.Queries.Row(0), index.Query{K: best, Method: &method}); err != nil {
			return err
		}
	}
	made.GraphSeconds = time.Since(written).Seconds()
	made.CPUMicros = float64((processorTime(syscall.RUSAGE_SELF) - begun - making).Microseconds()) / float64(n-before)
	return nil
}

// entry is passage i.
func (b *bench) entry(i int) index.Entry {
	vector := make([]float32, corpus.Dim)
	b.dense.Mixed(i, vector)
	return index.Entry{
		Document: braid.Document{
			ID: passageID(uint32(i)), Text: b.mixer.Text(i),
			Payload: fmt.Appendf(nil, `{"tenant":"t%d","year":%d}`, i%tenants, 1990+i%37),
		},
		Fingerprint: [32]byte{1},
		Passages:    []index.Passage{{Dense: vector, Sparse: b.mixer.Vector(i)}},
	}
}

func passageID(i uint32) string { return "p" + strconv.Itoa(int(i)) }

// truth returns the best of n passages for every dense query, by comparing all.
func (b *bench) truth(n int) [][]uint32 {
	const some = 1 << 16
	collectors := make([]*topk.Collector, b.dense.Queries.Rows())
	for q := range collectors {
		collectors[q] = topk.NewCollector(topk.Scan{K: best})
	}
	for first := 0; first < n; first += some {
		part := b.dense.Range(first, min(first+some, n))
		for q, matches := range corpus.Nearest(part, b.dense.Queries, best) {
			for _, m := range matches {
				collectors[q].Offer(uint32(first)+m.Ord, m.Score)
			}
		}
	}
	truth := make([][]uint32, len(collectors))
	for q, c := range collectors {
		for _, m := range c.Matches() {
			truth[q] = append(truth[q], m.Ord)
		}
	}
	return truth
}

// processorTime is what the process or the thread has used.
func processorTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0 // it cannot fail for these two
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// size is how many bytes the files below dir have; 0 where it is not there.
func size(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return total, err
}

// recall is the share of the first k of truth among the first k of hits, in the
// mean of queries.
func recall(hits [][]braid.Hit, truth [][]uint32, k int) float64 {
	found, wanted := 0, 0
	for q, want := range truth {
		want = want[:min(k, len(want))]
		wanted += len(want)
		ids := map[string]bool{}
		for _, ord := range want {
			ids[passageID(ord)] = true
		}
		for _, hit := range hits[q][:min(k, len(hits[q]))] {
			if ids[hit.ID] {
				found++
			}
		}
	}
	if wanted == 0 {
		return math.NaN()
	}
	return float64(found) / float64(wanted)
}
