//go:build !amd64

package postings

func addSteps(sums *[1 << windowBits]uint32, l, _ list, step uint32) { addStepsGo(sums, l, step) }

func next(sums []uint32, at int, needed uint32) int { return nextGo(sums, at, needed) }
