package rerank

import "slices"

// Window returns where in a passage of tokens the window of size tokens begins
// and ends that says most about the query: the one whose distinct tokens weigh
// most together, the earliest of equals. weights are the query's, by token id;
// tokens that are not there weigh nothing. Windows begin half a window apart, and
// the last one ends with the passage. A passage of at most size tokens is its own
// window. Each token is looked at two or three times, whatever size is. The rule
// is measured in docs/decisions/rerank.md.
func Window(tokens []uint32, weights map[uint32]float32, size int) (from, to int) {
	if len(tokens) <= size {
		return 0, len(tokens)
	}
	size = max(size, 1)
	best := windowWeight(tokens[:size], weights)
	for at := 0; at < len(tokens)-size; {
		at = min(at+max(size/2, 1), len(tokens)-size)
		if w := windowWeight(tokens[at:at+size], weights); w > best {
			best, from = w, at
		}
	}
	return from, from + size
}

// windowWeight sums the weights of the distinct tokens in ascending order of
// their ids, so that windows of the same tokens weigh the same.
func windowWeight(tokens []uint32, weights map[uint32]float32) float64 {
	var known []uint32
	for _, id := range tokens {
		if weights[id] > 0 {
			known = append(known, id)
		}
	}
	slices.Sort(known)
	var sum float64
	for _, id := range slices.Compact(known) {
		sum += float64(weights[id])
	}
	return sum
}
