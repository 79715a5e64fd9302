package postings

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2

// ahead is how many postings before they are needed the processor is asked for
// them. Its own look-ahead ends with the page of 4 KiB, which is 2,048 offsets,
// and with the list.
const ahead = 2048

// addSteps adds code times step to the sum at the offset of each posting of l.
// The list that comes after it is then.
func addSteps(sums *[1 << windowBits]uint32, l, then coded, step uint32) {
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
	addStepsGo(sums, coded{l.offsets[n:], l.codes[n:]}, step)
}

// firstRun returns the first run from at on, a multiple of run, in which there is
// a sum of at least needed, and which of its sums are: bit i is sums[run+i]. The
// mask is 0 if there is none.
func firstRun(sums []uint32, at int, needed uint32) (int, uint32) {
	if n := (len(sums) - at) / run * run; hasAVX2 && n > 0 {
		offset, mask := firstRunAVX2(&sums[at], n, int32(needed))
		if at += offset; mask != 0 {
			return at, mask
		}
	}
	return firstRunGo(sums, at, needed)
}

// addStepsAVX2 adds n postings, a multiple of 8 and not 0, and asks for as many
// at nextOffsets and nextCodes.
//
//go:noescape
func addStepsAVX2(sums *uint32, offsets *uint16, codes *uint8, n int, step uint32, nextOffsets *uint16, nextCodes *uint8)

// firstRunAVX2 is firstRun for n sums, a multiple of run and not 0, that are to be at
// least needed. It returns n and 0 if none is.
//
//go:noescape
func firstRunAVX2(sums *uint32, n int, needed int32) (at int, mask uint32)
