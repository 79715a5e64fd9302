package hnsw_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// TestConcurrent adds, removes, searches, vacuums and saves at the same time,
// and then asserts that what should be there is found, and nothing else.
func TestConcurrent(t *testing.T) {
	const n, adders = 2000, 4
	w := newWorld(t, 20)
	for range n {
		w.vectors = append(w.vectors, w.draw())
	}
	// Some equal ones, and so twins.
	for ord := 100; ord < n; ord += 50 {
		w.vectors[ord] = w.vectors[ord-100]
	}
	query := w.draw()
	goes := func(ord int) bool { return ord%4 == 0 }

	var wg sync.WaitGroup
	var next, added, failed atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	fail := func(format string, args ...any) {
		t.Errorf(format, args...)
		failed.Add(1)
		stop()
	}
	for range adders {
		wg.Go(func() {
			var own []int // added here, to be removed
			for ord := int(next.Add(1)) - 1; ord < n && ctx.Err() == nil; ord = int(next.Add(1)) - 1 {
				if err := w.graph.Add(uint32(ord), w.vectors[ord]); err != nil {
					fail("add: %v", err)
				}
				if goes(ord) {
					own = append(own, ord)
				}
				if len(own) > 10 {
					w.graph.Remove(uint32(own[0]))
					own = own[1:]
				}
				if added.Add(1) == n {
					stop()
				}
			}
		})
	}
	until := func(work func(random *rand.Rand)) {
		seed := uint64(next.Load())
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, 2))
			for ctx.Err() == nil {
				work(random)
			}
		})
	}
	for range 2 {
		until(func(random *rand.Rand) {
			scan := topk.Scan{K: 1 + random.IntN(30)}
			if random.IntN(2) == 0 {
				scan.Allowed = docset.Where(n, func(ord uint32) bool { return ord%3 != 0 })
			}
			got, _, err := w.graph.Search(t.Context(), query, scan, 0)
			if err != nil {
				fail("search: %v", err)
			}
			for i, m := range got {
				if i > 0 && m.Score > got[i-1].Score || scan.Allowed != nil && !scan.Allowed.Contains(m.Ord) {
					fail("search: match %d of %v", i, got)
				}
			}
		})
	}
	until(func(*rand.Rand) {
		if err := w.graph.Vacuum(t.Context()); err != nil {
			fail("vacuum: %v", err)
		}
	})
	until(func(*rand.Rand) {
		var b bytes.Buffer
		s := snapshot.NewWriter(&b, "test", 2)
		w.graph.Save(s)
		if err := s.Close(); err != nil {
			fail("save: %v", err)
		}
		if g, err := load(b.Bytes(), n, dim); err != nil {
			fail("load: %v", err)
		} else if g.Len() > n {
			fail("%d vectors after loading", g.Len())
		}
	})
	wg.Wait()
	if failed.Load() > 0 {
		return
	}
	for ord := range n {
		if goes(ord) {
			w.remove(ord)
		}
	}
	if got, want := w.graph.Len(), len(w.live()); got != want {
		t.Fatalf("length %d, want %d", got, want)
	}
	w.mustRecall("made by many")
	w.mustFindEach("made by many")
	w.vacuum()
	w.mustRecall("made by many, vacuumed")
	w.mustFindEach("made by many, vacuumed")
	w.use(reloaded(t, w.graph))
	w.mustRecall("made by many, loaded")
}

// TestRefillByMany empties a graph, with or without Vacuum, and lets several
// goroutines add the next first nodes at once.
func TestRefillByMany(t *testing.T) {
	w := newWorld(t, 21)
	for round := range 30 {
		first := len(w.vectors)
		for range 60 {
			w.vectors = append(w.vectors, w.draw())
		}
		var wg sync.WaitGroup
		for part := range 4 {
			wg.Go(func() {
				for ord := first + part; ord < first+60; ord += 4 {
					if err := w.graph.Add(uint32(ord), w.vectors[ord]); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if n := hnsw.Unreachable(w.graph); n > 0 {
			t.Fatalf("round %d: %d vectors are out of reach", round, n)
		}
		w.search(w.draw(), topk.Scan{K: 100}, 0)
		for _, ord := range w.live() {
			w.remove(ord)
		}
		if round%3 == 0 {
			w.vacuum()
		}
	}
}
