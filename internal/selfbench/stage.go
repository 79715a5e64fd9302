package selfbench

import (
	"slices"

	"github.com/braid-search/braid/search"
)

// Timing is a stage of a search.
type Timing struct {
	Name string
	Of   func(search.Timings) float64 // milliseconds; 0 where the stage did not run
}

// Timings lists the stages, in the order they run, the total last.
func Timings() []Timing {
	return []Timing{
		{"queue", func(t search.Timings) float64 { return t.Queue }},
		{"tokenise", func(t search.Timings) float64 { return t.Tokenise }},
		{"dense encode", func(t search.Timings) float64 { return t.DenseEncode }},
		{"sparse encode", func(t search.Timings) float64 { return t.SparseEncode }},
		{"dense search", func(t search.Timings) float64 { return t.DenseSearch }},
		{"sparse search", func(t search.Timings) float64 { return t.SparseSearch }},
		{"lexical search", func(t search.Timings) float64 { return t.LexicalSearch }},
		{"first stage", func(t search.Timings) float64 { return t.FirstStage }},
		{"fuse", func(t search.Timings) float64 { return t.Fuse }},
		{"fetch", func(t search.Timings) float64 { return t.Fetch }},
		{"rerank", func(t search.Timings) float64 { return t.Rerank }},
		{"total", func(t search.Timings) float64 { return t.Total }},
	}
}

// Quantile is the q-th quantile, q from 0 to 1, of at least one value, linear
// between neighbours (definition 7 of Hyndman and Fan, "Sample Quantiles in
// Statistical Packages", 1996).
func Quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low == len(sorted)-1 {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
