package eval

import (
	"maps"
	"math"
	"slices"
)

// Place is where a relevant document stood in one answer. Ranks count from 1; 0
// is nowhere.
type Place struct {
	Document string         `json:"document"`
	Grade    int            `json:"grade"`
	Rank     int            `json:"rank"`               // in the answer
	Fused    int            `json:"fused,omitempty"`    // before the rerank
	Branches map[string]int `json:"branches,omitempty"` // of those that found it
}

// Details are what a report says beyond means.
type Details struct {
	// Intervals are those of the means, 95 %, by mode and Key of the metric.
	Intervals map[string]map[string]Interval `json:"intervals"`
	Classes   []Class                        `json:"classes,omitempty"`
	// Candidates is what the branches retrieve; nil if they were not asked alone.
	Candidates *Candidates `json:"candidates,omitempty"`
	// LatenciesMS are milliseconds by mode and stage; see Latencies.
	LatenciesMS map[string]map[string]Latency `json:"latencies_ms,omitempty"`
}

// Class is the report of the queries of one kind: means by mode and Key.
type Class struct {
	Name    string                        `json:"name"`
	Queries int                           `json:"queries"`
	Modes   map[string]map[string]float64 `json:"modes"`
}

// Classify says which class each query is of.
func (r *Results) Classify(classOf func(text string) string) {
	r.Classes = make([]string, len(r.Texts))
	for i, text := range r.Texts {
		r.Classes[i] = classOf(text)
	}
}

// Details returns intervals and, after Classify, classes by name.
func (r *Results) Details() *Details {
	d := &Details{Intervals: map[string]map[string]Interval{}}
	for mode, scores := range r.Modes {
		d.Intervals[mode] = map[string]Interval{}
		for _, name := range r.Metrics {
			d.Intervals[mode][key(name)] = BootstrapInterval(scores[name])
		}
	}
	members := map[string][]int{}
	for i, class := range r.Classes {
		members[class] = append(members[class], i)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		d.Classes = append(d.Classes, r.class(name, members[name]))
	}
	return d
}

func (r *Results) class(name string, members []int) Class {
	c := Class{Name: name, Queries: len(members), Modes: map[string]map[string]float64{}}
	for mode, scores := range r.Modes {
		c.Modes[mode] = map[string]float64{}
		for _, metric := range r.Metrics {
			var total float64
			for _, i := range members {
				total += scores[metric][i]
			}
			c.Modes[mode][key(metric)] = total / float64(len(members))
		}
	}
	return c
}

// Candidates says how well each branch retrieves, before anything is fused. All
// figures are means over the queries.
type Candidates struct {
	Depth    int                     `json:"depth"` // documents each branch was asked for
	Branches map[string]BranchReport `json:"branches"`
	// Recall is that of all branches together: no fusion can reach more.
	Recall   float64   `json:"recall"`
	Overlaps []Overlap `json:"overlaps"`
}

// BranchReport is what one branch retrieves.
type BranchReport struct {
	Recall   float64  `json:"recall"`
	Interval Interval `json:"interval"` // of Recall, 95 %
	Only     float64  `json:"only"`     // share of the relevant documents that no other branch found
	Empty    float64  `json:"empty"`    // share of the queries for which it found nothing
}

// Overlap is how much two branches retrieve in common: the size of the
// intersection over that of the union (Jaccard), and 0 where both are empty.
type Overlap struct {
	A       string  `json:"a"`
	B       string  `json:"b"`
	Jaccard float64 `json:"jaccard"`
}

// Candidates reports on runs of single branches, by name, that were asked for
// depth documents.
func (d *Dataset) Candidates(runs map[string]Run, depth int) *Candidates {
	names := slices.Sorted(maps.Keys(runs))
	c := &Candidates{Depth: depth, Branches: map[string]BranchReport{}}
	together := make([]float64, len(d.Queries))
	foundBy := make([]map[string]int, len(d.Queries)) // how many branches, by document
	for i, q := range d.Queries {
		foundBy[i] = map[string]int{}
		for _, run := range runs {
			for _, id := range run[q.ID] {
				foundBy[i][id]++
			}
		}
		union := slices.Collect(maps.Keys(foundBy[i]))
		together[i] = q.Judgments.Recall(union, len(union))
	}
	c.Recall = average(together)
	for _, name := range names {
		c.Branches[name] = d.branchReport(runs[name], foundBy)
	}
	for i, a := range names {
		for _, b := range names[i+1:] {
			c.Overlaps = append(c.Overlaps, Overlap{A: a, B: b, Jaccard: d.jaccard(runs[a], runs[b])})
		}
	}
	return c
}

func (d *Dataset) branchReport(run Run, foundBy []map[string]int) BranchReport {
	var b BranchReport
	recalls := make([]float64, len(d.Queries))
	n := float64(max(len(d.Queries), 1))
	for i, q := range d.Queries {
		ranked := run[q.ID]
		recalls[i] = q.Judgments.Recall(ranked, len(ranked))
		alone := slices.DeleteFunc(slices.Clone(ranked), func(id string) bool { return foundBy[i][id] > 1 })
		b.Only += q.Judgments.Recall(alone, len(alone)) / n
		if len(ranked) == 0 {
			b.Empty += 1 / n
		}
	}
	b.Recall, b.Interval = average(recalls), BootstrapInterval(recalls)
	return b
}

func (d *Dataset) jaccard(a, b Run) float64 {
	var total float64
	for _, q := range d.Queries {
		in := make(map[string]bool, len(a[q.ID]))
		for _, id := range a[q.ID] {
			in[id] = true
		}
		both := 0
		for _, id := range b[q.ID] {
			if in[id] {
				both++
			}
		}
		if either := len(a[q.ID]) + len(b[q.ID]) - both; either > 0 {
			total += float64(both) / float64(either)
		}
	}
	return total / float64(max(len(d.Queries), 1))
}

// Latency is how long something took: half of the times, and 95 of 100, are at
// most P50 and P95.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
}

// Latencies returns the percentiles of times by name, each the nearest rank.
func Latencies(times map[string][]float64) map[string]Latency {
	latencies := make(map[string]Latency, len(times))
	for name, values := range times {
		sorted := slices.Sorted(slices.Values(values))
		rank := func(share float64) float64 {
			if len(sorted) == 0 {
				return 0
			}
			return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
		}
		latencies[name] = Latency{P50: rank(0.50), P95: rank(0.95)}
	}
	return latencies
}
