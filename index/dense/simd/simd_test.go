package simd_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/braid-search/braid/index/dense/simd"
)

func ExampleDotRows() {
	matrix := []float32{1, 0, 0, 1, 3, 4}
	out := make([]float32, 2)
	simd.DotRows([]float32{2, 1}, [][]float32{matrix}, 31, []uint32{2, 0}, out)
	fmt.Println(out)
	// Output: [10 2]
}

// TestRowsEqualSinglePairs asserts that rows scored together, gathered from
// blocks or in one piece, have the bits of a pair scored alone.
func TestRowsEqualSinglePairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{0, 1, 2, 31, 64, 100, 384, 385} {
		for rows := range 23 {
			const shift = 2
			query := normal(random, dim)
			flat := normal(random, rows*dim)
			var blocks [][]float32
			for from := 0; from < rows; from += 1 << shift {
				blocks = append(blocks, flat[from*dim:min(rows, from+1<<shift)*dim])
			}
			chosen := make([]uint32, rows)
			for i := range chosen {
				chosen[i] = random.Uint32N(uint32(rows))
			}
			all, gathered, piece := make([]float32, rows), make([]float32, rows), make([]float32, rows)
			simd.DotBlock(query, flat, all)
			simd.DotRows(query, blocks, shift, chosen, gathered)
			simd.DotRows(query, [][]float32{flat}, 31, chosen, piece)
			for i, r := range chosen {
				want := simd.Dot(query, flat[int(r)*dim:])
				if all[r] != want || gathered[i] != want || piece[i] != want {
					t.Fatalf("dim %d, row %d of %d: %v in a block, %v gathered, %v from one piece, %v alone", dim, r, rows, all[r], gathered[i], piece[i], want)
				}
			}
			bytes, small := int8s(random, rows*dim), int8s(random, dim)
			var byteBlocks [][]int8
			for from := 0; from < rows; from += 1 << shift {
				byteBlocks = append(byteBlocks, bytes[from*dim:min(rows, from+1<<shift)*dim])
			}
			products, picked := make([]int32, rows), make([]int32, rows)
			simd.DotInt8Block(small, bytes, products)
			simd.DotInt8Rows(small, byteBlocks, shift, chosen, picked)
			for i, r := range chosen {
				if want := simd.DotInt8(small, bytes[int(r)*dim:]); products[r] != want || picked[i] != want {
					t.Fatalf("dim %d, row %d of %d: %d in a block, %d gathered, %d alone", dim, r, rows, products[r], picked[i], want)
				}
			}
		}
	}
}

