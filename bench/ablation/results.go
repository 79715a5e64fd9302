package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/internal/eval"
)

// cutoff is that of nDCG, and the number of hits of a search by default.
const cutoff = 10

// results is the report.
type results struct {
	report.Circumstances
	Program string               `json:"program"` // 12 hexadecimal digits of its SHA-256
	Times   report.Circumstances `json:"times"`   // of the milliseconds, and the budgets
	Load    float64              `json:"load"`    // of the machine then: processes that ran or waited to, mean of 15 minutes
	Sets    []string             `json:"sets"`
	Stages  []stageResult        `json:"stages"`
	Syntax  []syntaxQuery        `json:"syntax"`
}

type stageResult struct {
	Name string      `json:"name"`
	Rows []rowResult `json:"rows"`
}

// rowResult is what one way of asking came to.
type rowResult struct {
	Name string `json:"name"`
	What string `json:"what"`
	Off  bool   `json:"off"` // an idea is left out
	// All is the mean of the sets, each with the same weight.
	All   quality `json:"all"`
	Sets  []cell  `json:"by_set"` // in the order of results.Sets
	Ratio float64 `json:"ratio"`  // median of the times over the defaults' for the same query, all sets
}

// quality is a mean, and its difference from that of the defaults.
type quality struct {
	NDCG       float64       `json:"ndcg@10"`
	Difference float64       `json:"difference"`
	Interval   eval.Interval `json:"interval"` // of Difference, 95 %
	P          float64       `json:"p"`        // of eval.RandomizationTest
}

// better and worse report whether the interval is on one side of 0 and the test agrees:
// of few queries the interval is too short.
func (q quality) better() bool { return q.Interval.Low > 0 && q.P < 0.05 }
func (q quality) worse() bool  { return q.Interval.High < 0 && q.P < 0.05 }

// cell is one row on one set.
type cell struct {
	quality
	Queries  int     `json:"queries"`
	Changed  int     `json:"changed"` // queries whose first ten documents are not the defaults' in order
	Reranked float64 `json:"reranked"`
	Tokens   float64 `json:"tokens"`
	Time     timing  `json:"ms"`
}

// timing is of the searches of one row on one set.
type timing struct {
	Queries int     `json:"queries"`
	Median  float64 `json:"median"`
	P95     float64 `json:"p95"`
}

// syntaxQuery is a query of which the defaults took a part for a condition.
type syntaxQuery struct {
	Set      string   `json:"set"`
	Query    string   `json:"query"`
	Phrases  []string `json:"phrases,omitempty"`
	Excluded []string `json:"excluded,omitempty"`
	Matching int      `json:"matching"` // documents that fulfil it
	NDCG     float64  `json:"ndcg@10"`
	Without  float64  `json:"without"` // nDCG@10 of the query as text
}

// table finds observations.
type table map[key]observation

func tableOf(all []observation) table {
	t := table{}
	for _, o := range all {
		t[o.key] = o
	}
	return t
}

// asked are the queries of a set that were asked in every way of a stage.
func (t table) asked(s stage, from set) []eval.Query {
	var list []eval.Query
	for _, q := range from.Queries {
		if !slices.ContainsFunc(s.rows, func(w row) bool { _, ok := t[key{s.name, w.name, from.name, q.ID}]; return !ok }) {
			list = append(list, q)
		}
	}
	return list
}

// of are the observations of the queries in one way.
func (t table) of(s stage, w row, from set, queries []eval.Query) []observation {
	var list []observation
	for _, q := range queries {
		list = append(list, t[key{s.name, w.name, from.name, q.ID}])
	}
	return list
}

// sum makes the report from what was asked, all but the times.
func (r *results) sum(from []set, all []observation) {
	t := tableOf(all)
	r.Sets, r.Stages = nil, nil
	for _, s := range from {
		r.Sets = append(r.Sets, s.name)
	}
	for _, s := range stages() {
		sr := stageResult{Name: s.name}
		for _, w := range s.rows {
			sr.Rows = append(sr.Rows, r.row(t, s, w, from))
		}
		r.Stages = append(r.Stages, sr)
	}
	r.Syntax = syntaxQueries(t, from)
}

