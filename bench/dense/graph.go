package main

import (
	"context"
	"errors"

	"github.com/braid-search/braid/bench/report"
)

// graphs measures the curves, on one core.
func (b *bench) graphs(ctx context.Context, r *results) error {
	defer useCores(1)()
	r.Graph, r.NotRun = nil, nil
	for _, base := range b.bases() {
		b.log("graphs of %d %s", base.vectors.Rows(), base.name)
		ours, err := newGraph(base.vectors, b.vectors.Queries)
		if err != nil {
			return err
		}
		curves, err := b.compare(ctx, base, []contender{ours}, graphPeers(), efs(), 1, r)
		if err != nil {
			return err
		}
		curves[0].MemoryBytes = ours.MemoryBytes()
		r.Graph = append(r.Graph, curves...)
	}
	return nil
}

// exact measures the comparison of all, on one core and on all.
func (b *bench) exact(ctx context.Context, r *results) error {
	r.Exact = nil
	for _, base := range b.bases() {
		for _, threads := range threadCounts() {
			restore := useCores(threads)
			ours := newExact(base.vectors, b.vectors.Queries)
			curves, err := b.compare(ctx, base, []contender{ours}, exactPeers(), []int{0}, threads, r)
			restore()
			if err != nil {
				return err
			}
			r.Exact = append(r.Exact, curves...)
		}
	}
	return nil
}

// compare goes rounds times round the contenders and the peers, which it starts,
// after one that warms up. It returns a curve for each.
func (b *bench) compare(ctx context.Context, base base, all []contender, peers []string, efs []int, threads int, r *results) (curves []curve, err error) {
	defer func() {
		for _, c := range all {
			err = errors.Join(err, c.close())
		}
	}()
	for _, name := range peers {
		if why := b.missing(name); why != "" {
			r.notRun(why)
			continue
		}
		b.log("%s makes its index", name)
		p, err := b.start(ctx, name, base.vectors, b.vectors.Queries, threads)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	for _, c := range all {
		curves = append(curves, curve{Base: base.name, Vectors: base.vectors.Rows(), Name: c.name(), Threads: threads, made: c.made(), Points: make([]point, len(efs))})
	}
	for i, ef := range efs {
		seconds := make([][]float64, len(all))
		for round := range b.rounds + 1 {
			for j, c := range all {
				f, err := c.search(ctx, ef)
				if err != nil {
					return nil, err
				}
				if round > 0 {
					seconds[j] = append(seconds[j], 1e6*mean(f.Seconds))
				}
				curves[j].Points[i].Recall = recall(f.IDs, base.want)
			}
		}
		for j := range all {
			curves[j].Points[i].Ef, curves[j].Points[i].Micros = ef, report.NewFigure(seconds[j])
		}
	}
	return curves, nil
}
