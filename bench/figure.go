package bench

import (
	"math"
	"slices"

	"github.com/braid-search/braid/internal/selfbench"
)

// Figure is one number of one side, measured in several rounds.
type Figure struct {
	Median float64   `json:"median"`
	Min    float64   `json:"min"`
	Max    float64   `json:"max"`
	Rounds []float64 `json:"rounds"`
}

// figure sums up rounds, of which there is at least one.
func figure(rounds []float64) Figure {
	return Figure{Median: quantile(rounds, 0.5), Min: slices.Min(rounds), Max: slices.Max(rounds), Rounds: rounds}
}

// quantile is the q-th quantile, q from 0 to 1, of at least one value.
func quantile(values []float64, q float64) float64 { return selfbench.Quantile(values, q) }

// cosine is that of two vectors of the same length.
func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(aa*bb)
}
