package postings

import (
	"math"
	"math/bits"
)

// view is a window with its sums added up.
type view struct {
	sums    []uint32
	allowed bitset // the documents that may be found; nil for all with a sum above 0
	// members are all of them, when they are few and so listed.
	listed  bool
	members []uint16
}

// above appends the offsets of the documents that may be found and have a sum in
// [from, to). from is above 0, and to at most twice sumUnits.
func (v view) above(offsets []uint16, from, to uint32) []uint16 {
	if v.listed {
		for _, offset := range v.members {
			if sum := v.sums[offset]; sum >= from && sum < to {
				offsets = append(offsets, offset)
			}
		}
		return offsets
	}
	for at, mask := firstRun(v.sums, 0, from); mask != 0; at, mask = firstRun(v.sums, at+run, from) {
		for ; mask != 0; mask &= mask - 1 {
			offset := uint32(at + bits.TrailingZeros32(mask))
			if v.sums[offset] < to && (v.allowed == nil || v.allowed.has(offset)) {
				offsets = append(offsets, uint16(offset))
			}
		}
	}
	return offsets
}

// A run is 32 sums from a multiple of 32 on, at the end of a window fewer.
const run = 32

// kth returns a sum, above 0, that at least k documents reach, if there are so
// many with any, and few more than k. Sums are counted by size, to 1 in 64.
func (v view) kth(k int) uint32 {
	var counts [sizes]uint32
	switch {
	case v.listed:
		for _, offset := range v.members {
			counts[size(v.sums[offset])]++
		}
		return kthSize(&counts, k)
	case v.allowed != nil:
		for offset := range v.allowed.all {
			counts[size(v.sums[offset])]++
		}
		return kthSize(&counts, k)
	}
	// Of several sums that follow each other the highest will do, as long as few
	// of the k best share their place with another: with groups times k places for
	// k sums, one in twice groups does.
	const groups = 4
	sums := v.sums
	switch {
	case len(sums) > groups*32*k:
		for ; len(sums) >= 32; sums = sums[32:] {
			s := (*[32]uint32)(sums)
			counts[size(max(highest(s[0:8]), highest(s[8:16]), highest(s[16:24]), highest(s[24:32])))]++
		}
	case len(sums) > groups*8*k:
		for ; len(sums) >= 8; sums = sums[8:] {
			counts[size(highest(sums))]++
		}
	}
	count(&counts, sums)
	return kthSize(&counts, k)
}

// kth returns one of sums, roughly, that at least k of them reach, or 1 if there
// are not so many.
func kth(sums []uint32, k int) uint32 {
	var counts [sizes]uint32
	count(&counts, sums)
	return kthSize(&counts, k)
}

// count counts sums by size.
func count(counts *[sizes]uint32, sums []uint32) {
	for _, sum := range sums {
		counts[size(sum)]++
	}
}

// highest is the highest of the first eight.
func highest(sums []uint32) uint32 {
	s := (*[8]uint32)(sums)
	return max(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
}

// kthSize returns the least sum of the size that the k-th largest of those
// counted has, or 1 if there are fewer.
func kthSize(counts *[sizes]uint32, k int) uint32 {
	n := 0
	for s := uint32(sizes - 1); s > 0; s-- {
		n += int(counts[s])
		if n >= k {
			return uint32(math.Float32frombits((s + size1) << sizeShift))
		}
	}
	return 1
}

// The size of a sum is its logarithm, roughly: the upper bits of its floating
// point form.
const (
	sizeShift = 23 - 6
	size1     = 127<<(23-sizeShift) - 1 // of a sum of 1, before it is made 1
	sizes     = 33 << (23 - sizeShift)  // of sums up to twice sumUnits, and more
)

// size is 0 of 0, and grows with sum.
func size(sum uint32) uint32 {
	return max(math.Float32bits(float32(sum))>>sizeShift, size1) - size1
}
