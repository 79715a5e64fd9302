package eval

import (
	"cmp"
	"maps"
	"slices"

	"github.com/braid-search/braid"
)

// DefaultChanged is how many queries a change lists each way where no number is
// given.
const DefaultChanged = 5

// Change is what became of one metric in one mode since a baseline.
type Change struct {
	Mode       string        `json:"mode"`
	Metric     string        `json:"metric"`
	Before     float64       `json:"before"`     // mean of the baseline
	After      float64       `json:"after"`      // mean now
	Interval   Interval      `json:"interval"`   // of After - Before, 95 %
	P          float64       `json:"p"`          // of RandomizationTest
	Better     []QueryChange `json:"better"`     // that gained most, most first
	Worse      []QueryChange `json:"worse"`      // that lost most, most first
	Confidence Interval      `json:"confidence"` // of After, 95 %
}

// QueryChange is the change of one query, and where its relevant documents stood
// then and now, as far as is known; see Results.Places.
type QueryChange struct {
	Query  string  `json:"query"`
	Text   string  `json:"text,omitempty"`
	Change float64 `json:"change"`
	Before []Place `json:"before,omitempty"`
	After  []Place `json:"after,omitempty"`
}

// Fell says whether the metric fell by more than the tolerance.
func (c Change) Fell(tolerance float64) bool { return c.Before-c.After > tolerance+slack }

// Compare returns the changes of the metrics and modes that both results have,
// by mode, metrics in the order of now; each lists at most most queries each way.
// It fails with braid.InvalidArgument when
// the results are of other queries, or share no mode or metric.
func Compare(baseline, now *Results, most int) ([]Change, error) {
	if baseline.Dataset != now.Dataset || baseline.Qrels != now.Qrels {
		return nil, braid.Errorf(braid.InvalidArgument, "the baseline is of %s (%s), the results are of %s (%s): they cannot be compared", baseline.Dataset, baseline.Qrels, now.Dataset, now.Qrels)
	}
	position := make(map[string]int, len(baseline.Queries))
	for i, id := range baseline.Queries {
		position[id] = i
	}
	for _, id := range now.Queries {
		if _, found := position[id]; !found || len(baseline.Queries) != len(now.Queries) {
			return nil, braid.Errorf(braid.InvalidArgument, "the baseline has other queries, %d where there are %d now: make it anew with --out", len(baseline.Queries), len(now.Queries))
		}
	}
	var changes []Change
	for _, mode := range slices.Sorted(maps.Keys(now.Modes)) {
		for _, metric := range now.Metrics {
			before, after := baseline.Modes[mode][metric], now.Modes[mode][metric]
			if before == nil {
				continue
			}
			differences := make([]QueryChange, len(after))
			for i, id := range now.Queries {
				differences[i] = QueryChange{Query: id, Text: at(now.Texts, i), Change: after[i] - before[position[id]],
					Before: at(baseline.Places[mode], position[id]), After: at(now.Places[mode], i)}
			}
			c := change(average(before), after, differences, most)
			c.Mode, c.Metric = mode, metric
			changes = append(changes, c)
		}
	}
	if len(changes) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "the baseline has none of these modes and metrics: measure what it has")
	}
	return changes, nil
}

// at is s[i], or nothing where s is not kept.
func at[E any](s []E, i int) (e E) {
	if i < len(s) {
		e = s[i]
	}
	return e
}

func change(before float64, after []float64, differences []QueryChange, most int) Change {
	values := make([]float64, len(differences))
	for i, d := range differences {
		values[i] = d.Change
	}
	c := Change{
		Before: before, After: average(after),
		Interval: BootstrapInterval(values), Confidence: BootstrapInterval(after), P: RandomizationTest(values),
	}
	slices.SortStableFunc(differences, func(a, b QueryChange) int { return cmp.Compare(b.Change, a.Change) })
	for _, d := range first(differences, most) {
		if d.Change > 0 {
			c.Better = append(c.Better, d)
		}
	}
	slices.SortStableFunc(differences, func(a, b QueryChange) int { return cmp.Compare(a.Change, b.Change) })
	for _, d := range first(differences, most) {
		if d.Change < 0 {
			c.Worse = append(c.Worse, d)
		}
	}
	return c
}
