package hnsw

import (
	"math"

	"github.com/braid-search/braid/index/dense/quant"
	"github.com/braid-search/braid/index/dense/simd"
)

// probe is a quantised vector: codes of length scale⁻¹, so that codes times scale
// has length 1.
type probe struct {
	codes []int8
	scale float32
}

// unitNorm is the length of codes times scale, at most.
const unitNorm = 1 + 1.0/(1<<20)

// quantise writes v to codes and returns the scale. The inner product of two unit vectors is then off by about
// a third of a step: 0.0005 for the embeddings this was measured on, a tenth of
// the distance between neighbours in a ranking. Scaling to length 1 keeps the
// errors of the lengths from making some nodes everybody's neighbours.
func quantise(v []float32, codes []int8) float32 {
	if quant.Encode(v, codes) == 0 {
		return 0
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
