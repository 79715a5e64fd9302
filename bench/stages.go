package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/selfbench"
	"github.com/braid-search/braid/search"
)

// Stage is what a stage of a search took, over all queries.
type Stage struct {
	Mode  string `json:"mode"`
	Stage string `json:"stage"`
	P50   Figure `json:"p50_ms"`
	P95   Figure `json:"p95_ms"`
}

// generation is the time until all vectors of a query are there.
func generation(t search.Timings) float64 {
	return t.Queue + t.Tokenise + max(t.DenseEncode, t.SparseEncode)
}

// asked is a way to ask.
type asked struct {
	name   string
	mode   search.Mode
	rerank bool
}

func ways() []asked {
	return []asked{{"dense", search.ModeDense, false}, {"sparse", search.ModeSparse, false}, {"lexical", search.ModeLexical, false}, {"hybrid", search.ModeHybrid, false}, {"hybrid+rerank", search.ModeHybrid, true}}
}

// stages measures each stage of searches, each query in every mode in turn.
func (r *run) stages(ctx context.Context) (err error) {
	s, err := startServed(ctx, r.cfg, r.kept("data-stages"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	collection, err := r.stored(ctx, s.client)
	if err != nil {
		return err
	}
	var rounds []map[string][]search.Timings
	for i := range 1 + r.cfg.Rounds {
		r.say("searches in every mode, round %d", i)
		seen, err := r.askAll(ctx, s.client, collection)
		if err != nil {
			return err
		}
		if i > 0 { // the first warms up
			rounds = append(rounds, seen)
		}
	}
	r.tellStages(rounds)
	r.tellConcurrency(rounds)
	if err := r.stagesByLength(ctx, s.client, collection); err != nil {
		return err
	}
	return r.remember(s.process, fmt.Sprintf("all models, %d documents searched", len(r.texts.documents)), s.started.Seconds())
}

// stored stores the documents and returns the name of their collection.
func (r *run) stored(ctx context.Context, client *httpapi.Client) (collection string, err error) {
	collection = fmt.Sprintf("corpus-%d", len(r.texts.documents))
	if _, err := client.Create(ctx, collection); err != nil {
		return "", err
	}
	r.say("storing %d documents, those not there from an earlier run", len(r.texts.documents))
	for docs := range slices.Chunk(r.texts.documents, batch) {
		if _, err := client.Ingest(ctx, collection, docs); err != nil {
			return "", err
		}
	}
	return collection, nil
}

// askAll asks each query in every way and returns the timings by way.
func (r *run) askAll(ctx context.Context, client *httpapi.Client, collection string) (map[string][]search.Timings, error) {
	seen := map[string][]search.Timings{}
	for _, query := range r.texts.queries {
		for _, way := range ways() {
			answer, err := client.Search(ctx, collection, search.Request{Query: query, Mode: way.mode, Rerank: &way.rerank})
			if err != nil {
				return nil, err
			}
			if len(answer.Degraded) > 0 {
				return nil, fmt.Errorf("search %q: it was degraded: %v", query, answer.Degraded)
			}
			seen[way.name] = append(seen[way.name], answer.Timings)
		}
	}
	return seen, nil
}

func (r *run) tellStages(rounds []map[string][]search.Timings) {
	for _, way := range ways() {
		for _, t := range selfbench.Timings() {
			p50, p95 := perRound(rounds, way.name, t.Of, 0.5), perRound(rounds, way.name, t.Of, 0.95)
			if slices.Max(p95) > 0 { // the stage runs in this mode
				r.report.Stages = append(r.report.Stages, Stage{way.name, t.Name, figure(p50), figure(p95)})
			}
		}
	}
}

// tellConcurrency compares vectors made at the same time with the dense one
// alone and with one after the other.
func (r *run) tellConcurrency(rounds []map[string][]search.Timings) {
	for _, q := range []struct {
		metric metric
		q      float64
	}{{metric{name: "p50 ms"}, 0.5}, {metric{name: "p95 ms"}, 0.95}} {
		both := perRound(rounds, "hybrid", generation, q.q)
		alone := perRound(rounds, "dense", generation, q.q)
		var serial []float64
		for _, round := range rounds {
			var sums []float64
			for i, t := range round["dense"] {
				sums = append(sums, generation(t)+generation(round["sparse"][i]))
			}
			serial = append(serial, quantile(sums, q.q))
		}
		const workload = "vectors of a query"
		r.report.Comparisons = append(r.report.Comparisons,
			pairUp(r.part, workload, q.metric, "dense alone", "dense and sparse at once", alone, both),
			pairUp(r.part, workload, q.metric, "dense and sparse at once", "one after the other", both, serial))
	}
}

// perRound is a quantile of a timing over the queries of each round.
func perRound(rounds []map[string][]search.Timings, way string, of func(search.Timings) float64, q float64) []float64 {
	var values []float64
	for _, round := range rounds {
		var list []float64
		for _, t := range round[way] {
			list = append(list, of(t))
		}
		values = append(values, quantile(list, q))
	}
	return values
}
