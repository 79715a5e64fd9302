package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Markdown writes the report for people.
func (r *Report) Markdown(w io.Writer) error {
	d := document{}
	d.circumstances(r)
	for _, part := range AllParts() {
		d.comparisons(r, part)
		switch part {
		case Libraries:
			d.agreements(r)
		case Servers:
			d.saturations(r)
		case Isolation:
			d.idle(r)
		case Concurrency:
			d.atOnce(r)
			d.generation(r)
		case Stages:
			d.stages(r)
			d.lengths(r)
		case Load:
			d.loads(r)
		case Ablation:
			d.savings(r)
		case Judged:
			d.answers(r)
		case Soak:
			d.soak(r)
		}
	}
	d.firstAnswers(r)
	d.memory(r)
	d.notRun(r)
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// document is Markdown in the making.
type document struct{ strings.Builder }

func (d *document) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *document) table(title string, columns ...string) {
	d.line("\n## %s\n", title)
	d.row(columns...)
	d.row(slices.Repeat([]string{"---"}, len(columns))...)
}

func (d *document) row(cells ...string) { d.line("| %s |", strings.Join(cells, " | ")) }

func (d *document) circumstances(r *Report) {
	m := r.Machine
	d.line("# Benchmark, %s\n", r.Taken.Format("2006-01-02 15:04 MST"))
	d.line("- commit %s, %s, texts of %s", r.Commit, m.Go, r.Corpus)
	d.line("- %s, %d cores (%s), %.0f GB, Linux %s", m.Processor, m.Cores, strings.Join(m.Features, " "), m.MemoryGB, m.Kernel)
	for _, name := range slices.Sorted(maps.Keys(r.Models)) {
		d.line("- model %s, %.12s", name, r.Models[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.Texts)) {
		t := r.Texts[name]
		d.line("- %s: %d texts of %d to %d tokens, %.0f in the mean", name, t.Texts, t.Min, t.Max, t.Mean)
	}
	d.line("- medians of %s rounds (lowest–highest); two sides in turn, A B A B, after a warm-up; a ratio above 1 means that the first is better, pair by pair", r.rounds())
	d.table("The machine meanwhile", "part", "seconds", "load average before, after", "of all cores, other processes took", "the hypervisor took")
	for _, p := range r.Parts {
		d.row(p.Name, fmt.Sprintf("%.0f", p.Seconds), fmt.Sprintf("%.1f, %.1f", p.LoadBefore, p.LoadAfter), percent(p.Others), percent(p.Lost))
	}
}

// rounds says how many there were, of all comparisons.
func (r *Report) rounds() string {
	if len(r.Comparisons) == 0 {
		return fmt.Sprint(r.Settings.Rounds)
	}
	count := func(c Comparison) int { return len(c.Ratio.Rounds) }
	least, most := count(r.Comparisons[0]), count(r.Comparisons[0])
	for _, c := range r.Comparisons {
		least, most = min(least, count(c)), max(most, count(c))
	}
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func (d *document) comparisons(r *Report, part string) {
	heads := map[string]string{
		Libraries:   "In process: braid against Python libraries",
		Servers:     "Over HTTP",
		Isolation:   "A query while others work",
		Stages:      "Two encoders at once",
		EndToEnd:    "Hybrid searches over HTTP",
		Reranked:    "Hybrid searches with a rerank over HTTP",
		Ablation:    "Savings in a reranked search",
		Storing:     "Ingestion over HTTP",
		Concurrency: "Both vectors of a query",
	}
	begun := false
	for _, c := range r.Comparisons {
		if c.Part != part || c.Metric == wholeShare && c.AFigure.Min == 1 && c.BFigure.Min == 1 {
			continue // that everybody answered in full goes without saying
		}
		if !begun {
			d.table(heads[part], "work", "metric", "first", "", "second", "", "ratio")
			begun = true
		}
		d.row(c.Workload, c.Metric, c.A, number(c.AFigure), c.B, number(c.BFigure), "**"+ratio(c.Ratio)+"**")
	}
}

func (d *document) agreements(r *Report) {
	if len(r.Agreements) == 0 {
		return
	}
	d.table("Answers compared with braid's", "work", "peer", "lowest cosine of a text's vectors", "largest difference of a logit")
	for _, a := range r.Agreements {
		low, far := "", ""
		if a.LowestCosine != 0 {
			low = fmt.Sprintf("%.6f", a.LowestCosine)
		} else {
			far = fmt.Sprintf("%.4f", a.LargestDifference)
		}
		d.row(a.Workload, a.Contender, low, far)
	}
}

func (d *document) saturations(r *Report) {
	if len(r.Saturations) == 0 {
		return
	}
	d.table("Many clients, braid serve", "work", "clients", "throughput over that of 1 client", "p95 over clients × time per request")
	for _, s := range r.Saturations {
		d.row(s.Workload, fmt.Sprint(s.Clients), ratio(s.Throughput), ratio(s.P95))
	}
}

func (d *document) idle(r *Report) {
	if r.IdleShare != nil {
		d.line("\nAn idle server with all models used %.2f %% of one core.", 100**r.IdleShare)
	}
}

func (d *document) stages(r *Report) {
	if len(r.Stages) == 0 {
		return
	}
	d.table(fmt.Sprintf("Stages of a search, %d documents, %d queries", r.Settings.Documents, r.Settings.Queries), "mode", "stage", "p50 ms", "p95 ms")
	for _, s := range r.Stages {
		d.row(s.Mode, s.Stage, number(s.P50), number(s.P95))
	}
}

func (d *document) generation(r *Report) {
	if len(r.Generation) == 0 {
		return
	}
	d.table("Times of a query's vectors", "cores", "way", "p50 ms", "p95 ms")
	for _, s := range r.Generation {
		d.row(s.Mode, s.Stage, number(s.P50), number(s.P95))
	}
}

func (d *document) soak(r *Report) {
	if len(r.Soak) == 0 {
		return
	}
	last := r.Soak[len(r.Soak)-1]
	d.table("Memory under requests of mixed lengths", "after", "resident MB", "over that after the first minute")
	minute, ok := after(r.Soak, 60)
	for _, s := range []float64{60, 120, 300, last.Seconds} {
		sample, there := after(r.Soak, s)
		if there && ok {
			d.row(fmt.Sprintf("%.0f s", sample.Seconds), fmt.Sprintf("%.0f", sample.Resident), fmt.Sprintf("%.2f", sample.Resident/minute.Resident))
		}
	}
}

// after is the first sample taken so many seconds after the start or later.
func after(samples []Sample, seconds float64) (Sample, bool) {
	i := slices.IndexFunc(samples, func(s Sample) bool { return s.Seconds >= seconds })
	if i < 0 {
		return Sample{}, false
	}
	return samples[i], true
}

func (d *document) memory(r *Report) {
	if len(r.Memory) == 0 {
		return
	}
	d.table("Resident memory", "contender", "work", "after MB", "peak MB", "ready after s")
	for _, m := range r.Memory {
		start := ""
		if m.Start > 0 {
			start = fmt.Sprintf("%.1f", m.Start)
		}
		d.row(m.Contender, m.Workload, fmt.Sprintf("%.0f", m.After), fmt.Sprintf("%.0f", m.Peak), start)
	}
}

func (d *document) notRun(r *Report) {
	if len(r.NotRun) == 0 {
		return
	}
	d.line("\n## Not run\n")
	for _, what := range r.NotRun {
		d.line("- %s", what)
	}
}

// number shows a figure with three digits that matter.
func number(f Figure) string {
	return fmt.Sprintf("%s (%s–%s)", digits(f.Median), digits(f.Min), digits(f.Max))
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

func ratio(f Figure) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", f.Median, f.Min, f.Max)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
