package main

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/topk"
)

// made is what making an index took.
type made struct {
	Seconds float64 `json:"seconds"`
	// Bytes is what memory grew by: the heap's in Go, else that of the process.
	Bytes int64 `json:"bytes"`
}

// found is the outcome of all queries.
type found struct {
	// Seconds are those of each query, or of all in one call divided by them.
	Seconds []float64  `json:"seconds"`
	IDs     [][]uint32 `json:"ids"`
}

// contender is an index of some vectors at work on the queries.
type contender interface {
	name() string
	made() made
	search(ctx context.Context, ef int) (found, error)
	close() error
}

// graph is braid's.
type graph struct {
	*hnsw.Graph
	queries corpus.Matrix
	cost    made
}

func newGraph(vectors, queries corpus.Matrix) (*graph, error) {
	before := heap()
	g, err := hnsw.New(corpus.Dim, hnsw.Options{M: m, EfConstruction: efConstruction})
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	for i := range vectors.Rows() {
		if err := g.Add(uint32(i), vectors.Row(i)); err != nil {
			return nil, err
		}
	}
	took := time.Since(begun).Seconds()
	return &graph{g, queries, made{took, heap() - before}}, nil
}

func (g *graph) name() string { return ourName }
func (g *graph) made() made   { return g.cost }
func (g *graph) close() error { return nil }

func (g *graph) search(ctx context.Context, ef int) (found, error) {
	return each(g.queries, func(_ int, query []float32) ([]topk.Match, error) {
		matches, _, err := g.Search(ctx, query, topk.Scan{K: k}, ef)
		return matches, err
	})
}

// exact is braid's comparison of all.
type exact struct {
	*dense.Exact
	queries corpus.Matrix
	cost    made
}

func newExact(vectors, queries corpus.Matrix) *exact {
	before, begun := heap(), time.Now()
	x := dense.New(corpus.Dim)
	for i := range vectors.Rows() {
		x.Put(uint32(i), vectors.Row(i))
	}
	took := time.Since(begun).Seconds()
	return &exact{x, queries, made{took, heap() - before}}
}

func (x *exact) name() string { return ourName }
func (x *exact) made() made   { return x.cost }
func (x *exact) close() error { return nil }

func (x *exact) search(ctx context.Context, _ int) (found, error) {
	return each(x.queries, func(_ int, query []float32) ([]topk.Match, error) {
		return x.Search(ctx, query, topk.Scan{K: k})
	})
}

// each times a search of every query.
func each(queries corpus.Matrix, search func(q int, query []float32) ([]topk.Match, error)) (found, error) {
	var f found
	all := make([][]topk.Match, queries.Rows())
	for q := range all {
		begun := time.Now()
		matches, err := search(q, queries.Row(q))
		f.Seconds = append(f.Seconds, time.Since(begun).Seconds())
		if err != nil {
			return f, err
		}
		all[q] = matches
	}
	f.IDs = ordinals(all)
	return f, nil
}

func ordinals(all [][]topk.Match) [][]uint32 {
	ids := make([][]uint32, len(all))
	for q, matches := range all {
		for _, match := range matches {
			ids[q] = append(ids[q], match.Ord)
		}
	}
	return ids
}

// recall is the share of want that was found.
func recall(ids, want [][]uint32) float64 {
	hit, all := 0, 0
	for q := range want {
		all += len(want[q])
		for _, id := range want[q] {
			if slices.Contains(ids[q], id) {
				hit++
			}
		}
	}
	return float64(hit) / float64(all)
}

// mean is that of at least one value.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// heap is what live objects take.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
