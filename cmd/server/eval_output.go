package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

// evalOutput is what to measure, and what to do with the scores.
type evalOutput struct {
	names         []string
	out, baseline string
	runIn, runOut string
	tolerance     float64
	details       bool
	changed       int

	metrics []eval.Metric
	before  *eval.Results // nil: no baseline
	report  *eval.Details // nil: not asked for
}

// worseError says that an evaluation fell below its baseline.
type worseError struct{ message string }

func (e worseError) Error() string { return e.message }

func (o *evalOutput) register(flags *pflag.FlagSet) {
	var names []string
	for _, m := range eval.DefaultMetrics() {
		names = append(names, m.String())
	}
	flags.StringSliceVar(&o.names, "metrics", names, "metrics to print: nDCG@k, RR@k, R@k, P@k, Success@k, AP")
	flags.StringVar(&o.out, "out", "", "file to keep the scores of every query in")
	flags.StringVar(&o.baseline, "baseline", "", "file of --out to compare with")
	flags.StringVar(&o.runOut, "run-out", "", "folder to write a TREC run file of each mode to")
	flags.StringVar(&o.runIn, "run-in", "", "TREC run file to score instead of searching")
	flags.Float64Var(&o.tolerance, "tolerance", 0.005, "how far a metric may fall below the baseline")
	flags.BoolVar(&o.details, "details", false, "add intervals, kinds of queries, what each branch retrieves, and times")
	flags.IntVar(&o.changed, "changed", eval.DefaultChanged, "queries to list that gained or lost most since the baseline")
}

// prepare reads the metrics and the baseline, before anything is measured.
func (o *evalOutput) prepare() (err error) {
	if !(o.tolerance >= 0 && o.tolerance <= 1) {
		return braid.Errorf(braid.InvalidArgument, "--tolerance %v: use a number from 0 to 1", o.tolerance)
	}
	if o.changed < 0 {
		return braid.Errorf(braid.InvalidArgument, "--changed %d: use a number of queries", o.changed)
	}
	if len(o.names) == 0 {
		return braid.Errorf(braid.InvalidArgument, "--metrics is empty: name one, nDCG@10 for example")
	}
	for i, name := range o.names {
		if slices.Contains(o.names[:i], name) {
			return braid.Errorf(braid.InvalidArgument, "--metrics: %s is there twice", name)
		}
		m, err := eval.ParseMetric(name)
		if err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
		o.metrics = append(o.metrics, m)
	}
	if o.runIn != "" && o.details {
		return braid.Errorf(braid.InvalidArgument, "--run-in searches nothing, so there are no --details: leave one out")
	}
	if o.runIn != "" && o.runOut != "" {
		return braid.Errorf(braid.InvalidArgument, "--run-in searches nothing, so there is nothing for --run-out: leave one out")
	}
	if o.runOut != "" {
		if err := os.MkdirAll(o.runOut, 0o755); err != nil {
			return braid.Errorf(braid.InvalidArgument, "--run-out: %w", err)
		}
	}
	if o.baseline != "" {
		if o.before, err = eval.LoadResults(o.baseline); err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
	}
	return nil
}

// keepRun writes the rankings of one mode where --run-out says.
func (o *evalOutput) keepRun(dataset *eval.Dataset, mode string, run eval.Run) error {
	if o.runOut == "" {
		return nil
	}
	return dataset.WriteRun(filepath.Join(o.runOut, mode+".run"), run, "braid-"+mode)
}

// scoreRunFile scores a run file as if its name were a mode.
func (o *evalOutput) scoreRunFile(stdout, stderr io.Writer, dataset *eval.Dataset, asJSON bool) error {
	run, err := eval.ReadRun(o.runIn)
	if err != nil {
		return fmt.Errorf("--run-in: %w", err)
	}
	switch answered := dataset.Answers(run); {
	case answered == 0:
		return braid.Errorf(braid.InvalidArgument, "--run-in: %s answers none of the judged queries: it is of another dataset", o.runIn)
	case answered < len(dataset.Queries):
		_, _ = fmt.Fprintf(stderr, "braid: %d of %d judged queries have no answer in %s and count as 0\n", len(dataset.Queries)-answered, len(dataset.Queries), o.runIn)
	}
	results := dataset.Results()
	mode := strings.TrimSuffix(filepath.Base(o.runIn), ".run")
	if err := dataset.Score(results, mode, run, o.metrics); err != nil {
		return err
	}
	return o.finish(stdout, stderr, results, asJSON)
}

