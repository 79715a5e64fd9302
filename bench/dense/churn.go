package main

import (
	"context"
	"math/rand/v2"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index/dense/hnsw"
)

// most is the share of the vectors that is replaced in the end.
const most = 0.5

// churn measures graphs of which vectors were replaced by others, on one core:
// after each step, beside a graph of the same vectors made at once.
func (b *bench) churn(ctx context.Context, r *results) error {
	defer useCores(1)()
	r.Churn = nil
	vectors := b.vectors.Sentences
	n := vectors.Rows() / 2 // how many there are at any time
	order := rand.New(rand.NewPCG(seed, 1)).Perm(vectors.Rows())
	g, err := hnsw.New(corpus.Dim, hnsw.Options{M: m, EfConstruction: efConstruction})
	if err != nil {
		return err
	}
	// add stores vectors under their place in order, counted from origin on.
	add := func(to *hnsw.Graph, origin, from, end int) error {
		for i := from; i < end; i++ {
			if err := to.Add(uint32(i-origin), vectors.Row(order[i])); err != nil {
				return err
			}
		}
		return nil
	}
	if err := add(g, 0, 0, n); err != nil {
		return err
	}
	before := 0
	for _, step := range []float64{0, 0.1, 0.25, most} {
		replaced := int(step * float64(n))
		for ord := before; ord < replaced; ord++ {
			g.Remove(uint32(ord))
		}
		if err := add(g, 0, n+before, n+replaced); err != nil {
			return err
		}
		if err := b.churned(ctx, r, g, order[replaced:][:n], churnRow{State: "replaced", Replaced: step}, replaced); err != nil {
			return err
		}
		before = replaced
	}
	if err := g.Vacuum(ctx); err != nil {
		return err
	}
	if err := b.churned(ctx, r, g, order[before:][:n], churnRow{State: "and vacuumed", Replaced: most}, before); err != nil {
		return err
	}
	fresh, err := hnsw.New(corpus.Dim, hnsw.Options{M: m, EfConstruction: efConstruction})
	if err != nil {
		return err
	}
	if err := add(fresh, before, before, before+n); err != nil {
		return err
	}
	return b.churned(ctx, r, fresh, order[before:][:n], churnRow{State: "made at once"}, 0)
}

// churned adds a row of g, which holds the sentences of the given numbers under
// the ordinals from first on.
func (b *bench) churned(ctx context.Context, r *results, g *hnsw.Graph, numbers []int, row churnRow, first int) error {
	held := make(corpus.Matrix, 0, len(numbers)*corpus.Dim)
	for _, i := range numbers {
		held = append(held, b.vectors.Sentences.Row(i)...)
	}
	want := ordinals(corpus.Nearest(held, b.vectors.Queries, k))
	for _, ids := range want {
		for i := range ids {
			ids[i] += uint32(first)
		}
	}
	row.Vectors, row.MemoryBytes = len(numbers), g.MemoryBytes()
	var means []float64
	for round := range b.rounds + 1 {
		f, err := (&graph{Graph: g, queries: b.vectors.Queries}).search(ctx, hnsw.DefaultEf)
		if err != nil {
			return err
		}
		if round > 0 {
			means = append(means, 1e6*mean(f.Seconds))
		}
		row.Recall = recall(f.IDs, want)
	}
	row.Micros = report.NewFigure(means)
	r.Churn = append(r.Churn, row)
	return nil
}