func (r *results) row(t table, s stage, w row, from []set) rowResult {
	result := rowResult{Name: w.name, What: w.what, Off: w.off}
	var differences [][]float64
	for _, f := range from {
		queries := t.asked(s, f)
		c := cell{Queries: len(queries)}
		base, own := t.of(s, s.rows[0], f, queries), t.of(s, w, f, queries)
		var scores, change []float64
		for i, q := range queries {
			before, after := q.Judgments.NDCG(base[i].IDs, cutoff), q.Judgments.NDCG(own[i].IDs, cutoff)
			scores, change = append(scores, after), append(change, after-before)
			if !slices.Equal(base[i].IDs, own[i].IDs) {
				c.Changed++
			}
			c.Reranked += float64(own[i].Reranked) / float64(len(queries))
			c.Tokens += own[i].Tokens / float64(len(queries))
		}
		c.quality = compared(scores, change)
		result.Sets = append(result.Sets, c)
		result.All.NDCG += c.NDCG / float64(len(from))
		differences = append(differences, change)
	}
	scaled := evenly(differences)
	result.All = quality{result.All.NDCG, mean(scaled), eval.BootstrapInterval(scaled), eval.RandomizationTest(scaled)}
	return result
}

func compared(scores, change []float64) quality {
	return quality{mean(scores), mean(change), eval.BootstrapInterval(change), eval.RandomizationTest(change)}
}

// evenly puts the values of several sets together so that the mean of all is the mean
// of the sets' means, whatever their sizes.
func evenly(of [][]float64) []float64 {
	of = slices.DeleteFunc(slices.Clone(of), func(values []float64) bool { return len(values) == 0 })
	total := 0
	for _, values := range of {
		total += len(values)
	}
	var all []float64
	for _, values := range of {
		for _, v := range values {
			all = append(all, v*float64(total)/float64(len(values)*len(of)))
		}
	}
	return all
}

func mean(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total / float64(max(len(values), 1))
}

// retime replaces the times by those of the observations, and the whole of rows whose
// answers depend on them. Rows that were not measured keep theirs.
func (r *results) retime(c report.Circumstances, from []set, all []observation) {
	t := tableOf(all)
	r.Times, r.Load = c, load()
	for _, s := range stages() {
		i := slices.IndexFunc(r.Stages, func(sr stageResult) bool { return sr.Name == s.name })
		if i < 0 {
			continue
		}
		for _, w := range s.rows {
			j := slices.IndexFunc(r.Stages[i].Rows, func(rr rowResult) bool { return rr.Name == w.name })
			if j < 0 {
				continue
			}
			if len(t.asked(s, from[0])) > 0 && w.timed {
				r.Stages[i].Rows[j] = r.row(t, s, w, from)
			}
			r.Stages[i].Rows[j].retime(t, s, w, from)
		}
	}
}

// load is the machine's, as Linux says it; 0 elsewhere.
func load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return 0
	}
	mean, err := strconv.ParseFloat(fields[2], 64)
	if err != nil {
		return 0
	}
	return mean
}

func (r *rowResult) retime(t table, s stage, w row, from []set) {
	var ratios []float64
	for i, f := range from {
		queries := t.asked(s, f)
		if len(queries) == 0 || i >= len(r.Sets) {
			continue
		}
		base, own := t.of(s, s.rows[0], f, queries), t.of(s, w, f, queries)
		var times []float64
		for j := range own {
			times, ratios = append(times, own[j].MS), append(ratios, own[j].MS/base[j].MS)
		}
		r.Sets[i].Time = timing{len(times), report.Quantile(times, 0.5), report.Quantile(times, 0.95)}
	}
	if len(ratios) > 0 {
		r.Ratio = report.Quantile(ratios, 0.5)
	}
}

// syntaxQueries are those that the defaults of the first stage read as more than text.
func syntaxQueries(t table, from []set) []syntaxQuery {
	var found []syntaxQuery
	for _, f := range from {
		for _, q := range f.Queries {
			o := t[key{firstStage, "defaults", f.name, q.ID}]
			if o.Syntax.Matching == nil {
				continue
			}
			text := t[key{firstStage, "no syntax", f.name, q.ID}]
			found = append(found, syntaxQuery{Set: f.name, Query: q.Text, Phrases: o.Syntax.Phrases, Excluded: o.Syntax.Excluded, Matching: *o.Syntax.Matching,
				NDCG: q.Judgments.NDCG(o.IDs, cutoff), Without: q.Judgments.NDCG(text.IDs, cutoff)})
		}
	}
	slices.SortStableFunc(found, func(a, b syntaxQuery) int { return cmp.Compare(a.NDCG-a.Without, b.NDCG-b.Without) })
	return found
}

func (r *results) write(out string) error { return report.Write(out, r, r.markdown()) }

// verdict says what a row is beside the defaults.
func (r rowResult) verdict() string {
	switch {
	case r.All.worse():
		return "worse"
	case r.All.better():
		return "better"
	}
	worse, better := 0, 0
	for _, c := range r.Sets {
		if c.worse() {
			worse++
		}
		if c.better() {
			better++
		}
	}
	if worse+better == 0 {
		return "no difference shown"
	}
	return fmt.Sprintf("worse on %d, better on %d", worse, better)
}
