package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/braid-search/braid/bench/report"
)

// results are what was measured, in one run or several.
type results struct {
	report.Circumstances
	Rounds int            `json:"rounds"`
	Graph  []curve        `json:"graph"`
	Exact  []curve        `json:"exact"`
	Filter []filterRow    `json:"filter"`
	Churn  []churnRow     `json:"churn"`
	NotRun []string       `json:"not_run,omitempty"`
	Charts []report.Chart `json:"charts"`
}

// curve is what a contender came to on a set of vectors.
type curve struct {
	Base    string `json:"base"`
	Vectors int    `json:"vectors"`
	Name    string `json:"name"`
	Threads int    `json:"threads"`
	made
	MemoryBytes int64   `json:"memory_bytes,omitempty"` // what braid says of itself
	Points      []point `json:"points"`
}

// point is what one ef comes to; a comparison of all has but one.
type point struct {
	Ef     int           `json:"ef,omitempty"`
	Recall float64       `json:"recall"`
	Micros report.Figure `json:"us"` // a query, in the mean
}

// filterRow is a filter.
type filterRow struct {
	Allowed float64       `json:"allowed"` // share of the vectors
	Which   string        `json:"which"`
	Recall  float64       `json:"recall"`
	Micros  report.Figure `json:"us"`      // median of the queries
	Scanned float64       `json:"scanned"` // share of queries that compared all that is allowed
}

// churnRow is a graph of which some vectors were replaced.
type churnRow struct {
	State       string        `json:"state"`
	Replaced    float64       `json:"replaced"`
	Vectors     int           `json:"vectors"`
	Recall      float64       `json:"recall"`
	Micros      report.Figure `json:"us"`
	MemoryBytes int64         `json:"memory_bytes"`
}

// threadCounts are those that comparisons of all are measured with.
func threadCounts() []int {
	return slices.Compact([]int{1, runtime.NumCPU()})
}

// notRun notes once that something was left out.
func (r *results) notRun(why string) {
	if !slices.Contains(r.NotRun, why) {
		r.NotRun = append(r.NotRun, why)
	}
}

func (r *results) markdown(base string) string {
	d := report.NewDocument("Dense vectors beside peers", r.Circumstances)
	d.Line("- vectors of bge-small-en-v1.5, 384 dimensions; 300 queries, SciFact's claims; the best %d of each", k)
	d.Line("- graphs: M %d, efConstruction %d, inner product, float32, one thread; comparing all: threads as told", m, efConstruction)
	d.Line("- microseconds of a query; medians of %d rounds (lowest–highest), in which the contenders took turns", r.Rounds)
	d.Line("- Python peers get all queries in one call for graphs, and one after the other where all is compared")
	d.Line("- coder/hnsw is asked for ef vectors, and the best %d are kept: see bench/peers/coderhnsw", k)
	r.graphTables(d)
	d.Charts(base, r.Charts)
	d.Table("Making graphs", "vectors", "of", "contender", "s", "µs a vector", "bytes a vector")
	for _, c := range r.Graph {
		n := float64(c.Vectors)
		d.Row(fmt.Sprint(c.Vectors), c.Base, c.Name, fmt.Sprintf("%.1f", c.Seconds), fmt.Sprintf("%.0f", 1e6*c.Seconds/n), fmt.Sprintf("%.0f", float64(c.Bytes)/n))
	}
	d.Line("\nBytes are what the memory grew by, vectors of 1,536 bytes included: the heap's for braid and coder/hnsw, else the process's.")
	d.Table("Comparing all", "vectors", "of", "threads", "contender", "µs", "braid's time to this", fmt.Sprintf("recall@%d", k))
	var ours curve
	for _, c := range r.Exact {
		if c.Name == ourName {
			ours = c
		}
		p := c.Points[0]
		d.Row(fmt.Sprint(c.Vectors), c.Base, fmt.Sprint(c.Threads), c.Name, p.Micros.String(), fmt.Sprintf("%.2f", ours.Points[0].Micros.Median/p.Micros.Median), fmt.Sprintf("%.4f", p.Recall))
	}
	r.filterTable(d)
	d.Table("Replacing vectors", "state", "replaced", "vectors", fmt.Sprintf("recall@%d", k), "µs", "bytes a vector")
	for _, c := range r.Churn {
		d.Row(c.State, percent(c.Replaced), fmt.Sprint(c.Vectors), fmt.Sprintf("%.4f", c.Recall), c.Micros.String(), fmt.Sprintf("%.0f", float64(c.MemoryBytes)/float64(c.Vectors)))
	}
	d.Line("\nSentences, half of them at a time, at ef 100, on one core.")
	if len(r.NotRun) > 0 {
		d.Line("\n## Not run\n")
		for _, why := range r.NotRun {
			d.Line("- %s", why)
		}
	}
	return d.String()
}

