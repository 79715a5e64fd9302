package hnsw_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
	"github.com/braid-search/braid/internal/testvec"
)

// TestHidden adds vectors while others search: none of those that are hidden is
// found, with and without a filter, by a walk or by a scan, and all when shown.
func TestHidden(t *testing.T) {
	const dim, n, step = 384, 800, 80 // two segments
	random := rand.New(rand.NewPCG(31, 32))
	vectors := make([][]float32, n)
	for i := range vectors {
		vectors[i] = testvec.Unit(random, dim)
		if i%7 == 6 {
			vectors[i] = vectors[i-1] // a twin, perhaps over the border
		}
	}
	g, err := hnsw.New(dim, hnsw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g.HideFrom(0)
	var shown, stop atomic.Int64
	var wg sync.WaitGroup
	everything := make([]uint32, n)
	for i := range everything {
		everything[i] = uint32(i)
	}
	for worker := range 2 {
		random := rand.New(rand.NewPCG(33, uint64(worker)))
		wg.Go(func() {
			for stop.Load() == 0 {
				scan := topk.Scan{K: 1 + random.IntN(20), Before: func(a, b uint32) bool { return a < b }}
				if random.IntN(3) == 0 {
					scan.Allowed = docset.Of(everything...)
				}
				end := shown.Load()
				matches, _, err := g.Search(context.Background(), vectors[random.IntN(n)], scan, 0)
				if err != nil {
					t.Error(err)
				}
				if shown.Load() != end {
					continue // some may have been shown before the search began
				}
				for _, m := range matches {
					if int64(m.Ord) >= end {
						t.Errorf("found %d, shown are those below %d", m.Ord, end)
					}
				}
			}
		})
	}
	for first := 0; first < n; first += step {
		for ord := first; ord < first+step; ord++ {
			if err := g.Add(uint32(ord), vectors[ord]); err != nil {
				t.Fatal(err)
			}
		}
		shown.Store(int64(first + step))
		g.HideFrom(uint32(first + step))
	}
	stop.Store(1)
	wg.Wait()
	g.HideFrom(n / 2)
	found := func(allowed *docset.Set) int {
		matches, _, err := g.Search(context.Background(), vectors[0], topk.Scan{K: n, Allowed: allowed, Before: func(a, b uint32) bool { return a < b }}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(matches)
	}
	if got := found(nil); got != n/2 {
		t.Errorf("half of them hidden: %d of %d found", got, n)
	}
	if got := found(docset.Of(everything...)); got != n/2 {
		t.Errorf("half of them hidden, filtered: %d of %d found", got, n)
	}
	g.HideFrom(n)
	if got := found(nil); got != n {
		t.Errorf("all shown: %d of %d found", got, n)
	}
}
