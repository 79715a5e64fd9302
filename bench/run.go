package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/models"
)

// Report is what Run saw. Parts that did not run leave nothing.
type Report struct {
	Taken       time.Time         `json:"taken"`
	Commit      string            `json:"commit"` // of the checkout
	Machine     Machine           `json:"machine"`
	Models      map[string]string `json:"models"` // digest by name
	Corpus      string            `json:"corpus"`
	Settings    Settings          `json:"settings"`
	Texts       map[string]Tokens `json:"texts"` // by workload
	Parts       []Part            `json:"parts"`
	Comparisons []Comparison      `json:"comparisons,omitempty"`
	Agreements  []Agreement       `json:"agreements,omitempty"`
	Memory      []Memory          `json:"memory,omitempty"`
	Saturations []Saturation      `json:"saturations,omitempty"`
	Stages      []Stage           `json:"stages,omitempty"`
	Lengths     []LengthStage     `json:"lengths,omitempty"` // stages by the length of the query
	Loads       []RateLoad        `json:"loads,omitempty"`
	Charts      []report.Chart    `json:"charts,omitempty"`     // for bench/plot
	Generation  []Stage           `json:"generation,omitempty"` // of a query's vectors
	AtOnce      []AtOnce          `json:"at_once,omitempty"`
	// IdleShare is the processor time of an idle server over the time, of one core.
	IdleShare    *float64      `json:"idle_share,omitempty"`
	Soak         []Sample      `json:"soak,omitempty"`
	FirstAnswers []FirstAnswer `json:"first_answers,omitempty"`
	Answers      []Answers     `json:"answers,omitempty"`
	Savings      []Saving      `json:"savings,omitempty"`
	NotRun       []string      `json:"not_run,omitempty"` // and why
}

// Settings are those of the Config that shape the figures.
type Settings struct {
	Rounds    int   `json:"rounds"`
	Queries   int   `json:"queries"`
	Passages  int   `json:"passages"`
	Reranks   int   `json:"reranks"`
	Clients   []int `json:"clients"`
	Documents int   `json:"documents"`
}

// Tokens sums up the lengths of a workload's texts, special tokens included.
type Tokens struct {
	Texts int     `json:"texts"`
	Mean  float64 `json:"mean"`
	Min   int     `json:"min"`
	Max   int     `json:"max"`
}

func summarise(tokens []int) Tokens {
	sum := 0
	for _, n := range tokens {
		sum += n
	}
	return Tokens{len(tokens), float64(sum) / float64(len(tokens)), slices.Min(tokens), slices.Max(tokens)}
}

// Part tells how a part went.
type Part struct {
	Name       string  `json:"name"`
	Seconds    float64 `json:"s"`
	LoadBefore float64 `json:"load_before"` // load average of one minute
	LoadAfter  float64 `json:"load_after"`
	Others     float64 `json:"others"` // share of all cores that other processes took
	Lost       float64 `json:"lost"`   // the same of the hypervisor
}

// run is a benchmark under way.
type run struct {
	cfg    Config
	texts  *texts
	part   string
	report *Report
}

// Run measures what cfg says, part by part. A part that fails costs the rest of
// itself only: the others run, and the error is of all that failed. When ctx ends
// nothing more runs. The report is what was seen, nil where nothing could begin.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &run{cfg: cfg.withDefaults()}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	measures := map[string]func(context.Context) error{
		Libraries: r.libraries, Servers: r.servers, Isolation: r.isolation, Stages: r.stages, Soak: r.soak,
		EndToEnd: r.endToEnd(false), Reranked: r.endToEnd(true), Ablation: r.ablation, Judged: r.answers, Storing: r.ingestion,
		Concurrency: r.concurrency, Load: r.load,
	}
	for _, part := range AllParts() {
		if !slices.Contains(r.cfg.Parts, part) {
			r.leaveOut(unasked + part)
		}
	}
	var failed []error
	for i, part := range r.cfg.Parts {
		if err := r.watch(ctx, i, measures[part]); err != nil {
			r.leaveOut("the rest of the part " + part + ", which failed or was stopped")
			failed = append(failed, fmt.Errorf("%s: %w", part, err))
		}
		if err := r.cfg.Seen(r.report); err != nil {
			failed = append(failed, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return r.report, errors.Join(failed...)
}

// unasked begins the note on a part that was not asked for.
const unasked = "the part "

func (r *run) prepare(ctx context.Context) error {
	machine, err := readMachine()
	if err != nil {
		return err
	}
	digests := map[string]string{}
	prefix := ""
	for _, name := range []string{denseModel, sparseModel, pairModel} {
		m, err := models.Find(r.cfg.modelsFolder(), name)
		if err != nil {
			return err
		}
		digests[name] = m.Digest()
		if m.Kind == models.Dense {
			prefix = m.QueryPrefix
		}
	}
	if r.texts, err = readTexts(r.cfg, prefix); err != nil {
		return err
	}
	r.report = &Report{
		Taken: time.Now().UTC().Truncate(time.Second), Commit: commit(ctx, r.cfg.Root), Machine: machine, Models: digests,
		Corpus: filepath.Base(r.cfg.Corpus), Texts: map[string]Tokens{},
		Settings: Settings{r.cfg.Rounds, r.cfg.Queries, r.cfg.Passages, r.cfg.Reranks, r.cfg.Clients, len(r.texts.documents)},
	}
	return nil
}

// watch runs a part, the i-th, and notes what else the machine did meanwhile.
func (r *run) watch(ctx context.Context, i int, measure func(context.Context) error) error {
	r.part = r.cfg.Parts[i]
	part := Part{Name: r.part}
	r.say("part %d of %d", i+1, len(r.cfg.Parts))
	var err error
	if part.LoadBefore, err = loadAverage(); err != nil {
		return err
	}
	before, err := readUsage()
	if err != nil {
		return err
	}
	failed := measure(ctx)
	after, err := readUsage()
	if err != nil {
		return errors.Join(failed, err)
	}
	part.Seconds = after.at.Sub(before.at).Seconds()
	part.Others, part.Lost = after.since(before, r.report.Machine.Cores)
	part.LoadAfter, err = loadAverage()
	r.say("took %.0f s", part.Seconds)
	r.report.Parts = append(r.report.Parts, part)
	return errors.Join(failed, err)
}

// leaveOut notes once what is not run; it reports whether there was anything.
func (r *run) leaveOut(why string) bool {
	if why != "" && !slices.Contains(r.report.NotRun, why) {
		r.report.NotRun = append(r.report.NotRun, why)
	}
	return why != ""
}

func (r *run) say(format string, args ...any) {
	_, _ = fmt.Fprintf(r.cfg.Log, "bench "+r.part+": "+format+"\n", args...) // nowhere left to report a failure
}

// kept is the name of a folder whose content is kept from one run to the next: it
// has vectors of these very models.
func (r *run) kept(name string) string {
	return fmt.Sprintf("%s-%.6s-%.6s", name, r.report.Models[denseModel], r.report.Models[sparseModel])
}

// clear empties a folder of scratch.
func (r *run) clear(name string) error {
	if err := os.RemoveAll(r.cfg.scratch(name)); err != nil {
		return fmt.Errorf("clear scratch: %w", err)
	}
	return nil
}
