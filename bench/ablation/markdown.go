package main

import (
	"fmt"
	"strings"

	"github.com/braid-search/braid/bench/report"
)

func (r *results) markdown() string {
	d := report.NewDocument("What each idea is worth", r.Circumstances)
	d.Line("- times, and what the budgets come to: %s, commit %s, load of the machine %.1f", r.Times.Taken.Format("2006-01-02 15:04 MST"), r.Times.Commit, r.Load)
	d.Line("\nEach row asks as the defaults do, with one thing changed. Differences are those from the")
	d.Line("defaults, paired by query, with 95 %% intervals by the bootstrap; p is of the paired")
	d.Line("randomisation test, and none is corrected for the number of rows. *All* is the mean of the")
	d.Line("sets, each with the same weight. **Bold** is a difference whose interval is on one side of 0,")
	d.Line("with p below 0.05.")
	d.Line("Times are from sending a request to the last byte of its answer, one client, every query")
	d.Line("in all ways in random order; × is the median, over queries, of the time by the defaults'.")
	for _, s := range r.Stages {
		r.qualityTable(d, s)
		r.timeTable(d, s)
		if s.Name == reranked {
			r.workTable(d, s)
		}
	}
	r.syntaxTable(d)
	r.verdicts(d)
	return d.String()
}

func (r *results) columns(first ...string) []string { return append(first, r.Sets...) }

func (r *results) qualityTable(d *report.Document, s stageResult) {
	d.Table("nDCG@10, "+s.Name, r.columns("", "asks", "all", "p")...)
	for i, row := range s.Rows {
		cells := []string{row.Name, row.What}
		if i == 0 {
			cells = append(cells, number(row.All.NDCG), "")
		} else {
			cells = append(cells, row.All.String(), probability(row.All.P))
		}
		for _, c := range row.Sets {
			switch {
			case i == 0:
				cells = append(cells, fmt.Sprintf("%s (%d queries)", number(c.NDCG), c.Queries))
			case c.Changed == 0:
				cells = append(cells, "the same answers")
			default:
				cells = append(cells, fmt.Sprintf("%s, p %s, %d changed", c.quality, probability(c.P), c.Changed))
			}
		}
		d.Row(cells...)
	}
}

// String is the difference with its interval.
func (q quality) String() string {
	text := fmt.Sprintf("%s (%s … %s)", signed(q.Difference), signed(q.Interval.Low), signed(q.Interval.High))
	if q.better() || q.worse() {
		return "**" + text + "**"
	}
	return text
}

func (r *results) timeTable(d *report.Document, s stageResult) {
	d.Table("Milliseconds, "+s.Name+": median / 95th percentile", r.columns("", "×")...)
	for _, row := range s.Rows {
		cells := []string{row.Name, fmt.Sprintf("%.2f", row.Ratio)}
		for _, c := range row.Sets {
			cells = append(cells, milliseconds(c.Time.Median)+" / "+milliseconds(c.Time.P95))
		}
		d.Row(cells...)
	}
	var counts []string
	for i, c := range s.Rows[0].Sets {
		counts = append(counts, fmt.Sprintf("%s %d", r.Sets[i], c.Time.Queries))
	}
	d.Line("\nQueries timed: %s.", strings.Join(counts, ", "))
}

func (r *results) workTable(d *report.Document, s stageResult) {
	d.Table("Pairs scored / tokens read by the cross-encoder, mean of a query", r.columns("")...)
	for _, row := range s.Rows {
		cells := []string{row.Name}
		for _, c := range row.Sets {
			cells = append(cells, fmt.Sprintf("%.1f / %.0f", c.Reranked, c.Tokens))
		}
		d.Row(cells...)
	}
}

func (r *results) syntaxTable(d *report.Document) {
	total := 0
	for _, c := range r.Stages[0].Rows[0].Sets {
		total += c.Queries
	}
	d.Line("\n## Queries read as more than text\n\n%d of %d.", len(r.Syntax), total)
	if len(r.Syntax) == 0 {
		return
	}
	d.Line("\n| set | query | has to hold | must not | documents left | nDCG@10 | as text |\n|%s", strings.Repeat(" --- |", 7))
	for _, q := range r.Syntax {
		d.Row(q.Set, escaped(q.Query), escaped(strings.Join(q.Phrases, "; ")), escaped(strings.Join(q.Excluded, "; ")), fmt.Sprint(q.Matching), number(q.NDCG), number(q.Without))
	}
}

// escaped is text that may stand in a table.
func escaped(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func (r *results) verdicts(d *report.Document) {
	d.Table("Beside the defaults", "", "", "nDCG@10 of all", "×", "")
	for _, s := range r.Stages {
		for _, row := range s.Rows[1:] {
			d.Row(s.Name, row.Name, row.All.String(), fmt.Sprintf("%.2f", row.Ratio), row.verdict())
		}
	}
	if list := r.unpaid(); len(list) > 0 {
		d.Line("\nLeft out without a loss that shows, in all or on any set, or of time: %s.", strings.Join(list, "; "))
	}
}

// slower is how much longer a search takes that is said to be slower.
const slower = 1.05

// unpaid are the ideas that nothing shows to be worth anything: without them the mean
// is no worse, and no set is, and a search takes no longer.
func (r *results) unpaid() []string {
	var list []string
	for _, s := range r.Stages {
		for _, row := range s.Rows {
			loses := row.All.worse() || row.Ratio > slower
			for _, c := range row.Sets {
				loses = loses || c.worse()
			}
			if row.Off && !loses {
				list = append(list, s.Name+", "+row.Name)
			}
		}
	}
	return list
}

func number(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.4f", v), "0") }

func probability(p float64) string {
	if p < 0.001 {
		return "< .001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", p), "0")
}

// milliseconds are three digits, or whole.
func milliseconds(ms float64) string {
	if ms >= 100 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.3g", ms)
}

// signed is a difference to three digits, with a true minus sign.
func signed(v float64) string {
	text := strings.Replace(fmt.Sprintf("%+.3f", v), "0.", ".", 1)
	return strings.Replace(text, "-", "−", 1)
}
