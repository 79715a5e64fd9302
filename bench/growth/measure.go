package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// measure measures the collections and writes the report.
func (b *bench) measure(ctx context.Context, out string) error {
	var r results
	if err := report.Read(out, &r); err != nil {
		return err
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Load, _, _ = strings.Cut(string(load), " ")
	}
	for _, n := range b.sizes {
		b.log("%d passages", n)
		row, err := b.size(ctx, n)
		if err != nil {
			return fmt.Errorf("%d passages: %w", n, err)
		}
		r.Sizes = slices.DeleteFunc(r.Sizes, func(old sizeRow) bool { return old.Passages == n })
		r.Sizes = append(r.Sizes, row)
	}
	slices.SortFunc(r.Sizes, func(x, y sizeRow) int { return x.Passages - y.Passages })
	r.Circumstances, r.Rounds = report.Now(ctx, b.folders.Root), b.rounds
	r.Charts = r.charts()
	return report.Write(out, r, r.markdown(filepath.Base(out)))
}

// size measures the collection of n passages: opened from files that the system
// holds in memory, searched, and opened from files that it does not.
func (b *bench) size(ctx context.Context, n int) (row sizeRow, err error) {
	data, err := os.ReadFile(b.builtFile(n))
	if errors.Is(err, fs.ErrNotExist) {
		return row, braid.Errorf(braid.NotFound, "the collection is not made: run with prepare first: %w", err)
	}
	if err == nil {
		err = json.Unmarshal(data, &row.built)
	}
	if err != nil {
		return row, err
	}
	truth := row.Truth
	row.Truth = nil // it is of no use to readers
	before := heap()
	engine, c, err := b.open(ctx, n, &row.Warm)
	if err != nil {
		return row, err
	}
	row.HeapBytes = heap() - before
	err = b.searches(ctx, c, truth, &row)
	if err = errors.Join(err, engine.Close()); err == nil {
		err = forget(b.dataFolder(n))
	}
	if err != nil {
		return row, err
	}
	runtime.GC()
	if engine, _, err = b.open(ctx, n, &row.Cold); err != nil {
		return row, err
	}
	return row, engine.Close()
}

// open opens a collection on all cores and asks it.
func (b *bench) open(ctx context.Context, n int, o *opening) (*embedded.Engine, index.Collection, error) {
	begun, used := time.Now(), processorTime(syscall.RUSAGE_SELF)
	engine, err := embedded.Open(ctx, b.dataFolder(n), embedded.Options{})
	if err != nil {
		return nil, nil, err
	}
	o.OpenSeconds = time.Since(begun).Seconds()
	c, err := engine.Open(ctx, name)
	if err == nil {
		_, err = c.SearchDense(ctx, b.dense.Queries.Row(0), index.Query{K: best, Method: &o.Method})
	}
	o.AnswerSeconds, o.CPUSeconds = time.Since(begun).Seconds(), (processorTime(syscall.RUSAGE_SELF) - used).Seconds()
	if err == nil && c.Info().Documents != n {
		err = braid.Errorf(braid.Corrupt, "it has %d documents", c.Info().Documents)
	}
	if err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	return engine, c, nil
}

// filter lets one of tenants through.
func filter() braid.Filter {
	tenant := braid.KeywordOf("t3")
	return braid.Filter{Must: []braid.Clause{braid.Condition{Field: "tenant", Match: &tenant}}}
}

// searches measures the branches, on one core.
func (b *bench) searches(ctx context.Context, c index.Collection, truth [][]uint32, row *sizeRow) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	info := c.Info()
	row.Memory = map[string]int64{"filter": info.FilterBytes}
	for branch, bytes := range info.MemoryBytes {
		row.Memory[string(branch)] = bytes
	}
	allowed, err := c.Resolve(ctx, filter())
	if err != nil {
		return err
	}
	row.Searches = map[string]searchRow{}
	for branch, search := range b.branches(ctx, c) {
		var one searchRow
		var hits [][]braid.Hit
		if one.All, hits, err = b.time(func(q int) ([]braid.Hit, error) { return search(q, index.Query{K: best}) }); err != nil {
			return err
		}
		if branch == "dense" {
			row.Recall10, row.Recall100 = recall(hits, truth, few), recall(hits, truth, best)
		}
		if one.Filtered, _, err = b.time(func(q int) ([]braid.Hit, error) { return search(q, index.Query{K: best, Allowed: allowed}) }); err != nil {
			return err
		}
		row.Searches[branch] = one
	}
	row.Resolve, _, err = b.time(func(int) ([]braid.Hit, error) {
		_, err := c.Resolve(ctx, filter())
		return nil, err
	})
	return err
}

// branches are the ways to search c for SciFact's claim q.
func (b *bench) branches(ctx context.Context, c index.Collection) map[string]func(q int, query index.Query) ([]braid.Hit, error) {
	set := b.mixer.Sets[0]
	return map[string]func(q int, query index.Query) ([]braid.Hit, error){
		"dense": func(q int, query index.Query) ([]braid.Hit, error) {
			return c.SearchDense(ctx, b.dense.Queries.Row(q), query)
		},
		"sparse": func(q int, query index.Query) ([]braid.Hit, error) {
			return c.SearchSparse(ctx, set.Queries[q], query)
		},
		"lexical": func(q int, query index.Query) ([]braid.Hit, error) {
			return c.SearchLexical(ctx, set.Data.Queries[q].Text, query)
		},
	}
}

// time is the median in milliseconds of a search for each query, in rounds after
// one that warms up.
func (b *bench) time(search func(q int) ([]braid.Hit, error)) (report.Figure, [][]braid.Hit, error) {
	var rounds [][]float64
	hits := make([][]braid.Hit, b.dense.Queries.Rows())
	for round := range b.rounds + 1 {
		var seconds []float64
		for q := range hits {
			begun := time.Now()
			found, err := search(q)
			seconds = append(seconds, time.Since(begun).Seconds())
			if err != nil {
				return report.Figure{}, nil, err
			}
			hits[q] = found
		}
		if round > 0 {
			rounds = append(rounds, seconds)
		}
	}
	return report.Quantiles(rounds, 0.5, 1000), hits, nil
}

// heap is what live objects take.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// forget asks the system to drop what it holds in memory of the files below dir.
func forget(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		return errors.Join(file.Sync(), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED), file.Close())
	})
}
