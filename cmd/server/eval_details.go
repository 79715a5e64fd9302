package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

// printDetails prints what --details asks for as further tables.
func (o *evalOutput) printDetails(w io.Writer, report eval.Report) {
	d := report.Details
	modes := modesInOrder(report.Modes)
	_, _ = fmt.Fprintf(w, "\n95 %% interval\t%s\t\n", strings.Join(o.names, "\t"))
	for _, mode := range modes {
		_, _ = fmt.Fprintf(w, "%s\t", mode)
		for _, m := range o.metrics {
			i := d.Intervals[mode][m.Key()]
			_, _ = fmt.Fprintf(w, "%.3f–%.3f\t", i.Low, i.High)
		}
		_, _ = fmt.Fprintln(w)
	}
	for _, c := range d.Classes {
		_, _ = fmt.Fprintf(w, "\n%s (%d queries)\t%s\t\n", c.Name, c.Queries, strings.Join(o.names, "\t"))
		for _, mode := range modes {
			_, _ = fmt.Fprintf(w, "%s\t", mode)
			for _, m := range o.metrics {
				_, _ = fmt.Fprintf(w, "%.4f\t", c.Modes[mode][m.Key()])
			}
			_, _ = fmt.Fprintln(w)
		}
	}
	if d.Candidates != nil {
		printCandidates(w, d.Candidates)
	}
	printLatencies(w, d.LatenciesMS, modes)
}

// printCandidates shows what fusion is given.
func printCandidates(w io.Writer, c *eval.Candidates) {
	_, _ = fmt.Fprintf(w, "\nbefore fusion\trecall@%d\t95 %% interval\tfound by it only\tempty\t\n", c.Depth)
	for _, name := range slices.Sorted(maps.Keys(c.Branches)) {
		b := c.Branches[name]
		_, _ = fmt.Fprintf(w, "%s\t%.4f\t%.3f–%.3f\t%.4f\t%.1f %%\t\n", name, b.Recall, b.Interval.Low, b.Interval.High, b.Only, 100*b.Empty)
	}
	_, _ = fmt.Fprintf(w, "all together\t%.4f\t\n", c.Recall)
	for _, o := range c.Overlaps {
		_, _ = fmt.Fprintf(w, "%s ∩ %s (Jaccard)\t%.4f\t\n", o.A, o.B, o.Jaccard)
	}
}

// printLatencies shows the stages that took any time, a column a mode.
func printLatencies(w io.Writer, latencies map[string]map[string]eval.Latency, modes []string) {
	var stages []string
	for _, mode := range modes {
		for stage, l := range latencies[mode] {
			if l.P95 > 0 && !slices.Contains(stages, stage) {
				stages = append(stages, stage)
			}
		}
	}
	slices.SortFunc(stages, func(a, b string) int {
		return cmp.Or(cmp.Compare(stagePlace(a), stagePlace(b)), strings.Compare(a, b))
	})
	_, _ = fmt.Fprintf(w, "\np50 / p95 in ms\t%s\t\n", strings.Join(modes, "\t"))
	for _, stage := range stages {
		_, _ = fmt.Fprintf(w, "%s\t", stage)
		for _, mode := range modes {
			l := latencies[mode][stage]
			_, _ = fmt.Fprintf(w, "%.1f / %.1f\t", l.P50, l.P95)
		}
		_, _ = fmt.Fprintln(w)
	}
}

// stagePlace puts the total last.
func stagePlace(stage string) int {
	if stage == "total" {
		return 1
	}
	return 0
}

// printPlaces lists queries with where their relevant documents stood before and
// now.
func printPlaces(out io.Writer, c eval.Change, which string, queries []eval.QueryChange) {
	p := printer{out: out}
	if len(queries) > 0 {
		p.line("\n%s %s, %s most:", c.Mode, c.Metric, which)
	}
	for _, q := range queries {
		p.line("  %+.4f  %s", q.Change, cmp.Or(q.Text, q.Query))
		for _, pair := range pairPlaces(q.Before, q.After) {
			before, after := pair[0], pair[1]
			line := fmt.Sprintf("           %s (grade %d)  rank %s → %s", cmp.Or(after.Document, before.Document), cmp.Or(after.Grade, before.Grade), rank(before.Rank), rank(after.Rank))
			if before.Fused > 0 || after.Fused > 0 {
				line += fmt.Sprintf("  fused %s → %s", rank(before.Fused), rank(after.Fused))
				for _, b := range braid.Branches() {
					line += fmt.Sprintf("  %s %s → %s", b, rank(before.Branches[string(b)]), rank(after.Branches[string(b)]))
				}
			}
			p.line("%s", line)
		}
	}
}

// pairPlaces puts the two places of each document side by side.
func pairPlaces(before, after []eval.Place) [][2]eval.Place {
	var pairs [][2]eval.Place
	at := map[string]int{}
	for _, a := range after {
		at[a.Document] = len(pairs)
		pairs = append(pairs, [2]eval.Place{{}, a})
	}
	for _, b := range before {
		if i, both := at[b.Document]; both {
			pairs[i][0] = b
			continue
		}
		pairs = append(pairs, [2]eval.Place{b, {}})
	}
	return pairs
}

// rank shows a rank, which may be nowhere.
func rank(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
