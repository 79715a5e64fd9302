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
	// Fine are the codes of what Codes miss, for Sharper.
	Fine []int8

	scale, fineScale   float64 // of a code's unit
	missed, fineMissed float64 // |q−q̂|, without and with the fine codes
	norm               float64 // |q|
}

// NewQuery encodes v into codes, which are twice its length and stay in use. It
// reports false if nothing can be bounded for v.
func NewQuery(v []float32, codes []int8) (q Query, ok bool) {
	q.Codes, q.Fine = codes[:len(v)], codes[len(v):2*len(v)]
	step := Encode(v, q.Codes)
	missed, norm := Missed(v, q.Codes, step)
	if !(norm <= maxNorm) || len(v) > maxDim {
		return q, false
	}
	rest := make([]float32, len(v))
	for i, x := range v {
		rest[i] = float32(float64(x) - float64(q.Codes[i])*float64(step))
	}
	fineStep := Encode(rest, q.Fine)
	fineMissed, _ := Missed(rest, q.Fine, fineStep)
	q.scale, q.fineScale = float64(step), float64(fineStep)
	// The rest was rounded, by half a unit in its last place or of the smallest.
	q.missed, q.norm = float64(missed), float64(norm)
	q.fineMissed = float64(fineMissed) + q.missed/(1<<24) + float64(len(v))*math.SmallestNonzeroFloat32
	return q, true
}

// Margin is how far the inner product of a query and a row may lie above that of
// their codes.
type Margin struct {
	scale, fineScale float64 // of the query
	fixed, fineFixed float64 // for any row, without and with the fine codes
	each             float64 // times what a row's codes miss
	fineEach         float64
}

// Margin returns that of rows no longer than norm.
func (q *Query) Margin(norm float32) Margin {
	n := len(q.Codes) + 8 // a few roundings more: of bounds
	rounding, smallest := q.norm*float64(n)/(1<<24), float64(n)*math.SmallestNonzeroFloat32
	m := Margin{
		scale: q.scale, fineScale: q.fineScale,
		fixed:     (q.missed+rounding)*float64(norm)*up + smallest,
		fineFixed: (q.fineMissed+rounding)*float64(norm)*up + smallest,
		each:      (q.norm + q.missed) * up, // at least |q̂|
		fineEach:  (q.norm + q.fineMissed) * up,
	}
	return m
}

// MarginOfCodes returns that of rows of which x̂ is no longer than norm.
func (q *Query) MarginOfCodes(norm float32) Margin {
	m, one := q.Margin(norm), q.Margin(1)
	m.each += one.fixed // |x| ≤ |x̂| + |x−x̂|
	m.fineEach += one.fineFixed
	return m
}

// Bound returns what the inner product of the query and a row, as computed in
// float32, is at most: product is that of the codes, scale the row's and missed
// what its codes miss. It is not a number if nothing is known.
func (m *Margin) Bound(product int32, scale, missed float32) float32 {
	return float32(float64(product)*(m.scale*float64(scale)) + (m.fixed + m.each*float64(missed)))
}

// Sharper returns a lower bound in place of a row's, from the product of the
// row's codes and the query's fine ones: what the query's codes miss no longer
// counts, which is about half of what a bound leaves open.
func (m *Margin) Sharper(bound float32, product int32, scale, missed float32) float32 {
	gain := m.fixed - m.fineFixed + (m.each-m.fineEach)*float64(missed)
	return float32(float64(bound) + (float64(product)*(m.fineScale*float64(scale)) - gain))
}
