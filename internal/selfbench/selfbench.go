package selfbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

// Options says what to measure.
type Options struct {
	// Open opens the models on a runtime of so many runs at once, 0 for as many as
	// serving would take, and returns what closes both. One is open at a time.
	Open func(threads int) (*modelset.Set, *inference.Runtime, error)
	// Budget is about how long the measurement takes, the opening of models apart.
	Budget time.Duration
	// Serve returns a service on the models that has no collections yet, and what
	// closes the engine below it.
	Serve func(context.Context, *modelset.Set) (*search.Service, io.Closer, error)
	// Progress gets a line a step; nil for none.
	Progress io.Writer
}

// Report is what Run saw.
type Report struct {
	Cores    int                   `json:"cores"`
	Runtime  string                `json:"onnxruntime"`
	Provider string                `json:"provider"`
	Models   []inference.ModelInfo `json:"models"`
	Searched int                   `json:"documents"` // in the collection that was searched
	Stages   []Stage               `json:"stages"`
	Rates    []Rate                `json:"rates"`
	Calls    []Calls               `json:"calls"`
	Advice   Advice                `json:"advice"`
}

// Stage is what a stage of a search took.
type Stage struct {
	Mode     string  `json:"mode"`
	Stage    string  `json:"stage"`
	Searches int     `json:"searches"`
	P50      float64 `json:"p50_ms"`
	P95      float64 `json:"p95_ms"`
}

// Rate is how fast a model reads passages with a number of runs at once, over the
// calls of a list of them: the median, the lowest and the highest.
type Rate struct {
	Threads int     `json:"threads"`
	Model   string  `json:"model"`
	Tokens  float64 `json:"tokens_per_s"`
	Lowest  float64 `json:"lowest"`
	Highest float64 `json:"highest"`
}

// Calls is how fast passages are encoded for storing when one call brings so many
// of them.
type Calls struct {
	Texts    int     `json:"texts"`
	Passages float64 `json:"passages_per_s"`
}

// Advice is what the figures speak for.
type Advice struct {
	// Threads is the number of model runs at once with the highest rate; the
	// number of cores, which is the default, unless another is better by more
	// than threadsMargin.
	Threads int `json:"threads"`
	// Texts is the fewest texts a call that come within callsMargin of the
	// highest rate.
	Texts int `json:"texts"`
}

const (
	threadsMargin = 0.05
	callsMargin   = 0.05

	listTexts = 32 // passages a call of the rates
	leastTime = time.Second
)

// Validate reports what is not usable.
func (o Options) Validate() error {
	switch {
	case o.Open == nil || o.Serve == nil:
		return braid.Errorf(braid.InvalidArgument, "selfbench: Open and Serve are needed")
	case o.Budget < leastTime:
		return braid.Errorf(braid.InvalidArgument, "the budget is %s, want %s or more", o.Budget, leastTime)
	}
	return nil
}

// Run measures. It fails when no model is open, a model fails or ctx ends.
func Run(ctx context.Context, opts Options) (*Report, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Progress == nil {
		opts.Progress = io.Discard
	}
	b := &bench{opts: opts, report: &Report{Cores: runtime.GOMAXPROCS(0)}, passages: made(rand.New(rand.NewPCG(seed, 0)), listTexts, fewestWords, mostWords)}
	candidates := candidates(b.report.Cores)
	for _, threads := range candidates {
		if err := b.with(threads, func(set *modelset.Set) error {
			return b.rates(ctx, set, threads, opts.Budget/2/time.Duration(len(candidates)))
		}); err != nil {
			return nil, err
		}
	}
	b.report.Advice.Threads = adviseThreads(b.report.Rates, b.report.Cores)
	err := b.with(b.report.Advice.Threads, func(set *modelset.Set) error {
		return errors.Join(b.calls(ctx, set, opts.Budget/4), b.stages(ctx, set, opts.Budget/4))
	})
	if err != nil {
		return nil, err
	}
	b.report.Advice.Texts = adviseTexts(b.report.Calls)
	return b.report, nil
}

// candidates are the numbers of runs at once to try: the cores, half of them
// (where two of what the system calls cores share one), and one.
func candidates(cores int) []int {
	return slices.Compact([]int{1, max(1, cores/2), cores})
}

// bench is a measurement under way.
type bench struct {
	opts     Options
	report   *Report
	passages []string
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.opts.Progress, format+"\n", args...) // nowhere left to report a failure
}

