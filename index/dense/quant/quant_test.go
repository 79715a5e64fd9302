package quant_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/index/dense/quant"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/internal/testvec"
)

func ExampleQuery() {
	row, codes := []float32{0.6, 0.8}, make([]int8, 2)
	scale := quant.Encode(row, codes)
	missed, norm := quant.Missed(row, codes, scale)
	query, _ := quant.NewQuery([]float32{1, 0}, make([]int8, 4))
	margin := query.Margin(norm)
	bound := margin.Bound(simd.DotInt8(query.Codes, codes), scale, missed)
	fmt.Println(codes, bound >= 0.6, bound < 0.61)
	// Output: [95 127] true true
}

// TestBoundHolds compares bounds with products, of vectors from the smallest to
// the largest numbers there are.
func TestBoundHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 300).Draw(t, "dim")
		component := rapid.OneOf(rapid.Float32Range(-1, 1), rapid.Float32(), rapid.SampledFrom([]float32{0, 1, -1, 127, 1e-45, 3e38}))
		draw := func(name string) []float32 {
			v := rapid.SliceOfN(component, dim, dim).Draw(t, name)
			for i, by := 0, rapid.SampledFrom([]float32{1, 1e-20, 1e-38, 1e17}).Draw(t, name+" by"); i < dim; i++ {
				v[i] *= by
			}
			return v
		}
		check(t, draw("query"), draw("row"))
	})
}

func FuzzBound(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 63}, []byte{0, 0, 128, 63, 1, 0, 0, 0})
	f.Add([]byte{255, 255, 127, 127}, []byte{1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		query, row := numbers(a), numbers(b)
		if n := min(len(query), len(row)); n > 0 {
			check(t, query[:n], row[:n])
		}
	})
}

func numbers(b []byte) (v []float32) {
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, math.Float32frombits(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24))
	}
	return v
}

// check asserts that the bounds of a product hold.
func check(t interface {
	Fatalf(string, ...any)
}, query, row []float32) {
	codes := make([]int8, len(row))
	scale := quant.Encode(row, codes)
	missed, norm := quant.Missed(row, codes, scale)
	q, ok := quant.NewQuery(query, make([]int8, 2*len(query)))
	if !ok {
		return
	}
	product, got := simd.DotInt8(q.Codes, codes), simd.Dot(query, row)
	fine := simd.DotInt8(q.Fine, codes)
	margins := []quant.Margin{q.Margin(norm)}
	if coded := math.Sqrt(float64(simd.DotInt8(codes, codes))) * float64(scale) * (1 + 1e-6); coded <= math.MaxFloat32 {
		margins = append(margins, q.MarginOfCodes(float32(coded)))
	}
	for _, margin := range margins {
		bound := margin.Bound(product, scale, missed)
		if sharper := margin.Sharper(bound, fine, scale, missed); bound < got || sharper < got {
			t.Fatalf("the product is %v, its bounds %v and %v", got, bound, sharper)
		}
	}
}

// TestBoundIsNear asserts that bounds of unit vectors leave little room: an
// infinite one would hold too.
func TestBoundIsNear(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		query, row := testvec.Unit(random, 384), testvec.Unit(random, 384)
		codes := make([]int8, len(row))
		scale := quant.Encode(row, codes)
		missed, norm := quant.Missed(row, codes, scale)
		q, ok := quant.NewQuery(query, make([]int8, 2*len(query)))
		margin := q.Margin(norm)
		got, bound := simd.Dot(query, row), margin.Bound(simd.DotInt8(q.Codes, codes), scale, missed)
		sharper := margin.Sharper(bound, simd.DotInt8(q.Fine, codes), scale, missed)
		if !ok || bound > got+0.03 || sharper > got+0.015 {
			t.Fatalf("the product is %v, its bounds %v and %v, %t", got, bound, sharper, ok)
		}
	}
}

// TestQueriesThatBoundNothing asserts that they are told.
func TestQueriesThatBoundNothing(t *testing.T) {
	for name, v := range map[string][]float32{
		"long":         {1e19, 0},
		"infinite":     {float32(math.Inf(1)), 0},
		"not a number": {float32(math.NaN()), 0},
		"of many":      make([]float32, 131_072),
	} {
		if _, ok := quant.NewQuery(v, make([]int8, 2*len(v))); ok {
			t.Errorf("%s: inner products are bounded", name)
		}
	}
}

// TestBestEqualsSort compares what is collected with sorting all.
func TestBestEqualsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := rapid.SliceOf(rapid.OneOf(rapid.Float32(), rapid.Just(float32(math.NaN())))).Draw(t, "bounds")
		k := rapid.IntRange(1, 20).Draw(t, "k")
		var parts [2]quant.Best
		for i := range parts {
			parts[i].Reset(k)
		}
		for row, b := range bounds {
			parts[row%2].Offer(b, uint32(row))
		}
		parts[0].Merge(&parts[1])
		rows := parts[0].Rows(nil)
		kept, lowest := map[uint32]bool{}, float32(math.Inf(1))
		for _, row := range rows {
			kept[row] = true
			lowest = min(lowest, bounds[row])
		}
		finite := 0
		for row, b := range bounds {
			if b == b {
				finite++
			}
			if b > lowest && !kept[uint32(row)] {
				t.Fatalf("row %d, bound %v, is not among %v", row, b, rows)
			}
		}
		if len(kept) != len(rows) || len(rows) != min(k, finite) {
			t.Fatalf("%d of %d rows kept, want %d: %v", len(rows), finite, k, rows)
		}
	})
}