// TestShortRowsPanic asserts that a row that is not all there is refused before
// a kernel reads past it.
func TestShortRowsPanic(t *testing.T) {
	long, short := make([]float32, 8), make([]float32, 7, 8)
	bytes := make([]int8, 8)
	for name, call := range map[string]func(){
		"Dot":              func() { simd.Dot(long, short) },
		"DotInt8":          func() { simd.DotInt8(bytes, bytes[:7]) },
		"DotBlock":         func() { simd.DotBlock(long, make([]float32, 15), make([]float32, 2)) },
		"DotInt8Block":     func() { simd.DotInt8Block(bytes, make([]int8, 15), make([]int32, 2)) },
		"DotRows, row":     func() { simd.DotRows(long, [][]float32{make([]float32, 16)}, 31, []uint32{2}, make([]float32, 1)) },
		"DotRows, partial": func() { simd.DotRows(long, [][]float32{make([]float32, 15)}, 31, []uint32{1}, make([]float32, 1)) },
		"DotRows, block":   func() { simd.DotRows(long, [][]float32{make([]float32, 16)}, 1, []uint32{2}, make([]float32, 1)) },
		"DotInt8Rows":      func() { simd.DotInt8Rows(bytes, [][]int8{bytes[:7]}, 31, []uint32{0}, make([]int32, 1)) },
		"DotRows, out":     func() { simd.DotRows(long, [][]float32{make([]float32, 16)}, 1, []uint32{0, 1}, make([]float32, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}

// FuzzDot compares the kernels in use with loops, on components from outside.
func FuzzDot(f *testing.F) {
	f.Add([]byte{0, 0, 128, 63, 0, 0, 0, 64, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, data []byte) {
		half := len(data) / 2
		a, b := make([]int8, half), make([]int8, half)
		var want int32
		for i := range half {
			a[i], b[i] = int8(data[i]), int8(data[half+i])
			want += int32(a[i]) * int32(b[i])
		}
		if got := simd.DotInt8(a, b); got != want {
			t.Errorf("int8: got %d, want %d", got, want)
		}
		x, y := finite(data[:half]), finite(data[half:])
		n := min(len(x), len(y))
		x, y = x[:n], y[:n]
		var product, size float64
		for i := range x {
			product += float64(x[i]) * float64(y[i])
			size += math.Abs(float64(x[i]) * float64(y[i]))
		}
		// Below the smallest normal number what is rounded off is absolute.
		tolerance := float64(n+1) * (size*0x1p-24 + 0x1p-149)
		if got := float64(simd.Dot(x, y)); size < math.MaxFloat32 && !(math.Abs(got-product) <= tolerance) {
			t.Errorf("got %v, want %v ± %v", got, product, tolerance)
		}
	})
}

// finite reads numbers from data, leaving out NaN and infinities.
func finite(data []byte) []float32 {
	var v []float32
	for ; len(data) >= 4; data = data[4:] {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data))
		if x-x == 0 {
			v = append(v, x)
		}
	}
	return v
}

func normal(random *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(random.NormFloat64())
	}
	return v
}

func int8s(random *rand.Rand, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(random.IntN(256) - 128)
	}
	return v
}

// BenchmarkDot takes rows in random order from a matrix that fits the second
// cache, and from one that fits none, as a graph does; and in order, as a scan
// does. The time is of one row.
func BenchmarkDot(b *testing.B) {
	const dim, batch = 384, 16
	random := rand.New(rand.NewPCG(3, 4))
	query, query8 := normal(random, dim), int8s(random, dim)
	for _, size := range []struct {
		name string
		rows int
	}{{"cached", 256}, {"memory", 100_000}} {
		flat, flat8 := normal(random, size.rows*dim), int8s(random, size.rows*dim)
		out, out8 := make([]float32, batch), make([]int32, batch)
		// Enough random rows that their order is not learnt.
		order := make([]uint32, 1<<16)
		for i := range order {
			order[i] = random.Uint32N(uint32(size.rows))
		}
		run := func(name string, score func(at int)) {
			b.Run(size.name+"/"+name, func(b *testing.B) {
				for i := 0; i < b.N; i += batch {
					score(i)
				}
			})
		}
		one := func(dot func(x, y []float32) float32) func(int) {
			return func(at int) {
				for i, r := range order[at%len(order):][:batch] {
					out[i] = dot(query, flat[int(r)*dim:][:dim])
				}
			}
		}
		run("random/vek32.Dot", one(vek32.Dot))
		run("random/Dot", one(simd.Dot))
		run("random/DotRows", func(at int) {
			simd.DotRows(query, [][]float32{flat}, 31, order[at%len(order):][:batch], out)
		})
		run("random/DotInt8Rows", func(at int) {
			simd.DotInt8Rows(query8, [][]int8{flat8}, 31, order[at%len(order):][:batch], out8)
		})
		run("in-order/vek32.Dot", func(at int) {
			for i := range out {
				out[i] = vek32.Dot(query, flat[(at+i)%size.rows*dim:][:dim])
			}
		})
		run("in-order/DotBlock", func(at int) { simd.DotBlock(query, flat[at%(size.rows/batch*batch)*dim:], out) })
		run("in-order/DotInt8Block", func(at int) { simd.DotInt8Block(query8, flat8[at%(size.rows/batch*batch)*dim:], out8) })
	}
}
