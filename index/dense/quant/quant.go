package quant

import "math"

const (
	// maxNorm is the length up to which inner products are bounded: no partial
	// sum of two such vectors overflows float32.
	maxNorm = 1e18
	// maxDim is the number of components up to which inner products of codes are
	// exact.
	maxDim = 131_071
	// up makes a float64 that is off by a few units in the last place, and what
	// it is as a float32, no smaller than it should be.
	up = 1 + 1.0/(1<<20)
)

// Encode writes v to codes, in steps of 1/127 of its largest component, and
// returns the step. It is 0, and so are the codes, of a vector of zeros and of
// components too small to be divided by.
func Encode(v []float32, codes []int8) (step float32) {
	var largest float32
	for _, x := range v {
		largest = max(largest, x, -x)
	}
	perStep := 127 / largest
	if perStep > math.MaxFloat32 || largest == 0 {
		clear(codes)
		return 0
	}
	for i, x := range v {
		// Rounded half up; the sum stays within 1.5 to 255.5.
		codes[i] = int8(int32(x*perStep+128.5) - 128)
	}
	return largest / 127
}

// Missed returns the length of what codes in units of scale leave out of v, and
// the length of v, both rounded up. Of a vector too long to be bounded the first
// is infinite.
func Missed(v []float32, codes []int8, scale float32) (missed, norm float32) {
	var rest, all float64
	for i, x := range v {
		d := float64(x) - float64(codes[i])*float64(scale)
		rest += d * d
		all += float64(x) * float64(x)
	}
	norm = roundUp(math.Sqrt(all))
	if norm > maxNorm {
		return float32(math.Inf(1)), norm
	}
	return roundUp(math.Sqrt(rest)), norm
}

// roundUp returns a float32 that is at least x, which is not negative and may be
// a little too small.
func roundUp(x float64) float32 {
	if x *= up; x > math.MaxFloat32 {
		return float32(math.Inf(1))
	}
	return float32(x) + math.SmallestNonzeroFloat32
}

// Query is a vector that rows are compared with.
type Query struct {
	Codes []int8

	scale  float64 // of a code's unit
	coded  float64 // |q̂|
	missed float64 // |q−q̂|
	norm   float64 // |q|
}

// NewQuery encodes v into codes, which are of its length and stay in use. It
// reports false if nothing can be bounded for v.
func NewQuery(v []float32, codes []int8) (q Query, ok bool) {
	step := Encode(v, codes)
	missed, norm := Missed(v, codes, step)
	// |q̂| ≤ |q| + |q−q̂|, and hardly less.
	q = Query{codes, float64(step), float64(norm) + float64(missed), float64(missed), float64(norm)}
	return q, norm <= maxNorm && len(v) <= maxDim
}

// Margin is how far an inner product may lie above that of the codes.
type Margin struct {
	scale float64 // of the query
	fixed float64 // for any row
	each  float64 // times what a row's codes miss
}

// Margin returns that of rows no longer than norm.
func (q *Query) Margin(norm float32) Margin {
	rounding := float64(len(q.Codes)+8) / (1 << 24) * up
	return Margin{
		scale: q.scale,
		fixed: (q.missed+rounding*q.norm)*float64(norm)*up + float64(len(q.Codes)+8)*math.SmallestNonzeroFloat32,
		each:  q.coded * up,
	}
}

// Bound returns what the inner product of the query and a row, as computed in
// float32, is at most: product is that of the codes, scale the row's and missed
// what its codes miss. It is not a number if nothing is known.
func (m *Margin) Bound(product int32, scale, missed float32) float32 {
	return float32(float64(product)*(m.scale*float64(scale)) + (m.fixed + m.each*float64(missed)))
}
