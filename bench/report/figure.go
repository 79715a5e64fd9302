package report

import (
	"fmt"
	"math"
	"slices"
)

// Figure is a number measured in several rounds.
type Figure struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// NewFigure sums up rounds, of which there is at least one.
func NewFigure(rounds []float64) Figure {
	return Figure{Quantile(rounds, 0.5), slices.Min(rounds), slices.Max(rounds)}
}

func (f Figure) String() string { return fmt.Sprintf("%.3g (%.3g–%.3g)", f.Median, f.Min, f.Max) }

// Quantiles is the q-th quantile of each round, times scale.
func Quantiles(rounds [][]float64, q, scale float64) Figure {
	var values []float64
	for _, round := range rounds {
		values = append(values, scale*Quantile(round, q))
	}
	return NewFigure(values)
}

// Quantile is the smallest of values, of which there is at least one, that a
// share q of them is not above.
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
