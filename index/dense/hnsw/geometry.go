package hnsw

import (
	"math"
	"math/bits"
)

const (
	// segmentFloats is about how many components one segment holds: 1 MiB.
	segmentFloats = 1 << 18
	// A segment has 1<<minShift to 1<<maxShift nodes.
	minShift = 6
	maxShift = 12
	// maxLevel is the highest layer. 4,096 nodes have at most 61,440 layers above
	// the bottom, which 16 bits count.
	maxLevel = 15
	// lastNode is the highest number a node can have: a link is one more.
	lastNode = math.MaxUint32 - 1
)

// geometry is what does not change while a graph lives.
type geometry struct {
	dim  int
	opts Options
	// shift and mask split the number of a node into that of its segment and its
	// row there.
	shift uint
	mask  uint32
}

func newGeometry(dim int, opts Options) geometry {
	rows := max(1, segmentFloats/dim)
	shift := uint(max(minShift, min(maxShift, bits.Len(uint(rows))-1)))
	return geometry{dim: dim, opts: opts, shift: shift, mask: 1<<shift - 1}
}

// rows is the number of nodes in a segment.
func (g *geometry) rows() uint32 { return g.mask + 1 }

// level is the highest layer a node is in: l or higher with probability M to the
// -l (Malkov and Yashunin 2016, with their choice of mL = 1/ln(M)), drawn from
// the seed and the node's number by the finaliser of SplitMix64 (Steele, Lea and
// Flood 2014).
func (g *geometry) level(node uint32) int {
	x := g.opts.Seed + (uint64(node)+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	level, below := 0, math.MaxUint64/uint64(g.opts.M)
	for ; x < below && level < maxLevel; below /= uint64(g.opts.M) {
		level++
	}
	return level
}

// width is how many links a node keeps in a layer.
func (g *geometry) width(layer int) int {
	if layer == 0 {
		return 2 * g.opts.M
	}
	return g.opts.M
}
