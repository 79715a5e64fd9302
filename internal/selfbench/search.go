package selfbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

const (
	collection = "bench"
	// documents are enough that a rerank has candidates, few enough to be stored
	// in seconds; the indexes' share of a search is small at any size that fits.
	documents = 100
	queries   = 64
	// rerankEvery leaves time for the rest: a rerank takes as long as fifty
	// searches without.
	rerankEvery = 10
)

// way is how to ask.
type way struct {
	name   string
	mode   search.Mode
	rerank bool
}

// ways are those the models allow.
func ways(set *modelset.Set) (list []way) {
	if len(set.Dense) > 0 {
		list = append(list, way{"dense", search.ModeDense, false})
	}
	if len(set.Sparse) > 0 {
		list = append(list, way{"sparse", search.ModeSparse, false})
	}
	list = append(list, way{"lexical", search.ModeLexical, false}, way{"hybrid", search.ModeHybrid, false})
	if len(set.Pair) > 0 {
		list = append(list, way{"hybrid, reranked", search.ModeHybrid, true})
	}
	return list
}

// stages measures searches in every way, each query in each way in turn.
func (b *bench) stages(ctx context.Context, set *modelset.Set, budget time.Duration) (err error) {
	service, engine, err := b.opts.Serve(ctx, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	random := rand.New(rand.NewPCG(seed, 1))
	if _, _, err := service.Create(ctx, collection); err != nil {
		return err
	}
	b.say("storing %d documents", documents)
	var docs []braid.Document
	for i, text := range made(random, documents, fewestWords, mostWords) {
		docs = append(docs, braid.Document{ID: strconv.Itoa(i), Text: text})
	}
	if _, err := service.Ingest(ctx, collection, docs); err != nil {
		return err
	}
	b.report.Searched = documents

	b.say("searches in every mode")
	texts, ways := made(random, queries, queryWords, queryWords), ways(set)
	seen := make([][]search.Timings, len(ways))
	asked := 0
	ask := func(keep bool) error {
		for i, way := range ways {
			if keep && way.rerank && asked%rerankEvery != 1 {
				continue
			}
			answer, err := service.Search(ctx, collection, search.Request{Query: texts[asked%queries], Mode: way.mode, Rerank: &way.rerank})
			if err != nil {
				return err
			}
			if len(answer.Degraded) > 0 {
				return braid.Errorf(answer.Degraded[0].Code, "a search was answered without its %s: %s", answer.Degraded[0].Stage, answer.Degraded[0].Message)
			}
			if keep {
				seen[i] = append(seen[i], answer.Timings)
			}
		}
		asked++
		return nil
	}
	if err := ask(false); err != nil { // warms up
		return err
	}
	if err := repeat(budget, func() error { return ask(true) }); err != nil {
		return err
	}
	for i, way := range ways {
		b.report.Stages = append(b.report.Stages, summed(way.name, seen[i])...)
	}
	return nil
}

// summed sums up the stages that ran.
func summed(mode string, seen []search.Timings) (list []Stage) {
	for _, t := range Timings() {
		var values []float64
		for _, answer := range seen {
			values = append(values, t.Of(answer))
		}
		if p95 := Quantile(values, 0.95); p95 > 0 {
			list = append(list, Stage{mode, t.Name, len(seen), Quantile(values, 0.5), p95})
		}
	}
	return list
}
