package hnsw

import (
	"math"

	"github.com/braid-search/braid/index/dense/simd"
)

// probe is a quantised vector: codes of length scale⁻¹, so that codes times scale
// has length 1.
type probe struct {
	codes []int8
	scale float32
}

// quantise writes v to codes, in steps of 1/127 of its largest component, and
// returns the scale. The inner product of two unit vectors is then off by about
// a third of a step: 0.0005 for the embeddings this was measured on, a tenth of
// the distance between neighbours in a ranking. Scaling to length 1 keeps the
// errors of the lengths from making some nodes everybody's neighbours.
func quantise(v []float32, codes []int8) float32 {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	if largest == 0 {
		clear(codes)
		return 0
	}
	perStep := 127 / largest
	for i, x := range v {
		// Rounded half up; the sum stays within 1.5 to 255.5.
		codes[i] = int8(int32(x*perStep+128.5) - 128)
	}
	return float32(1 / math.Sqrt(float64(simd.DotInt8(codes, codes))))
}

// probe is that of a node.
func (l *layout) probe(node uint32) probe {
	s, row := l.at(node)
	return probe{codes: s.codes[int(row)*l.dim:][:l.dim], scale: s.scales[row]}
}

// compare writes the inner products of p and the nodes, as quantised, to out.
// products is room for as many.
func (l *layout) compare(p probe, nodes []uint32, products []int32, out []float32) {
	simd.DotInt8Rows(p.codes, l.codes, l.shift, nodes, products)
	for i, n := range nodes {
		s, row := l.at(n)
		out[i] = float32(products[i]) * (p.scale * s.scales[row])
	}
}
