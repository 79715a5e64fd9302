package postings

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/index/topk"
)

// TestFewEqualsBruteForce searches for rare terms in many windows, with ones that
// are not rare among them, documents removed and filters: some queries have few
// postings in all windows together, some in each, and some in none.
func TestFewEqualsBruteForce(t *testing.T) {
	ways := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		vocabulary := rapid.SampledFrom([]int{100, 1_000}).Draw(t, "vocabulary")
		n := uint32(rapid.IntRange(1, 3_000).Draw(t, "documents"))
		x, m := newIndex[float32](8), model{}
		for ord := range n {
			if ord/256 == 2 || random.IntN(20) == 0 {
				continue // one window is missing, others have gaps
			}
			m[ord] = draw(random, random.IntN(8), vocabulary)
			add(x, ord, m[ord])
		}
		for range rapid.IntRange(0, 200).Draw(t, "removals") {
			ord := random.Uint32N(n)
			x.Remove(ord)
			delete(m, ord)
		}
		for range 8 {
			q := query(draw(random, 2+random.IntN(5), vocabulary))
			ways[way(x, q)]++
			scan := topk.Scan{K: 1 + random.IntN(12)}
			if random.IntN(2) == 0 {
				scan.Before = func(a, b uint32) bool { return a > b }
			}
			compare(t, x, m, q, scan)
			scan.Allowed = subset(random, n, 0.7)
			compare(t, x, m, q, scan)
		}
	})
	for _, want := range []string{"together", "some", "none"} {
		if ways[want] == 0 {
			t.Errorf("no query had few postings in %s of the windows: %v", want, ways)
		}
	}
}

// way says where q has few postings.
func way(x *Index[float32], q query) string {
	s := search[float32]{x: x, query: q.build(false), scratch: x.scratch.Get().(*scratch[float32])}
	defer x.scratch.Put(s.scratch)
	s.find(0, x.windows)
	if areFew(x.windows, s.near) {
		return "together"
	}
	for number := range x.windows {
		s.turnTo(number)
		if areFew(x.windows[number:number+1], s.lists) {
			return "some"
		}
	}
	return "none"
}
