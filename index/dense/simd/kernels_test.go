package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

type kernel struct {
	name     string
	dot      func(a, b *float32, n int) float32
	dot4     func(q, a, b, c, d *float32, n int, out *[4]float32)
	dotInt8  func(a, b *int8, n int) int32
	dot4Int8 func(q, a, b, c, d *int8, n int, out *[4]int32)
}

var portable = kernel{"portable", dotGo, dot4Go, dotInt8Go, dot4Int8Go}

// longest is the greatest length tested: past several times what the widest
// loop takes at once, with every remainder.
const longest = 1025

// TestKernelsEqualReference compares every kernel with plain loops in every
// length, at starts that are not aligned, and asserts that one row and four
// rows at a time give the same bits.
func TestKernelsEqualReference(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, k := range kernels(t) {
		t.Run(k.name, func(t *testing.T) {
			for n := 1; n <= longest; n++ {
				var rows [5][]float32
				var bytes [5][]int8
				for i := range rows {
					from := random.IntN(17)
					rows[i] = floats(random, from+n+3)[from : from+n]
					bytes[i] = ints(random, from+n+3)[from : from+n]
				}
				var four [4]float32
				k.dot4(&rows[0][0], &rows[1][0], &rows[2][0], &rows[3][0], &rows[4][0], n, &four)
				var fourInt8 [4]int32
				k.dot4Int8(&bytes[0][0], &bytes[1][0], &bytes[2][0], &bytes[3][0], &bytes[4][0], n, &fourInt8)
				for i := range four {
					want, tolerance := reference(rows[0], rows[i+1])
					one := k.dot(&rows[0][0], &rows[i+1][0], n)
					if math.Abs(float64(one)-want) > tolerance {
						t.Fatalf("length %d: got %v, want %v ± %v", n, one, want, tolerance)
					}
					if one != four[i] {
						t.Fatalf("length %d, row %d: %v alone and %v among four", n, i, one, four[i])
					}
					oneInt8 := k.dotInt8(&bytes[0][0], &bytes[i+1][0], n)
					if want := referenceInt8(bytes[0], bytes[i+1]); oneInt8 != want || fourInt8[i] != want {
						t.Fatalf("int8, length %d, row %d: got %d alone and %d among four, want %d", n, i, oneInt8, fourInt8[i], want)
					}
				}
			}
		})
	}
}

// TestInt8Extremes holds the products of the largest components, where sums of
// pairs leave 16 bits, to the reference, at the greatest length that is exact.
func TestInt8Extremes(t *testing.T) {
	for _, k := range kernels(t) {
		for _, n := range []int{1, 15, 64, 131071} {
			for _, pair := range [][2]int8{{-128, -128}, {-128, 127}, {127, -128}, {127, 127}, {-127, 127}} {
				a, b := make([]int8, n), make([]int8, n)
				for i := range a {
					a[i], b[i] = pair[0], pair[1]
				}
				want := int32(n) * int32(pair[0]) * int32(pair[1])
				var four [4]int32
				k.dot4Int8(&a[0], &b[0], &b[0], &b[0], &b[0], n, &four)
				if got := k.dotInt8(&a[0], &b[0], n); got != want || four != [4]int32{want, want, want, want} {
					t.Fatalf("%s, %d of %v: got %d and %d, want %d", k.name, n, pair, got, four, want)
				}
			}
		}
	}
}

// TestKernelsPassSpecials asserts that what is not finite is not lost: an
// overflow or a NaN in any component shows in the product.
func TestKernelsPassSpecials(t *testing.T) {
	for _, k := range kernels(t) {
		for _, n := range []int{1, 7, 16, 33, 100, 384} {
			for at := range n {
				a, b := make([]float32, n), make([]float32, n)
				for i := range a {
					a[i], b[i] = 1, 1
				}
				a[at] = float32(math.NaN())
				if got := k.dot(&a[0], &b[0], n); got == got {
					t.Fatalf("%s, length %d: NaN at %d gives %v", k.name, n, at, got)
				}
				a[at] = float32(math.Inf(-1))
				if got := k.dot(&a[0], &b[0], n); !math.IsInf(float64(got), -1) {
					t.Fatalf("%s, length %d: -Inf at %d gives %v", k.name, n, at, got)
				}
			}
		}
	}
}

// reference is the inner product in float64, and how far one in float32 may be
// off: each of n additions rounds, to a relative 2⁻²⁴ of a sum that is at most
// that of the absolute values.
func reference(a, b []float32) (product, tolerance float64) {
	var size float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
		size += math.Abs(float64(a[i]) * float64(b[i]))
	}
	return product, size * float64(len(a)+1) * 0x1p-24
}

func referenceInt8(a, b []int8) int32 {
	var sum int32
	for i := range a {
		sum += int32(a[i]) * int32(b[i])
	}
	return sum
}

func floats(random *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(random.NormFloat64())
	}
	return v
}

func ints(random *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(random.IntN(256) - 128)
	}
	return v
}
