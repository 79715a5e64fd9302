package sparse_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/topk"
)

func ExamplePostings() {
	p := sparse.New()
	p.Add(0, braid.SparseVector{Indices: []uint32{3, 7}, Values: []float32{1, 2}})
	p.Add(1, braid.SparseVector{Indices: []uint32{9}, Values: []float32{5}})
	query := braid.SparseVector{Indices: []uint32{3, 7}, Values: []float32{0.5, 0.25}}
	fmt.Println(p.Search(context.Background(), query, topk.Scan{K: 10}))
	// Output: [{0 1}] <nil>
}

// TestSearchEqualsBruteForce drives the index and a plain map through the same
// adds and removes, now and then with an ordinal used again, and compares
// rankings bit for bit.
func TestSearchEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		p, model, next := sparse.New(), map[uint32]braid.SparseVector{}, uint32(0)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			ord := next
			next++
			if random.IntN(2) == 0 {
				ord = random.Uint32N(next)
				p.Remove(ord)
				delete(model, ord)
			}
			if ord == next-1 || random.IntN(10) == 0 {
				v := vector(random, random.IntN(12), 40)
				model[ord] = braid.SparseVector{Indices: slices.Clone(v.Indices), Values: slices.Clone(v.Values)}
				p.Add(ord, v)
				clear(v.Indices) // the index keeps a copy
				clear(v.Values)
			}
			query, q := vector(random, random.IntN(8), 40), topk.Scan{K: 1 + random.IntN(70)}
			if random.IntN(2) == 0 {
				q.Allowed = docset.Where(1000, func(ord uint32) bool { return ord%3 == 0 })
			}
			got, err := p.Search(context.Background(), query, q)
			if err != nil {
				t.Fatal(err)
			}
			if want := bruteForce(model, query, q); !slices.Equal(got, want) {
				t.Fatalf("got %v\nwant %v", got, want)
			}
		}
		for ord := range model {
			p.Remove(ord)
		}
		if got, err := p.Search(context.Background(), vector(random, 20, 40), topk.Scan{K: 5}); err != nil || len(got) != 0 {
			t.Fatalf("all removed: got %v, error %v", got, err)
		}
	})
}

// TestExtremeWeights uses the smallest and largest weights there are, whose
// products are beyond float32.
func TestExtremeWeights(t *testing.T) {
	p := sparse.New()
	const index = math.MaxUint32
	p.Add(0, braid.SparseVector{Indices: []uint32{index}, Values: []float32{math.SmallestNonzeroFloat32}})
	p.Add(1, braid.SparseVector{Indices: []uint32{index}, Values: []float32{math.MaxFloat32}})
	for _, weight := range []float32{math.SmallestNonzeroFloat32, math.MaxFloat32} {
		query := braid.SparseVector{Indices: []uint32{index}, Values: []float32{weight}}
		got, err := p.Search(context.Background(), query, topk.Scan{K: 5})
		if err != nil || len(got) != 2 || got[0].Ord != 1 || math.IsInf(got[0].Score, 0) || !(got[1].Score > 0) {
			t.Errorf("weight %v: got %v, error %v", weight, got, err)
		}
	}
}

func TestSearchStopsWithContext(t *testing.T) {
	p := sparse.New()
	v := braid.SparseVector{Indices: []uint32{1}, Values: []float32{1}}
	p.Add(0, v)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Search(ctx, v, topk.Scan{K: 1}); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("got %v, want %s", err, braid.Canceled)
	}
	if got, err := p.Search(context.Background(), v, topk.Scan{K: 1}); err != nil || !slices.Equal(got, []topk.Match{{Ord: 0, Score: 1}}) {
		t.Errorf("after a stopped search: got %v, error %v", got, err)
	}
}

func bruteForce(model map[uint32]braid.SparseVector, query braid.SparseVector, q topk.Scan) []topk.Match {
	var all []topk.Match
	for ord, v := range model {
		if q.Allowed != nil && !q.Allowed.Contains(ord) {
			continue
		}
		sum, shared := 0.0, false
		for i, index := range query.Indices {
			if at, ok := slices.BinarySearch(v.Indices, index); ok {
				sum += float64(query.Values[i]) * float64(v.Values[at])
				shared = true
			}
		}
		if shared {
			all = append(all, topk.Match{Ord: ord, Score: sum})
		}
	}
	slices.SortFunc(all, func(a, b topk.Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Ord, b.Ord))
	})
	return all[:min(len(all), q.K)]
}

// vector returns n of the vocabulary's indices with weights that repeat.
func vector(random *rand.Rand, n, vocabulary int) braid.SparseVector {
	var v braid.SparseVector
	for _, index := range random.Perm(vocabulary)[:n] {
		v.Indices = append(v.Indices, uint32(index))
		w := float32(1+random.IntN(4)) / 3
		if random.IntN(40) == 0 {
			w *= 50 // most of all so far, at times
		}
		v.Values = append(v.Values, w)
	}
	slices.Sort(v.Indices)
	return v
}

// BenchmarkSearch uses vectors shaped like SPLADE's: 120 indices a document,
// 30 a query, frequencies falling as in Zipf's law.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		random := rand.New(rand.NewPCG(5, 6))
		zipf := rand.NewZipf(random, 1.1, 20, 30_521)
		p := sparse.New()
		for ord := range uint32(n) {
			p.Add(ord, skewed(zipf, 120))
		}
		query := skewed(zipf, 30)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.Search(context.Background(), query, topk.Scan{K: 100}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func skewed(zipf *rand.Zipf, n int) braid.SparseVector {
	seen := map[uint32]bool{}
	var v braid.SparseVector
	for len(v.Indices) < n {
		if index := uint32(zipf.Uint64()); !seen[index] {
			seen[index] = true
			v.Indices = append(v.Indices, index)
			v.Values = append(v.Values, 1/float32(len(v.Indices)))
		}
	}
	slices.Sort(v.Indices)
	return v
}
