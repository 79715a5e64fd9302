package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/tune"
	"github.com/braid-search/braid/search"
)

// tuneFlags say what to tune and what becomes of it.
type tuneFlags struct {
	local                          localConfig
	collection, qrels, metric, out string
	heldOut                        float64
	seed                           uint64
	depths, candidates             []int
	apply, calibrate, asJSON       bool
}

func newTuneCommand() *cobra.Command {
	var f tuneFlags
	cmd := &cobra.Command{
		Use:   "tune FILE|DIR",
		Short: "Find search defaults of a collection that suit labelled queries",
		Long: `Find search defaults of a collection that suit labelled queries (see braid eval
for the file): fusion and its weights, the share and depth of the cross-encoder,
candidates. Works on the data folder; for a running server, tune a snapshot of it
and set the profile there.

One half of the queries chooses the settings, the other half, which is held out,
says whether the gain is real: "confirmed" if it is there with p below 0.05,
"unconfirmed" if it is there but may be chance, "overfitted" if it is not there.

--out writes the profile, as braid profile set reads it. --apply makes it the
collection's, but only if the gain is confirmed; otherwise the exit code is 3.
--calibrate leaves the settings as they are and fits how probable it is that an
answer holds something relevant, for no_answer_probability and min_confidence.
Queries that nothing answers are those with "relevant": [] in the file; if there
are none, each query is asked again without its relevant documents.

Interrupted once, tune measures the best settings so far and ends with them.`,
		Example: `  braid tune labels.jsonl --collection docs --out tuned.json
  braid tune labels.jsonl --collection docs --apply
  braid tune labels.jsonl --metric RR@10 --rerank-depths 10,20 --candidates 50,100`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f.local.register(cmd.Flags())
	space := tune.DefaultSpace()
	flags := cmd.Flags()
	flags.StringVar(&f.collection, "collection", "", "collection to tune (default: default, and eval-FOLDER for a test collection)")
	flags.StringVar(&f.qrels, "qrels", eval.DefaultQrels, "judgments of a test collection: qrels/NAME.tsv")
	flags.StringVar(&f.metric, "metric", "nDCG@10", "what to raise: nDCG@k, RR@k, R@k, P@k, Success@k or AP")
	flags.Float64Var(&f.heldOut, "held-out", 0.5, "share of the queries that is held out to test the gain")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the split of the queries")
	flags.IntSliceVar(&f.depths, "rerank-depths", space.RerankDepths, "candidates the cross-encoder scores: values to try; each is time per query")
	flags.IntSliceVar(&f.candidates, "candidates", space.Candidates, "documents each branch retrieves: values to try")
	flags.StringVar(&f.out, "out", "", "file to write the profile to")
	flags.BoolVar(&f.apply, "apply", false, "make it the collection's profile if the gain is confirmed")
	flags.BoolVar(&f.calibrate, "calibrate", false, "fit the probability that an answer holds something relevant, instead of tuning")
	flags.BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	return cmd
}

// options reads what to tune for, before anything is loaded.
func (f *tuneFlags) options() (tune.Options, error) {
	metric, err := eval.ParseMetric(f.metric)
	if err != nil {
		return tune.Options{}, fmt.Errorf("--metric: %w", err)
	}
	opts := tune.Options{Metric: metric, HeldOut: f.heldOut, Seed: f.seed, Space: tune.DefaultSpace()}
	opts.Space.RerankDepths, opts.Space.Candidates = f.depths, f.candidates
	for _, n := range f.depths {
		if err := (search.Profile{RerankDepth: &n}).Validate(); err != nil {
			return tune.Options{}, fmt.Errorf("--rerank-depths: %w", err)
		}
	}
	for _, n := range f.candidates {
		if err := (search.Profile{Candidates: &n}).Validate(); err != nil {
			return tune.Options{}, fmt.Errorf("--candidates: %w", err)
		}
	}
	return opts, nil
}

func (f *tuneFlags) run(ctx context.Context, path string, stdout, stderr io.Writer) (err error) {
	dataset, err := openDataset(path, f.qrels)
	if err != nil {
		return err
	}
	if len(dataset.Queries) == 0 {
		return braid.Errorf(braid.InvalidArgument, "%s: no query has a relevant document", path)
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	if _, _, err := tune.Split(dataset.Queries, f.heldOut, f.seed); err != nil {
		return err
	}
	if n := len(dataset.Queries); n < tune.FewQueries {
		_, _ = fmt.Fprintf(stderr, "braid: %d labelled queries are few: only large gains can be confirmed; label %d or more\n", n, tune.FewQueries)
	}
	if f.collection == "" {
		f.collection = collectionOf(dataset)
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	l, err := openLocal(ctx, f.local, log, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	e := evaluation{backend: inProcess{l}, collection: f.collection, dataset: dataset, stderr: stderr}
	if err := e.prepare(ctx); err != nil {
		return err
	}
	models := l.set.Search()
	opts.Rerankable = models.Pair != nil
	bench, err := tune.NewBench(ctx, l.engine, models, f.collection)
	if err != nil {
		return err
	}
	if f.calibrate {
		return f.runCalibrate(ctx, l, bench, dataset, opts.Metric.Depth(), stdout, stderr)
	}
	watch := newTuneProgress(stderr, f.metric)
	opts.Progress = watch.show
	report, err := tune.Run(ctx, bench, dataset.Queries, opts)
	watch.finish()
	if err != nil {
		return err
	}
	return f.finish(context.WithoutCancel(ctx), l.Service, report, stdout, stderr)
}

// finish prints the report, and keeps its profile where that is asked for.
func (f *tuneFlags) finish(ctx context.Context, s *search.Service, report *tune.Report, stdout, stderr io.Writer) error {
	if err := f.print(stdout, report); err != nil {
		return err
	}
	if err := f.write(report.Profile); err != nil {
		return err
	}
	switch {
	case !f.apply || report.Verdict == tune.Unchanged:
		return nil
	case report.Verdict != tune.Confirmed:
		return worseError{fmt.Sprintf("the profile is not applied: the gain is %s; braid profile set does it all the same", report.Verdict)}
	}
	return f.set(ctx, s, report.Profile, stderr)
}

// write keeps a profile where --out says.
func (f *tuneFlags) write(p search.Profile) error {
	if f.out == "" {
		return nil
	}
	data, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = os.WriteFile(f.out, append(data, '\n'), 0o644)
	}
	if err != nil {
		return braid.Errorf(braid.Internal, "--out: %w", err)
	}
	return nil
}

func (f *tuneFlags) set(ctx context.Context, s *search.Service, p search.Profile, stderr io.Writer) error {
	kept, err := s.SetProfile(ctx, f.collection, p)
	if err == nil {
		_, _ = fmt.Fprintf(stderr, "braid: collection %q has profile version %d\n", f.collection, kept.Version)
	}
	return err
}

// verdicts say what each verdict means.
func verdicts(v tune.Verdict) string {
	switch v {
	case tune.Confirmed:
		return "the gain is there on the queries held out, and is hardly chance"
	case tune.Unconfirmed:
		return "the queries held out gained too, but it may be chance: label more queries"
	case tune.Overfitted:
		return "the queries held out gained nothing: the settings fit the queries they were chosen by, keep what you have"
	}
	return "nothing gained enough on what the collection has"
}

func (f *tuneFlags) print(out io.Writer, r *tune.Report) error {
	if f.asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "%s\tqueries\tbefore\tafter\tchange\t95 %% interval\tp\t\n", r.Metric)
	for _, row := range []struct {
		name string
		tune.Comparison
	}{{"chosen by", r.Dev}, {"held out", r.HeldOut}} {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.4f\t%.4f\t%+.4f\t%+.4f to %+.4f\t%.4f\t\n", row.name, row.Queries, row.Before, row.After, row.Change(), row.Interval.Low, row.Interval.High, row.P)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	p := printer{out: out}
	p.line("\n%s: %s", r.Verdict, verdicts(r.Verdict))
	if r.Stopped {
		p.line("stopped before all settings were tried")
	}
	p.line("%d settings tried; taken:", r.Tried)
	for _, s := range r.Steps {
		p.line("  %.4f  %s", s.Score, s.What)
	}
	p.json(r.Profile)
	return p.err
}

// tuneProgress shows how far a run is: a bar to somebody who watches, and a line
// for each setting that is taken.
type tuneProgress struct {
	stderr io.Writer
	metric string
	bar    *progress
	round  int
}

func newTuneProgress(stderr io.Writer, metric string) *tuneProgress {
	return &tuneProgress{stderr: stderr, metric: metric}
}

func (t *tuneProgress) show(p tune.Progress) {
	if p.Round != t.round {
		t.finish()
		t.round, t.bar = p.Round, newProgress(t.stderr, fmt.Sprintf("round %d", p.Round), p.Total)
	}
	t.bar.to(int64(p.Asked), int64(p.Total))
	if p.Taken != nil {
		_, _ = fmt.Fprintf(t.stderr, "braid: %s is %.4f (it was %.4f) with %s; about %s left in round %d\n", t.metric, p.Best, p.Start, p.Taken.What, p.Left.Round(time.Second), p.Round)
	}
}

func (t *tuneProgress) finish() { t.bar.finish() }
