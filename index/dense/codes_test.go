package dense_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
	"github.com/braid-search/braid/internal/testvec"
)

// TestCodesFindWhatFloatsFind compares searches of more rows than are compared
// without a look at their codes with the comparison of all in float32, to the
// bit: of vectors of all lengths, many of them equal or nearly so.
func TestCodesFindWhatFloatsFind(t *testing.T) {
	for _, dim := range []int{1, 5, 64, 385} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				drawn := kinds[rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")]
				mixed := rapid.Bool().Draw(t, "mixed")
				x, model := dense.New(dim), map[uint32][]float32{}
				n := rapid.Uint32Range(500, 900).Draw(t, "n")
				if dim < 100 {
					n *= 3
				}
				for ord := range n {
					kind := drawn
					if mixed {
						kind = kinds[random.IntN(len(kinds))]
					}
					model[ord] = kind(random, dim)
					if other, ok := model[random.Uint32N(n)]; ok && random.IntN(4) == 0 {
						model[ord] = other
					}
					x.Put(ord, model[ord])
				}
				for range rapid.IntRange(0, 100).Draw(t, "removed") {
					ord := random.Uint32N(n)
					x.Remove(ord)
					delete(model, ord)
				}
				for range 3 {
					query := kinds[random.IntN(len(kinds))](random, dim)
					if other, ok := model[random.Uint32N(n)]; ok && random.IntN(2) == 0 {
						query = other
					}
					q := topk.Scan{K: rapid.SampledFrom([]int{1, 2, 10, 60, 500, math.MaxInt}).Draw(t, "k")}
					switch random.IntN(4) {
					case 0:
						q.Allowed = docset.Where(n-100, func(uint32) bool { return random.IntN(10) > 0 })
					case 1:
						q.Before = func(a, b uint32) bool { return a > b }
					}
					got, err := x.Search(t.Context(), query, q)
					if err != nil {
						t.Fatal(err)
					}
					if want := floats(model, query, q); !slices.Equal(got, want) {
						t.Fatalf("got %v\nwant %v", got, want)
					}
				}
			})
		})
	}
}

// TestCodesOnAllCores compares searches that several goroutines share.
func TestCodesOnAllCores(t *testing.T) {
	const dim, n = 20_000, 1000
	random := rand.New(rand.NewPCG(6, 7))
	x, model := dense.New(dim), map[uint32][]float32{}
	v := testvec.Unit(random, dim)
	for ord := range uint32(n) {
		for range dim / 10 {
			v[random.IntN(dim)] = float32(random.NormFloat64()) / 150
		}
		x.Put(ord, v)
		model[ord] = slices.Clone(v)
	}
	for _, ord := range []uint32{0, n / 2, n - 1} {
		for _, k := range []int{1, 50, n} {
			q := topk.Scan{K: k}
			got, err := x.Search(t.Context(), model[ord], q)
			if want := floats(model, model[ord], q); err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, %v\nwant %v", got, err, want)
			}
		}
	}
}

// TestAllRemoved asserts that rows which are not there are not found by their codes.
func TestAllRemoved(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	x := dense.New(8)
	for ord := range uint32(2000) {
		x.Put(ord, testvec.Unit(random, 8))
	}
	for _, k := range []int{-400, -1, 0} {
		if got, err := x.Search(t.Context(), testvec.Unit(random, 8), topk.Scan{K: k}); len(got) > 0 || err != nil {
			t.Errorf("K %d: %v, %v", k, got, err)
		}
	}
	for ord := range uint32(2000) {
		x.Remove(ord)
	}
	if got, err := x.Search(t.Context(), testvec.Unit(random, 8), topk.Scan{K: 5}); len(got) > 0 || err != nil {
		t.Errorf("all removed: %v, %v", got, err)
	}
}

// kinds draw vectors.
var kinds = []func(*rand.Rand, int) []float32{
	testvec.Unit,
	small, // and with few components often zeros
	func(_ *rand.Rand, dim int) []float32 { return make([]float32, dim) },
	// Near to each other.
	func(random *rand.Rand, dim int) []float32 {
		v := scaled(testvec.Unit(random, dim), 1e-4)
		v[0]++
		return v
	},
	// One component makes the steps of the others coarse.
	func(random *rand.Rand, dim int) []float32 {
		v := testvec.Unit(random, dim)
		v[random.IntN(dim)] = 100
		return v
	},
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), 1e-44) },
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), 1e-36) },
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), 1e-19) },
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), 1e17) },
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), 1e19) },
	func(random *rand.Rand, dim int) []float32 { return scaled(testvec.Unit(random, dim), math.MaxFloat32) },
}

func scaled(v []float32, by float32) []float32 {
	for i := range v {
		v[i] *= by
	}
	return v
}

// floats is a search by comparing all in float32.
func floats(model map[uint32][]float32, query []float32, q topk.Scan) []topk.Match {
	c := topk.NewCollector(q)
	for ord, v := range model {
		c.Offer(ord, float64(simd.Dot(v, query)))
	}
	return c.Matches()
}
