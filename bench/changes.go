package bench

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// Change is one figure of two reports.
type Change struct {
	What   string // part, work and metric
	Before Figure
	After  Figure
	// Ratio is how many times better the later figure is, of the medians; Low and
	// High are its bounds over all rounds of both.
	Ratio, Low, High float64
	// Verdict is "better" or "worse" when no round of one report reaches the other's
	// and the medians differ by more than noticeable; else "", and always with fewer
	// than fewestRounds. Were both the same,
	// that would happen by luck to one figure in 126 with 5 rounds each, and to one
	// in 10 with 3.
	Verdict string
}

const (
	// noticeable is the difference of medians that a verdict takes at least.
	noticeable   = 0.05
	fewestRounds = 3
)

// Changes compares the figures that both reports have, in the order of the later
// one. Of comparisons with peers it takes braid's side and the ratio, which a slower
// machine moves less.
func Changes(before, after *Report) []Change {
	earlier := map[string]named{}
	for _, n := range before.figures() {
		earlier[n.what] = n
	}
	var changes []Change
	for _, n := range after.figures() {
		if was, there := earlier[n.what]; there {
			changes = append(changes, change(n.what, n.more, was.figure, n.figure))
		}
	}
	return changes
}

func change(what string, more bool, before, after Figure) Change {
	c := Change{What: what, Before: before, After: after}
	better := func(later, earlier float64) float64 {
		if more {
			return later / earlier
		}
		return earlier / later
	}
	c.Ratio = better(after.Median, before.Median)
	c.Low, c.High = better(after.Min, before.Max), better(after.Max, before.Min)
	if c.Low > c.High {
		c.Low, c.High = c.High, c.Low
	}
	switch {
	case min(len(before.Rounds), len(after.Rounds)) < fewestRounds:
	case c.Low > 1 && c.Ratio > 1+noticeable:
		c.Verdict = "better"
	case c.High < 1 && c.Ratio < 1/(1+noticeable):
		c.Verdict = "worse"
	}
	return c
}

// named is a figure of a report.
type named struct {
	what   string
	more   bool // is better
	figure Figure
}

// figures lists those of a report that another one may have too. Figures of 0 are
// left out: they have no ratio.
func (r *Report) figures() (list []named) {
	add := func(what string, more bool, f Figure) {
		if f.Min > 0 && !slices.ContainsFunc(list, func(n named) bool { return n.what == what }) {
			list = append(list, named{what, more, f})
		}
	}
	stage := func(what string, s Stage) {
		add(fmt.Sprintf("%s: %s, %s, p50 ms", what, s.Mode, s.Stage), false, s.P50)
		add(fmt.Sprintf("%s: %s, %s, p95 ms", what, s.Mode, s.Stage), false, s.P95)
	}
	for _, c := range r.Comparisons {
		what := fmt.Sprintf("%s: %s, %s", c.Part, c.Workload, c.Metric)
		add(what+", "+c.A, c.More, c.AFigure)
		add(what+", "+c.A+" against "+c.B, true, c.Ratio)
	}
	for _, s := range r.Stages {
		stage(Stages, s)
	}
	for _, s := range r.Lengths {
		stage(fmt.Sprintf("%s, %s, %d tokens", Stages, s.Load, s.Tokens), s.Stage)
	}
	for _, s := range r.Generation {
		stage(Concurrency, s)
	}
	for _, l := range r.Loads {
		what := fmt.Sprintf("%s: %s at %s", Load, l.Workload, percent(l.Share))
		add(what+", p50 ms", false, l.P50)
		add(what+", p95 ms", false, l.P95)
		add(what+", p99 ms", false, l.P99)
	}
	return list
}

// WriteChanges writes a table of the changes for people, those with a verdict
// first, and what differs in the circumstances.
func WriteChanges(w io.Writer, before, after *Report) error {
	d := document{}
	d.line("# %s against %s\n", after.Commit, before.Commit)
	for _, f := range []struct{ what, before, after string }{
		{"processor", before.Machine.Processor, after.Machine.Processor},
		{"cores", fmt.Sprint(before.Machine.Cores), fmt.Sprint(after.Machine.Cores)},
		{"texts", before.Corpus, after.Corpus},
		{"settings", fmt.Sprintf("%+v", before.Settings), fmt.Sprintf("%+v", after.Settings)},
		{"models", fmt.Sprint(before.Models), fmt.Sprint(after.Models)},
	} {
		if f.before != f.after {
			d.line("- **The %s differ**: %s, then %s", f.what, f.before, f.after)
		}
	}
	changes := Changes(before, after)
	if len(changes) == 0 {
		d.line("The reports have no figure in common.")
	} else {
		d.line("A ratio above 1 means that the later one is better; a verdict, that no round of one reaches the other's and the medians differ by more than %s.", percent(noticeable))
		d.table("Figures of both", "figure", "before", "after", "ratio", "verdict")
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(rank(a.Verdict), rank(b.Verdict)) })
	for _, c := range changes {
		d.row(c.What, number(c.Before), number(c.After), fmt.Sprintf("%.2f (%.2f–%.2f)", c.Ratio, c.Low, c.High), c.Verdict)
	}
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("write changes: %w", err)
	}
	return nil
}

func rank(verdict string) int { return slices.Index([]string{"worse", "better", ""}, verdict) }
