package bench

import (
	"context"
	"fmt"
	"slices"
)

// side is one of two that are measured in turn.
type side struct {
	name string
	// measure runs the workload once and returns a value for each metric.
	measure func(context.Context) ([]float64, error)
}

// metric is what a value means.
type metric struct {
	name string // with its unit
	more bool   // better, not less
}

// Comparison is one metric of two sides that ran in turn.
type Comparison struct {
	Part     string `json:"part"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	More     bool   `json:"more,omitempty"` // of the metric is better, not less
	A        string `json:"a"`
	B        string `json:"b"`
	AFigure  Figure `json:"a_figure"`
	BFigure  Figure `json:"b_figure"`
	// Ratio is how many times better A is than B, pair by pair: 1.2 means a fifth
	// more of what is better more, or that B takes a fifth longer.
	Ratio Figure `json:"ratio"`
}

// compare runs two sides in turn: once each to warm up, then A B A B.
func (r *run) compare(ctx context.Context, workload string, metrics []metric, a, b side) error {
	r.say("%s: %s, %s", workload, a.name, b.name)
	for _, s := range []side{a, b} {
		if _, err := s.measure(ctx); err != nil {
			return fmt.Errorf("warm up %q with %s: %w", workload, s.name, err)
		}
	}
	var as, bs [][]float64 // by round, then metric
	for range r.cfg.Rounds {
		va, err := a.measure(ctx)
		if err != nil {
			return fmt.Errorf("measure %q with %s: %w", workload, a.name, err)
		}
		vb, err := b.measure(ctx)
		if err != nil {
			return fmt.Errorf("measure %q with %s: %w", workload, b.name, err)
		}
		as, bs = append(as, va), append(bs, vb)
	}
	for i, m := range metrics {
		r.report.Comparisons = append(r.report.Comparisons, pairUp(r.part, workload, m, a.name, b.name, column(as, i), column(bs, i)))
	}
	return nil
}

// pairUp makes a comparison of values measured in turn.
func pairUp(part, workload string, m metric, nameA, nameB string, as, bs []float64) Comparison {
	c := Comparison{Part: part, Workload: workload, Metric: m.name, More: m.more, A: nameA, B: nameB, AFigure: figure(as), BFigure: figure(bs)}
	ratios := make([]float64, len(as))
	for i := range as {
		if ratios[i] = bs[i] / as[i]; m.more {
			ratios[i] = as[i] / bs[i]
		}
	}
	c.Ratio = figure(ratios)
	return c
}

func column(rows [][]float64, i int) []float64 {
	var values []float64
	for _, row := range rows {
		values = append(values, row[i])
	}
	return values
}

// Agreement says how far the answers of a contender are from braid's in process.
type Agreement struct {
	Workload  string `json:"workload"`
	Contender string `json:"contender"`
	// LowestCosine is that of a text's two vectors; of scores there is none.
	LowestCosine float64 `json:"lowest_cosine,omitempty"`
	// LargestDifference is that of a pair's two scores; of vectors there is none.
	LargestDifference float64 `json:"largest_difference,omitempty"`
}

// agree compares rows of results: vectors, or single scores.
func agree(workload, contender string, ours, theirs [][]float32) Agreement {
	a := Agreement{Workload: workload, Contender: contender}
	if len(ours[0]) == 1 {
		for i := range ours {
			a.LargestDifference = max(a.LargestDifference, abs(float64(ours[i][0])-float64(theirs[i][0])))
		}
		return a
	}
	var cosines []float64
	for i := range ours {
		cosines = append(cosines, cosine(ours[i], theirs[i]))
	}
	a.LowestCosine = slices.Min(cosines)
	return a
}

func abs(x float64) float64 { return max(x, -x) }
