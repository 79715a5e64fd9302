package postings

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// ahead is how many postings before they are needed the processor is asked for
// them. Its own look-ahead ends with the page of 4 KiB, which is 2,048 offsets,
// and with the list.
const ahead = 2048

// addSteps adds code times step to the sum at the offset of each posting of l.
// The list that comes after it is then.
func addSteps(sums *[1 << windowBits]uint32, l, then list, step uint32) {
	n := len(l.offsets) &^ 7
	if !hasAVX2 || n == 0 || len(l.codes) != len(l.offsets) {
		addStepsGo(sums, l, step)
		return
	}
	done := 0
	if n > ahead {
		done = n - ahead
		addStepsAVX2(&sums[0], &l.offsets[0], &l.codes[0], done, step, &l.offsets[ahead], &l.codes[ahead])
	}
	// What is asked for may lie beyond then: it is only asked for.
	if len(then.offsets) == 0 {
		then = l
	}
	addStepsAVX2(&sums[0], &l.offsets[done], &l.codes[done], n-done, step, &then.offsets[0], &then.codes[0])
	addStepsGo(sums, list{l.offsets[n:], l.codes[n:]}, step)
}

// next returns the first place at or after at with a sum of at least needed,
// which is above 0 and, as all sums are, below twice sumUnits; len(sums) if
// there is none.
func next(sums []uint32, at int, needed uint32) int {
	const turn = 32
	if n := (len(sums) - at) / turn * turn; hasAVX2 && n > 0 {
		at += nextAVX2(&sums[at], n, int32(needed-1))
	}
	return nextGo(sums, at, needed)
}

// addStepsAVX2 adds n postings, a multiple of 8 and not 0, and asks for as many
// at nextOffsets and nextCodes.
//
//go:noescape
func addStepsAVX2(sums *uint32, offsets *uint16, codes *uint8, n int, step uint32, nextOffsets *uint16, nextCodes *uint8)

// nextAVX2 returns the first multiple of 32 such that one of the 32 sums from
// there on is above least, or n, which is a multiple of 32 and not 0.
//
//go:noescape
func nextAVX2(sums *uint32, n int, least int32) int
