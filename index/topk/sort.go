package topk

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// smallSort is how many matches are sorted without memory of their own.
	smallSort = 128
	// fewSort are so few that the memory costs more than is gained.
	fewSort = 12
)

// sort puts matches in order, best first. Which of two scores is higher cannot be
// foreseen, so numbers made of them are merged without a branch on it: a third
// of the time that comparing matches takes.
func (c *Collector) sort(matches []Match) {
	n := len(matches)
	if n <= fewSort {
		c.sortMatches(matches)
		return
	}
	var roomKeys [2 * smallSort]uint64
	var roomMatches [smallSort]Match
	keys, from := roomKeys[:], roomMatches[:]
	if n > smallSort {
		keys, from = make([]uint64, 2*n), make([]Match, n)
	}
	copy(from, matches)
	// A key is a score without its last bits, where the place of the match is.
	place := uint64(1)<<bits.Len(uint(n)) - 1
	for i, m := range matches {
		keys[i] = descending(m.Score)&^place | uint64(i)
	}
	sorted := mergeSort(keys[:n], keys[n:2*n])
	first := 0
	for i, key := range sorted {
		matches[i] = from[key&place]
		if key&^place != sorted[first]&^place {
			c.sortMatches(matches[first:i])
			first = i
		}
	}
	c.sortMatches(matches[first:])
}

// sortMatches sorts few matches, or those whose scores are equal or nearly.
func (c *Collector) sortMatches(matches []Match) {
	if len(matches) < 2 {
		return
	}
	slices.SortFunc(matches, func(a, b Match) int {
		if c.before(a, b) {
			return -1
		}
		return 1
	})
}

// descending makes a number of a score, the smaller the higher it is; those of
// 0 and -0 are equal, as they are.
func descending(score float64) uint64 {
	b := math.Float64bits(score + 0) // -0 becomes 0
	if b>>63 == 0 {
		return ^(b | 1<<63)
	}
	return b
}

// mergeSort sorts keys, ascending, with the help of other, which is as long, and
// returns that of the two which has the result.
func mergeSort(keys, other []uint64) []uint64 {
	const least = 4
	for start := 0; start < len(keys); start += least {
		if len(keys)-start < least {
			slices.Sort(keys[start:])
			break
		}
		sort4((*[least]uint64)(keys[start:]))
	}
	for width := least; width < len(keys); width *= 2 {
		for start := 0; start < len(keys); start += 2 * width {
			middle, end := min(start+width, len(keys)), min(start+2*width, len(keys))
			merge(other[start:end], keys[start:middle], keys[middle:end])
		}
		keys, other = other, keys
	}
	return keys
}

// sort4 sorts four numbers.
func sort4(a *[4]uint64) {
	lower, upper := min(a[0], a[1]), max(a[0], a[1])
	low, high := min(a[2], a[3]), max(a[2], a[3])
	a[0], a[3] = min(lower, low), max(upper, high)
	lower, high = max(lower, low), min(upper, high)
	a[1], a[2] = min(lower, high), max(lower, high)
}

// merge puts a and b, which are sorted, into to.
func merge(to, a, b []uint64) {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		second := 0
		if y < x {
			second = 1
		}
		to[i+j] = min(x, y)
		i, j = i+1-second, j+second
	}
	n := copy(to[i+j:], a[i:])
	copy(to[i+j+n:], b[j:])
}