// with opens the models for measure.
func (b *bench) with(threads int, measure func(*modelset.Set) error) (err error) {
	set, runtime, err := b.opts.Open(threads)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	if len(set.Dense)+len(set.Sparse)+len(set.Pair) == 0 {
		return braid.Errorf(braid.InvalidArgument, "there is no model to measure: all are switched off")
	}
	info := runtime.Info()
	b.report.Runtime, b.report.Provider, b.report.Models = info.Version, info.Provider, info.Models
	return measure(set)
}

// encoder reads texts and counts their tokens.
type encoder struct {
	model string
	read  func(ctx context.Context, texts []string) (tokens int, err error)
}

// encoders are the default model of each kind.
func encoders(set *modelset.Set) (list []encoder) {
	request := func(texts []string) inference.Request {
		return inference.Request{Texts: texts, Role: inference.RolePassage, Lane: inference.LaneIngest}
	}
	if len(set.Dense) > 0 {
		m := set.Dense[0]
		list = append(list, encoder{m.Manifest.Name, func(ctx context.Context, texts []string) (tokens int, err error) {
			out, _, err := m.Head.Embed(ctx, request(texts))
			for _, o := range out {
				tokens += o.Tokens
			}
			return tokens, err
		}})
	}
	if len(set.Sparse) > 0 {
		m := set.Sparse[0]
		list = append(list, encoder{m.Manifest.Name, func(ctx context.Context, texts []string) (tokens int, err error) {
			out, _, err := m.Head.Expand(ctx, request(texts))
			for _, o := range out {
				tokens += o.Tokens
			}
			return tokens, err
		}})
	}
	if len(set.Pair) > 0 {
		m := set.Pair[0]
		list = append(list, encoder{m.Manifest.Name, func(ctx context.Context, texts []string) (tokens int, err error) {
			passages := make([]inference.Passage, len(texts))
			for i, text := range texts {
				passages[i].Text = text
			}
			out, _, err := m.Head.Score(ctx, inference.PairRequest{Query: "what do people find in the water", Passages: passages, Lane: inference.LaneQuery})
			for _, o := range out {
				tokens += o.Tokens
			}
			return tokens, err
		}})
	}
	return list
}

// rates measures every model with a list of passages a call.
func (b *bench) rates(ctx context.Context, set *modelset.Set, threads int, budget time.Duration) error {
	all := encoders(set)
	for _, e := range all {
		b.say("%s, %d at once", e.model, threads)
		var rates []float64
		if _, err := e.read(ctx, b.passages[:2]); err != nil { // warms up
			return err
		}
		err := repeat(budget/time.Duration(len(all)), func() error {
			begun := time.Now()
			tokens, err := e.read(ctx, b.passages)
			rates = append(rates, float64(tokens)/time.Since(begun).Seconds())
			return err
		})
		if err != nil {
			return err
		}
		b.report.Rates = append(b.report.Rates, Rate{threads, e.model, Quantile(rates, 0.5), slices.Min(rates), slices.Max(rates)})
	}
	return nil
}

// calls measures lists of several lengths, with the models that store passages.
func (b *bench) calls(ctx context.Context, set *modelset.Set, budget time.Duration) error {
	storing := encoders(&modelset.Set{Dense: set.Dense, Sparse: set.Sparse})
	if len(storing) == 0 {
		return nil
	}
	sizes := []int{1, 4, 16, listTexts}
	for _, size := range sizes {
		b.say("%d texts a call", size)
		var done int
		begun := time.Now()
		err := repeat(budget/time.Duration(len(sizes)), func() error {
			at := done % listTexts
			for _, e := range storing {
				if _, err := e.read(ctx, b.passages[at:at+size]); err != nil {
					return err
				}
			}
			done += size
			return nil
		})
		if err != nil {
			return err
		}
		b.report.Calls = append(b.report.Calls, Calls{size, float64(done) / time.Since(begun).Seconds()})
	}
	return nil
}

// repeat works for a time, once at least.
func repeat(length time.Duration, work func() error) error {
	for begun := time.Now(); ; {
		if err := work(); err != nil {
			return err
		}
		if time.Since(begun) >= length {
			return nil
		}
	}
}

// adviseThreads goes by the time a passage takes in all models, one after the
// other.
func adviseThreads(rates []Rate, cores int) int {
	cost := map[int]float64{}
	for _, r := range rates {
		cost[r.Threads] += 1 / r.Tokens
	}
	best := cores
	for _, r := range rates {
		if cost[r.Threads] < cost[best]/(1+threadsMargin) {
			best = r.Threads
		}
	}
	return best
}

func adviseTexts(calls []Calls) int {
	var highest float64
	for _, c := range calls {
		highest = max(highest, c.Passages)
	}
	for _, c := range calls {
		if c.Passages >= highest/(1+callsMargin) {
			return c.Texts
		}
	}
	return 0
}
