package dense_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
	"github.com/braid-search/braid/internal/testvec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleExact() {
	x := dense.New(2)
	x.Put(0, []float32{1, 0})
	x.Put(1, []float32{0, 1})
	x.Put(2, []float32{0.6, 0.8})
	matches, err := x.Search(context.Background(), []float32{0, 1}, topk.Scan{K: 2})
	for _, m := range matches {
		fmt.Printf("%d %.1f\n", m.Ord, m.Score)
	}
	fmt.Println(err)
	// Output:
	// 1 1.0
	// 2 0.8
	// <nil>
}

// TestSearchEqualsBruteForce drives an index and a plain map through the same
// puts and removes and compares every ranking. Components are small integers,
// so that sums are exact in any order and ties are many; 3,000 components a
// row spread a few hundred ordinals over several blocks and goroutines.
func TestSearchEqualsBruteForce(t *testing.T) {
	for _, dim := range []int{1, 3, 33, 3000} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				x, model := dense.New(dim), map[uint32][]float32{}
				for range rapid.IntRange(0, 300).Draw(t, "steps") {
					ord := random.Uint32N(400)
					if random.IntN(4) == 0 {
						x.Remove(ord)
						delete(model, ord)
						continue
					}
					v := small(random, dim)
					x.Put(ord, v)
					model[ord] = slices.Clone(v)
					clear(v) // the index keeps a copy
				}
				query, q := small(random, dim), topk.Scan{K: rapid.IntRange(1, 500).Draw(t, "k")}
				if rapid.Bool().Draw(t, "filtered") {
					q.Allowed = docset.Where(1000, func(ord uint32) bool { return ord%3 == 0 })
				}
				got, err := x.Search(context.Background(), query, q)
				if err != nil {
					t.Fatal(err)
				}
				if want := bruteForce(model, query, q); !slices.Equal(got, want) {
					t.Fatalf("got %v\nwant %v", got, want)
				}
			})
		})
	}
}

// TestEqualVectorsTie asserts that equal vectors score bit-equal in every row
// position, for lengths on both sides of what the vector instructions take at
// a time.
func TestEqualVectorsTie(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{1, 7, 31, 32, 33, 127, 384, 1021} {
		x := dense.New(dim)
		v, query := testvec.Unit(random, dim), testvec.Unit(random, dim)
		for ord := range uint32(1500) {
			x.Put(ord, v)
		}
		got, err := x.Search(context.Background(), query, topk.Scan{K: 1500})
		if err != nil || len(got) != 1500 {
			t.Fatalf("dim %d: %d matches, error %v", dim, len(got), err)
		}
		for i, m := range got {
			if m.Ord != uint32(i) || m.Score != got[0].Score {
				t.Fatalf("dim %d: match %d is %v, the first %v", dim, i, m, got[0])
			}
		}
	}
}

// TestDotEqualsLoop compares the vector instructions with a float64 loop.
func TestDotEqualsLoop(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for dim := 1; dim < 600; dim++ {
		a, b := testvec.Unit(random, dim), testvec.Unit(random, dim)
		var want float64
		for i := range a {
			want += float64(a[i]) * float64(b[i])
		}
		if got := float64(simd.Dot(a, b)); math.Abs(got-want) > 1e-6 {
			t.Fatalf("dim %d: got %v, want %v", dim, got, want)
		}
	}
}

func TestEmptyAndRefilled(t *testing.T) {
	x := dense.New(4)
	x.Remove(9)
	search := func() []topk.Match {
		got, err := x.Search(context.Background(), []float32{1, 0, 0, 0}, topk.Scan{K: 5})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := search(); len(got) != 0 {
		t.Fatalf("empty index: %v", got)
	}
	for round := range 50 {
		x.Put(0, []float32{0.5, 0, 0, 0})
		if got := search(); !slices.Equal(got, []topk.Match{{Ord: 0, Score: 0.5}}) {
			t.Fatalf("round %d: %v", round, got)
		}
		x.Remove(0)
		if got := search(); len(got) != 0 {
			t.Fatalf("round %d, removed: %v", round, got)
		}
	}
	if got, want := x.MemoryBytes(), int64(1<<20+1<<18+1<<16*8+8); got != want {
		t.Errorf("memory after 50 rounds is %d, want %d: rows are used again", got, want)
	}
}

func TestSearchStopsWithContext(t *testing.T) {
	x := dense.New(384)
	for ord := range uint32(5000) {
		x.Put(ord, make([]float32, 384))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Search(ctx, make([]float32, 384), topk.Scan{K: 1}); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("got %v, want %s", err, braid.Canceled)
	}
}

func bruteForce(model map[uint32][]float32, query []float32, q topk.Scan) []topk.Match {
	var all []topk.Match
	for ord, v := range model {
		if q.Allowed != nil && !q.Allowed.Contains(ord) {
			continue
		}
		var score float64
		for i := range v {
			score += float64(v[i]) * float64(query[i])
		}
		all = append(all, topk.Match{Ord: ord, Score: score})
	}
	slices.SortFunc(all, func(a, b topk.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ord, b.Ord))
	})
	return all[:min(len(all), q.K)]
}

func small(random *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(random.IntN(5) - 2)
	}
	return v
}

func BenchmarkSearch(b *testing.B) {
	const dim = 384
	for _, n := range []int{5_000, 50_000} {
		random := rand.New(rand.NewPCG(5, 6))
		x := dense.New(dim)
		for ord := range uint32(n) {
			x.Put(ord, testvec.Unit(random, dim))
		}
		query := testvec.Unit(random, dim)
		b.Run(fmt.Sprintf("%dx%d", n, dim), func(b *testing.B) {
			for b.Loop() {
				if _, err := x.Search(context.Background(), query, topk.Scan{K: 100}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
