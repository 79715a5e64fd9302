package httpapi

import (
	"slices"

	"github.com/braid-search/braid"
)

// prune keeps the topK largest weights, of equal ones those with the smaller
// index, and of these the ones of at least minWeight. nil is no bound.
func prune(v braid.SparseVector, topK *int, minWeight *float32) braid.SparseVector {
	order := make([]int, len(v.Indices))
	for i := range order {
		order[i] = i
	}
	if topK != nil && *topK < len(order) {
		slices.SortStableFunc(order, func(a, b int) int {
			switch {
			case v.Values[a] > v.Values[b]:
				return -1
			case v.Values[a] < v.Values[b]:
				return 1
			}
			return 0
		})
		order = order[:*topK]
		slices.Sort(order)
	}
	kept := braid.SparseVector{Indices: []uint32{}, Values: []float32{}}
	for _, i := range order {
		if minWeight == nil || v.Values[i] >= *minWeight {
			kept.Indices = append(kept.Indices, v.Indices[i])
			kept.Values = append(kept.Values, v.Values[i])
		}
	}
	return kept
}
