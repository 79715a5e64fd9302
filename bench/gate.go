package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/braid-search/braid"
)

// Gate settings.
const (
	// gateSlower is the slowdown that is not let through.
	gateSlower = 0.05
	// gateError is how often the gate may stop a change that is no slower than
	// that, over all workloads together.
	gateError = 0.05
	// LeastPairs is the fewest pairs that can show anything: with five workloads,
	// 7 of 7 have a chance of 1/128, below a fifth of gateError.
	LeastPairs = 7
	// DefaultPairs shows a slowdown when 13 of 15 pairs do (p = 0.0037).
	DefaultPairs = 15
)

// Gated is a workload of two programs in pairs.
type Gated struct {
	Workload string `json:"workload"`
	// Slower is the later program's time over the earlier one's, pair by pair.
	Slower Figure `json:"slower"`
	// Over is the pairs above 1 + gateSlower, of all of them.
	Over, Pairs int
	// P is the chance of that many or more such pairs if the median slowdown were
	// gateSlower or less: a sign test, one-sided.
	P float64 `json:"p"`
	// Fails says that P is at most gateError over the number of workloads
	// (Bonferroni): this work became slower by more than gateSlower.
	Fails bool `json:"fails"`
}

// Gate runs the programs before and after, of two commits, side by side and does
// the same work with one and the other in turn; which is first alternates. It
// says of each workload whether after is slower by more than 5 %, with a chance of
// at most 5 % to say so wrongly of any.
func Gate(ctx context.Context, cfg Config, before, after string, pairs int) (_ []Gated, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if pairs < LeastPairs {
		return nil, braid.Errorf(braid.InvalidArgument, "%d pairs can show nothing, want %d or more", pairs, LeastPairs)
	}
	r := &run{cfg: cfg.withDefaults(), part: "gate"}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	var sides [2]*gateSide
	for i, program := range []string{before, after} {
		side, err := r.openSide(ctx, program, [2]string{"data-gate-before", "data-gate-after"}[i])
		if err != nil {
			return nil, err
		}
		sides[i] = side
		defer func() { err = errors.Join(err, side.close()) }()
	}
	works := r.gateWorks()
	slower := make([][]float64, len(works))
	for pair := range 1 + pairs {
		r.say("pair %d of %d", pair, pairs) // the first warms up
		for w, work := range works {
			var ms [2]float64
			for turn := range 2 {
				i := (pair + turn) % 2
				if ms[i], err = work.measure(ctx, sides[i]); err != nil {
					return nil, fmt.Errorf("%s: %w", work.name, err)
				}
			}
			if pair > 0 {
				slower[w] = append(slower[w], ms[1]/ms[0])
			}
		}
	}
	var verdicts []Gated
	for w, work := range works {
		verdicts = append(verdicts, judge(work.name, slower[w], len(works)))
	}
	return verdicts, nil
}

// judge tests one workload of several.
func judge(workload string, slower []float64, workloads int) Gated {
	g := Gated{Workload: workload, Slower: figure(slower), Pairs: len(slower)}
	for _, ratio := range slower {
		if ratio > 1+gateSlower {
			g.Over++
		}
	}
	g.P = atLeast(g.Pairs, g.Over)
	g.Fails = g.P <= gateError/float64(workloads)
	return g
}

// atLeast is the chance of k heads or more in n throws of a fair coin.
func atLeast(n, k int) float64 {
	var sum float64
	for ; k <= n; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(a - b - c - float64(n)*math.Ln2)
	}
	return min(1, sum)
}

// gateSide is one of the two servers.
type gateSide struct {
	*served
	collection string
	stored     int // documents of the workload that stores
}

func (r *run) openSide(ctx context.Context, program, data string) (*gateSide, error) {
	if err := r.clear(data); err != nil {
		return nil, err
	}
	cfg := r.cfg
	cfg.Program = program
	s, err := startServed(ctx, cfg, data)
	if err != nil {
		return nil, err
	}
	side := &gateSide{served: s}
	if side.collection, err = r.stored(ctx, s.client); err == nil {
		_, err = s.client.Create(ctx, gateStore)
	}
	if err != nil {
		return nil, errors.Join(err, side.close())
	}
	return side, nil
}

// gateStore is the collection that documents are stored in.
const gateStore = "stored"

// gateWork is work of which the median time of its requests is taken.
type gateWork struct {
	name    string
	measure func(context.Context, *gateSide) (ms float64, err error)
}

// gateWorks are what users wait for.
func (r *run) gateWorks() []gateWork {
	const searches, reranks, lists, listed, storedAtOnce = 60, 3, 2, 16, 16
	posts := func(of func(*gateSide) []request) func(context.Context, *gateSide) (float64, error) {
		return func(ctx context.Context, s *gateSide) (float64, error) {
			seen, err := s.load(ctx, 1, of(s))
			if err != nil {
				return 0, err
			}
			return quantile(seen.latencies, 0.5), nil
		}
	}
	first := func(texts []string, n int) []string { return texts[:min(n, len(texts))] }
	return []gateWork{
		{"hybrid search", posts(func(s *gateSide) []request {
			return searchesFor(s.collection, first(r.texts.queries, searches), false)
		})},
		{"hybrid search, reranked", posts(func(s *gateSide) []request { return searchesFor(s.collection, first(r.texts.queries, reranks), true) })},
		{"a short query's embedding", posts(func(*gateSide) (list []request) {
			for _, text := range first(r.texts.prefixed, searches) {
				list = append(list, embeddings([]string{text}))
			}
			return list
		})},
		{"embeddings of 16 passages", posts(func(*gateSide) (list []request) {
			for range lists {
				list = append(list, embeddings(first(r.texts.passages, listed)))
			}
			return list
		})},
		{"storing 16 documents", func(ctx context.Context, s *gateSide) (float64, error) {
			docs := make([]braid.Document, storedAtOnce)
			for i := range docs {
				docs[i] = braid.Document{ID: fmt.Sprint(s.stored), Text: r.texts.passages[s.stored%len(r.texts.passages)]}
				s.stored++
			}
			begun := time.Now()
			_, err := s.client.Ingest(ctx, gateStore, docs)
			return milliseconds(time.Since(begun)), err
		}},
	}
}

// WriteGate writes the verdicts for people.
func WriteGate(w io.Writer, verdicts []Gated) error {
	d := document{}
	d.row("work", "time after / before", "pairs over 1.05", "p", "verdict")
	d.row("---", "---", "---", "---", "---")
	for _, g := range verdicts {
		verdict := "passes"
		if g.Fails {
			verdict = "**slower**"
		}
		d.row(g.Workload, ratio(g.Slower), fmt.Sprintf("%d of %d", g.Over, g.Pairs), fmt.Sprintf("%.4f", g.P), verdict)
	}
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	return nil
}
