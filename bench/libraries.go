package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
)

// Memory is what a contender's process took of the machine's.
type Memory struct {
	Contender string  `json:"contender"`
	Workload  string  `json:"workload"`
	After     float64 `json:"after_mb"` // resident when all was done, 10⁶ bytes
	Peak      float64 `json:"peak_mb"`  // highest resident, loading included
	Start     float64 `json:"start_s"`  // of a server: until it was ready; else 0
}

// libraryPeers are who braid's inference is measured against. Of strategies that
// differ only in how texts are put together, queries need no more than one.
func libraryPeers() []library {
	return []library{
		onnxruntimePeer("padded-32", peer.Passages, peer.Rerank),
		onnxruntimePeer("sorted-8", peer.Passages, peer.Rerank),
		onnxruntimePeer("one-by-one"),
		onnxruntimePeer("two-callers"),
		onnxruntimePeer("two-callers-apart", peer.Passages, peer.Rerank),
		fastembedPeer("default"),
		fastembedPeer("1", peer.Passages, peer.Rerank),
	}
}

// libraries measures braid in process against libraries in process.
func (r *run) libraries(ctx context.Context) error {
	for _, w := range r.workloads() {
		if err := r.library(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// workload is work for contenders in process.
type workload struct {
	name    string
	kind    models.Kind
	job     peer.Job
	repeats int // calls of the job a round
	metrics []metric
	values  func(seconds []float64) []float64 // one a metric, of all calls of a round
}

func (r *run) workloads() []workload {
	milli := func(seconds []float64, q float64) float64 { return 1000 * quantile(seconds, q) }
	passages := len(r.texts.passages)
	return []workload{
		{
			name: "short queries, one at a time", kind: models.Dense, repeats: 1,
			job:     peer.Job{Task: peer.Queries, Texts: r.texts.prefixed},
			metrics: []metric{{name: "p50 ms"}, {name: "p95 ms"}},
			values:  func(s []float64) []float64 { return []float64{milli(s, 0.5), milli(s, 0.95)} },
		},
		{
			name: fmt.Sprintf("%d passages of mixed lengths in one call", passages), kind: models.Dense, repeats: 1,
			job:     peer.Job{Task: peer.Passages, Texts: r.texts.passages},
			metrics: []metric{{name: "passages/s", more: true}},
			values:  func(s []float64) []float64 { return []float64{float64(passages) / s[0]} },
		},
		{
			name: "rerank of 20", kind: models.CrossEncoder, repeats: r.cfg.Reranks,
			job:     peer.Job{Task: peer.Rerank, Query: r.texts.queries[0], Texts: r.texts.reranked},
			metrics: []metric{{name: "p50 ms"}},
			values:  func(s []float64) []float64 { return []float64{milli(s, 0.5)} },
		},
	}
}

func (r *run) library(ctx context.Context, w workload) (err error) {
	ours, err := inProcess().start(ctx, r.cfg, w.kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	reference, err := ours.do(w.job)
	if err != nil {
		return err
	}
	r.report.Texts[w.name] = summarise(reference.Tokens)
	for _, l := range libraryPeers() {
		if !l.takes(w.job.Task) || r.leaveOut(l.missing(r.cfg)) {
			continue
		}
		if err := r.against(ctx, w, l, ours, reference); err != nil {
			return err
		}
	}
	return r.remember(ours.process, w.name, 0)
}

func (r *run) against(ctx context.Context, w workload, l library, ours *child, reference peer.Outcome) (err error) {
	theirs, err := l.start(ctx, r.cfg, w.kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	outcome, err := theirs.do(w.job)
	if err != nil {
		return err
	}
	r.report.Agreements = append(r.report.Agreements, agree(w.name, l.name, reference.Results, outcome.Results))
	if err := r.compare(ctx, w.name, w.metrics, w.side(ours), w.side(theirs)); err != nil {
		return err
	}
	return r.remember(theirs.process, w.name, 0)
}

func (l library) takes(task peer.Task) bool {
	for _, t := range l.tasks {
		if t == task {
			return true
		}
	}
	return len(l.tasks) == 0
}

func (w workload) side(c *child) side {
	return side{c.name, func(context.Context) ([]float64, error) {
		var seconds []float64
		for range w.repeats {
			outcome, err := c.do(w.job)
			if err != nil {
				return nil, err
			}
			seconds = append(seconds, outcome.Seconds...)
		}
		return w.values(seconds), nil
	}}
}

// remember notes the memory of a contender that has done its work.
func (r *run) remember(p *process, workload string, start float64) error {
	now, peak, err := p.resident()
	if err != nil {
		return err
	}
	r.report.Memory = append(r.report.Memory, Memory{Contender: p.name, Workload: workload, After: now, Peak: peak, Start: start})
	return nil
}
