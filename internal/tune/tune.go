package tune

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// MinGain is how much better a setting must be on the queries tuned on to be
// taken, and it must be better by a standard error of the difference: below,
// it is noise that would be learnt, often for a slower search.
const MinGain = 0.001

// maxRounds bounds how often all settings are gone through.
const maxRounds = 4

// Options say what to tune for. Metric is needed.
type Options struct {
	Metric  eval.Metric
	HeldOut float64 // share of the queries that is held out, between 0 and 1
	Seed    uint64  // of the split; nothing else is left to chance
	Space   Space
	// Rerankable says that a cross-encoder is loaded.
	Rerankable bool
	// Progress, if not nil, is called after each query, from one goroutine at a
	// time.
	Progress func(Progress)
}

// Progress is how far a run is.
type Progress struct {
	Tried, Round int // settings so far; number of the round from 1
	Asked, Total int // queries of this round, about
	Left         time.Duration
	Start, Best  float64 // on the queries tuned on
	Taken        *Step   // a setting that has just become the best, else nil
}

// Step is a setting that was taken.
type Step struct {
	What  string  `json:"what"`
	Score float64 `json:"score"` // mean on the queries tuned on, from then on
}

// Report is what a run found.
type Report struct {
	Metric string  `json:"metric"`
	Share  float64 `json:"held_out_share"`
	Seed   uint64  `json:"seed"`
	// Dev is of the queries the settings were chosen by, HeldOut of the others.
	Dev     Comparison `json:"dev"`
	HeldOut Comparison `json:"held_out"`
	Verdict Verdict    `json:"verdict"`
	// Start is the profile the collection has, Profile the best one found.
	Start   search.Profile `json:"start"`
	Profile search.Profile `json:"profile"`
	Steps   []Step         `json:"steps"`
	Tried   int            `json:"tried"`
	Stopped bool           `json:"stopped,omitempty"` // before all settings were tried
}

// Comparison is the best profile beside the collection's own.
type Comparison struct {
	Queries  int           `json:"queries"`
	Before   float64       `json:"before"`
	After    float64       `json:"after"`
	Interval eval.Interval `json:"interval"` // of After - Before, 95 % bootstrap
	P        float64       `json:"p"`        // paired two-sided randomisation test
}

// Change is After - Before.
func (c Comparison) Change() float64 { return c.After - c.Before }

// Verdict says what became of the gain on the queries held out.
type Verdict string

const (
	// Unchanged means: nothing gained enough (MinGain) on what the collection has.
	Unchanged Verdict = "unchanged"
	// Confirmed means: better on the queries held out, with p below Significant.
	Confirmed Verdict = "confirmed"
	// Unconfirmed means: better on the queries held out, but perhaps by chance.
	Unconfirmed Verdict = "unconfirmed"
	// Overfitted means: not better on the queries held out. What was learnt is the
	// queries tuned on.
	Overfitted Verdict = "overfitted"
)

// Significant is the p-value below which a gain is confirmed.
const Significant = 0.05

// Verdict judges the gain by the queries held out. changed says that there is
// another profile than the collection's own.
func (c Comparison) Verdict(changed bool) Verdict {
	switch {
	case !changed:
		return Unchanged
	case c.Change() <= 0:
		return Overfitted
	case c.P < Significant:
		return Confirmed
	}
	return Unconfirmed
}

