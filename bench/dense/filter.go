package main

import (
	"context"
	"math/rand/v2"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
)

// seed is that of the filters.
const seed = 20

// shares are those of the vectors that filters allow. The planner turns from
// walking to comparing all between 20 and 15 %.
func shares() []float64 {
	return []float64{1, 0.8, 0.5, 0.3, 0.25, 0.2, 0.18, 0.15, 0.12, 0.1, 0.05, 0.02, 0.01, 0.001}
}

// far is the share of the vectors that the worst filter allows: those that are
// furthest from the query, where a walk does not come by.
const far = 0.2

// filters measures searches of the sentences in a part of them, on one core.
func (b *bench) filters(ctx context.Context, r *results) error {
	defer useCores(1)()
	r.Filter = nil
	vectors, queries := b.vectors.Sentences, b.vectors.Queries
	g, err := newGraph(vectors, queries)
	if err != nil {
		return err
	}
	n := vectors.Rows()
	scores := corpus.Nearest(vectors, queries, n) // all, ordered
	random := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	for _, share := range shares() {
		allowed := docsetOf(n, random[:int(share*float64(n))])
		row, err := b.filter(ctx, g, scores, func(int) *docset.Set { return allowed })
		if err != nil {
			return err
		}
		row.Allowed, row.Which = share, "at random"
		r.Filter = append(r.Filter, row)
	}
	each := make([]*docset.Set, queries.Rows())
	for q := range each {
		furthest := scores[q][n-int(far*float64(n)):]
		each[q] = docsetOf(n, ints(furthest))
	}
	row, err := b.filter(ctx, g, scores, func(q int) *docset.Set { return each[q] })
	row.Allowed, row.Which = far, "the furthest from each query"
	r.Filter = append(r.Filter, row)
	return err
}

// filter measures searches in what is allowed for a query, whose vectors are in
// scores, by descending score.
func (b *bench) filter(ctx context.Context, g *graph, scores [][]topk.Match, allowed func(q int) *docset.Set) (row filterRow, err error) {
	want := make([][]uint32, len(scores))
	for q, all := range scores {
		in := allowed(q)
		for _, match := range all {
			if len(want[q]) < k && in.Contains(match.Ord) {
				want[q] = append(want[q], match.Ord)
			}
		}
	}
	var medians []float64
	for round := range b.rounds + 1 {
		scanned := 0
		f, err := each(g.queries, func(q int, query []float32) ([]topk.Match, error) {
			matches, stats, err := g.Search(ctx, query, topk.Scan{K: k, Allowed: allowed(q)}, hnsw.DefaultEf)
			if stats.Scanned {
				scanned++
			}
			return matches, err
		})
		if err != nil {
			return row, err
		}
		if round > 0 {
			medians = append(medians, 1e6*report.Quantile(f.Seconds, 0.5))
		}
		row.Recall, row.Scanned = recall(f.IDs, want), float64(scanned)/float64(len(scores))
	}
	row.Micros = report.NewFigure(medians)
	return row, nil
}

func docsetOf(n int, ordinals []int) *docset.Set {
	words := make([]uint64, (n+63)/64)
	for _, i := range ordinals {
		words[i/64] |= 1 << (i % 64)
	}
	return docset.FromWords(words)
}

func ints(matches []topk.Match) []int {
	ordinals := make([]int, len(matches))
	for i, match := range matches {
		ordinals[i] = int(match.Ord)
	}
	return ordinals
}