// finish saves, prints and compares results. It fails with worseError when a
// metric fell by more than the tolerance.
func (o *evalOutput) finish(stdout, stderr io.Writer, results *eval.Results, asJSON bool) error {
	if o.out != "" {
		if len(results.Modes) == 0 {
			return braid.Errorf(braid.Unavailable, "--out: no mode could be measured, nothing to keep")
		}
		if err := results.Save(o.out); err != nil {
			return err
		}
	}
	report := results.Report()
	report.Details = o.report
	if o.before != nil {
		var err error
		if report.Changes, err = eval.Compare(o.before, results, o.changed); err != nil {
			return err
		}
		for _, mode := range slices.Sorted(maps.Keys(o.before.Modes)) {
			if _, measured := results.Modes[mode]; !measured {
				_, _ = fmt.Fprintf(stderr, "braid: mode %s of the baseline was not measured\n", mode)
			}
		}
	}
	if err := o.print(stdout, report, asJSON); err != nil {
		return err
	}
	var fell []string
	for _, c := range report.Changes {
		if c.Fell(o.tolerance) {
			fell = append(fell, fmt.Sprintf("%s of %s fell by %.4f", c.Metric, c.Mode, c.Before-c.After))
		}
	}
	if len(fell) > 0 {
		return worseError{fmt.Sprintf("worse than the baseline by more than %v: %s", o.tolerance, strings.Join(fell, ", "))}
	}
	return nil
}

func (o *evalOutput) print(out io.Writer, report eval.Report, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(report)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(w, "%s (%s, %d queries)\t%s\t\n", report.Dataset, report.Qrels, report.Queries, strings.Join(o.names, "\t"))
	for _, mode := range modesInOrder(report.Modes) {
		_, _ = fmt.Fprintf(w, "%s\t", mode)
		for _, m := range o.metrics {
			_, _ = fmt.Fprintf(w, "%.4f\t", report.Modes[mode][m.Key()])
		}
		_, _ = fmt.Fprintln(w)
	}
	if report.Details != nil {
		o.printDetails(w, report)
	}
	if len(report.Changes) == 0 {
		return w.Flush()
	}
	_, _ = fmt.Fprintf(w, "\nsince the baseline\tmetric\tbefore\tafter\tchange\t95 %% interval\tp\t\n")
	for _, c := range report.Changes {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%.4f\t%.4f\t%+.4f\t%+.4f to %+.4f\t%.4f\t\n", c.Mode, c.Metric, c.Before, c.After, c.After-c.Before, c.Interval.Low, c.Interval.High, c.P)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range report.Changes {
		show := printQueries
		if o.details {
			show = printPlaces
		}
		show(out, c, "better", c.Better)
		show(out, c, "worse", c.Worse)
	}
	return nil
}

func printQueries(out io.Writer, c eval.Change, which string, queries []eval.QueryChange) {
	if len(queries) == 0 {
		return
	}
	var list []string
	for _, q := range queries {
		list = append(list, fmt.Sprintf("%q %+.4f", q.Query, q.Change))
	}
	_, _ = fmt.Fprintf(out, "%s %s, %s most: %s\n", c.Mode, c.Metric, which, strings.Join(list, ", "))
}

// modesInOrder returns the names of modes as ways has them, others last.
func modesInOrder(modes map[string]map[string]float64) []string {
	place := func(name string) int {
		for i, w := range ways() {
			if w.name == name {
				return i
			}
		}
		return math.MaxInt
	}
	names := slices.Sorted(maps.Keys(modes))
	slices.SortStableFunc(names, func(a, b string) int {
		if place(a) < place(b) {
			return -1
		}
		if place(a) > place(b) {
			return 1
		}
		return 0
	})
	return names
}