// graphTables writes a table for each set of vectors.
func (r *results) graphTables(d *report.Document) {
	for curves := range chunks(r.Graph) {
		columns := []string{"ef"}
		for _, c := range curves {
			columns = append(columns, fmt.Sprintf("%s recall@%d", c.Name, k), "µs")
		}
		d.Table(fmt.Sprintf("Graphs of %d %s", curves[0].Vectors, curves[0].Base), columns...)
		for i, p := range curves[0].Points {
			cells := []string{fmt.Sprint(p.Ef)}
			for _, c := range curves {
				cells = append(cells, fmt.Sprintf("%.4f", c.Points[i].Recall), c.Points[i].Micros.String())
			}
			d.Row(cells...)
		}
	}
}

func (r *results) filterTable(d *report.Document) {
	d.Table("Searching in a part", "allowed", "which", fmt.Sprintf("recall@%d", k), "µs, median of the queries", "to unfiltered", "compared all that is allowed")
	for _, f := range r.Filter {
		d.Row(percent(f.Allowed), f.Which, fmt.Sprintf("%.4f", f.Recall), f.Micros.String(), fmt.Sprintf("%.2f", f.Micros.Median/r.Filter[0].Micros.Median), percent(f.Scanned))
	}
	d.Line("\nSentences, at ef 100, on one core. The first row's filter allows all.")
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", 100*share) }

// chunks yields the curves of each set of vectors.
func chunks(curves []curve) func(func([]curve) bool) {
	return func(yield func([]curve) bool) {
		for len(curves) > 0 {
			n := 1
			for n < len(curves) && curves[n].Base == curves[0].Base {
				n++
			}
			if !yield(curves[:n]) {
				return
			}
			curves = curves[n:]
		}
	}
}

// charts are recall against queries a second for each set of vectors, and the
// cost of filters.
func (r *results) charts() (charts []report.Chart) {
	for curves := range chunks(r.Graph) {
		c := report.Chart{
			Name: curves[0].Base, Title: fmt.Sprintf("%d %s, one core", curves[0].Vectors, curves[0].Base),
			X: report.Axis{Label: fmt.Sprintf("recall@%d", k)}, Y: report.Axis{Label: "queries a second", Log: true},
		}
		for _, one := range curves {
			l := report.Line{Name: one.Name}
			for _, p := range one.Points {
				if p.Recall >= 0.9 { // the rest is of no use
					l.Points = append(l.Points, [2]float64{p.Recall, 1e6 / p.Micros.Median})
				}
			}
			if len(l.Points) > 0 {
				c.Lines = append(c.Lines, l)
			}
		}
		charts = append(charts, c)
	}
	if len(r.Filter) == 0 {
		return charts
	}
	l := report.Line{Name: "µs, median"}
	for _, f := range r.Filter {
		if f.Which == r.Filter[0].Which {
			l.Points = append(l.Points, [2]float64{100 * f.Allowed, f.Micros.Median})
		}
	}
	return append(charts, report.Chart{
		Name: "filter", Title: "searching in a part, one core",
		X: report.Axis{Label: "% allowed", Log: true}, Y: report.Axis{Label: "µs a query"}, Lines: []report.Line{l},
	})
}
