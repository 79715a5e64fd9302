package topk_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
)

func ExampleCollector() {
	c := topk.NewCollector(topk.Scan{K: 2})
	c.Offer(7, 0.5)
	c.Offer(3, 0.5)
	c.Offer(9, 0.25)
	c.Offer(1, 0.5)
	fmt.Println(c.Matches())
	// Output: [{1 0.5} {3 0.5}]
}

// TestCollectorEqualsSort compares the collector with sorting everything, on
// scores with many ties and an order among ties that is not the ordinals'.
func TestCollectorEqualsSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "n") * rapid.SampledFrom([]int{1, 5}).Draw(t, "times")
		rank := rapid.Permutation(ordinals(n)).Draw(t, "rank")
		order := rapid.Permutation(ordinals(n)).Draw(t, "order")
		near := math.Nextafter(0.5, 1)
		scores := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom([]float64{math.Inf(-1), -1, math.Copysign(0, -1), 0, 0.25, 0.5, near, math.Nextafter(near, 1), 1e300, math.Inf(1)}),
			rapid.Float64Range(-2, 2),
		), n, n).Draw(t, "scores")
		modulus := rapid.Uint32Range(1, 4).Draw(t, "modulus")

		scan := topk.Scan{
			K:      rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(100, 310)).Draw(t, "k"),
			Before: func(a, b uint32) bool { return rank[a] < rank[b] },
		}
		if modulus > 1 {
			scan.Allowed = docset.Where(uint32(n), func(ord uint32) bool { return ord%modulus == 0 })
		}
		c := topk.NewCollector(scan)
		for _, ord := range order {
			floor := c.Floor()
			c.Offer(ord, scores[ord])
			if c.Floor() < floor {
				t.Fatalf("floor sank from %v to %v", floor, c.Floor())
			}
		}

		var want []topk.Match
		for _, ord := range ordinals(n) {
			if ord%modulus == 0 {
				want = append(want, topk.Match{Ord: ord, Score: scores[ord]})
			}
		}
		slices.SortFunc(want, func(a, b topk.Match) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(rank[a.Ord], rank[b.Ord]))
		})
		want = want[:min(len(want), scan.K)]
		if got := c.Matches(); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestCollectorEdges(t *testing.T) {
	c := topk.NewCollector(topk.Scan{K: 3})
	if got := c.Matches(); len(got) != 0 {
		t.Errorf("nothing offered: got %v", got)
	}
	c.Offer(1, math.NaN())
	c.Offer(2, math.Inf(-1))
	if got, want := c.Matches(), []topk.Match{{Ord: 2, Score: math.Inf(-1)}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: NaN is no match", got, want)
	}
	c.Offer(5, 1)
	if got, want := c.Matches(), []topk.Match{{Ord: 5, Score: 1}}; !slices.Equal(got, want) {
		t.Errorf("used again: got %v, want %v", got, want)
	}
	none := topk.NewCollector(topk.Scan{})
	none.Offer(1, 1)
	if got := none.Matches(); len(got) != 0 {
		t.Errorf("K 0: got %v", got)
	}
	all := topk.NewCollector(topk.Scan{K: math.MaxInt})
	all.Offer(1, 1)
	if got := all.Matches(); len(got) != 1 {
		t.Errorf("K beyond what is offered: got %v", got)
	}
}

func ordinals(n int) []uint32 {
	ords := make([]uint32, n)
	for i := range ords {
		ords[i] = uint32(i)
	}
	return ords
}
