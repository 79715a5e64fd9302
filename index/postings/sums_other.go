//go:build !amd64

package postings

func addSteps(sums *[1 << windowBits]uint32, l, _ coded, step uint32) { addStepsGo(sums, l, step) }

func firstRun(sums []uint32, at int, needed uint32) (int, uint32) {
	return firstRunGo(sums, at, needed)
}