// Run looks for a profile under which the collection answers better than under
// its own: it goes through the settings one after the other, takes the best value
// of each if that gains enough (MinGain), and goes through them again until nothing does.
// The same options give the same report.
//
// When ctx ends, the best profile so far is measured and returned with Stopped
// set; an error is returned only if the collection's own could not be measured by
// then. It fails with braid.InvalidArgument when there are fewer than MinQueries.
func Run(ctx context.Context, b *Bench, queries []eval.Query, opts Options) (*Report, error) {
	dev, heldOut, err := Split(queries, opts.HeldOut, opts.Seed)
	if err != nil {
		return nil, err
	}
	s := &searcher{bench: b, dev: dev, opts: opts, begun: time.Now(), known: map[string][]float64{}}
	r := &Report{Metric: opts.Metric.String(), Share: opts.HeldOut, Seed: opts.Seed, Start: b.Start(), Steps: []Step{}}
	s.round, s.total = 1, len(dev)
	if s.best, err = s.try(ctx, b.Start()); err != nil {
		return nil, err
	}
	start := s.best
	s.start = mean(start)
	s.profile = b.Start()
	if err := s.climb(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	r.Stopped = ctx.Err() != nil
	r.Profile, r.Tried = s.profile, s.tried
	r.Steps = append(r.Steps, s.steps...)
	r.Dev = compare(start, s.best)

	finishing := context.WithoutCancel(ctx)
	before, err := b.scores(finishing, b.Start(), heldOut, opts.Metric, func() {})
	if err != nil {
		return nil, err
	}
	after := before
	if len(s.steps) > 0 {
		if after, err = b.scores(finishing, s.profile, heldOut, opts.Metric, func() {}); err != nil {
			return nil, err
		}
	}
	r.HeldOut = compare(before, after)
	r.Verdict = r.HeldOut.Verdict(len(s.steps) > 0)
	return r, nil
}

func compare(before, after []float64) Comparison {
	differences := make([]float64, len(after))
	for i := range after {
		differences[i] = after[i] - before[i]
	}
	return Comparison{
		Queries: len(after), Before: mean(before), After: mean(after),
		Interval: eval.BootstrapInterval(differences), P: eval.RandomizationTest(differences),
	}
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

// searcher goes through the settings.
type searcher struct {
	bench   *Bench
	dev     []eval.Query
	opts    Options
	begun   time.Time
	profile search.Profile // the best so far
	best    []float64      // its scores
	start   float64
	steps   []Step
	known   map[string][]float64 // scores by canonical profile
	tried   int
	round   int
	asked   int // queries of this round
	total   int // queries of this round if no setting is known, asked included
	all     int // queries of all rounds
}

// climb changes one setting at a time until none gains.
func (s *searcher) climb(ctx context.Context) error {
	dimensions := s.opts.Space.dimensions(s.bench.Start(), s.bench.branches(), s.opts.Rerankable)
	for ; s.round <= maxRounds; s.round++ {
		before := len(s.steps)
		for i, d := range dimensions {
			s.total = s.asked
			for _, later := range dimensions[i:] {
				s.total += len(later.variants(s.profile)) * len(s.dev)
			}
			if err := s.improve(ctx, d); err != nil {
				return err
			}
		}
		if len(s.steps) == before {
			return nil
		}
		s.asked = 0
	}
	return nil
}

// improve takes the best value of one setting, if it gains enough.
func (s *searcher) improve(ctx context.Context, d dimension) error {
	best, scores := variant{}, s.best
	for _, v := range d.variants(s.profile) {
		got, err := s.try(ctx, v.profile)
		if err != nil {
			return err
		}
		if mean(got) > mean(scores) {
			best, scores = v, got
		}
	}
	if !gains(s.best, scores) {
		return nil
	}
	s.profile, s.best = best.profile, scores
	s.steps = append(s.steps, Step{What: best.what, Score: mean(scores)})
	s.report(&s.steps[len(s.steps)-1])
	return nil
}

// gains says whether a setting is to be taken; see MinGain.
func gains(before, after []float64) bool {
	n := float64(len(after))
	gain := mean(after) - mean(before)
	var squares float64
	for i := range after {
		d := after[i] - before[i] - gain
		squares += d * d
	}
	return gain >= max(MinGain, math.Sqrt(squares/max(n-1, 1)/n))
}

// try measures a profile on the queries tuned on.
func (s *searcher) try(ctx context.Context, p search.Profile) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "tune: %w", err)
	}
	data, err := json.Marshal(canonical(p))
	if err != nil {
		return nil, err
	}
	if scores, known := s.known[string(data)]; known {
		s.total -= len(s.dev)
		return scores, nil
	}
	var counting sync.Mutex
	scores, err := s.bench.scores(ctx, p, s.dev, s.opts.Metric, func() {
		counting.Lock()
		defer counting.Unlock()
		s.asked++
		s.all++
		s.report(nil)
	})
	if err != nil {
		return nil, err
	}
	s.tried++
	s.known[string(data)] = scores
	return scores, nil
}

func (s *searcher) report(taken *Step) {
	if s.opts.Progress == nil {
		return
	}
	p := Progress{Tried: s.tried, Round: s.round, Asked: s.asked, Total: max(s.total, s.asked), Start: s.start, Best: mean(s.best), Taken: taken}
	p.Left = time.Duration(float64(time.Since(s.begun)) / float64(max(s.all, 1)) * float64(p.Total-p.Asked))
	s.opts.Progress(p)
}
