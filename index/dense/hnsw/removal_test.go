package hnsw_test

import (
	"fmt"
	"testing"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/topk"
)

// TestChurn replaces half of the vectors again and again, by chance or cluster
// after cluster, and searches before and after each Vacuum.
func TestChurn(t *testing.T) {
	for _, how := range []string{"by chance", "oldest first"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t, 3)
			w.ef = 32 // or all would be compared when half is removed
			hnsw.PreferWalksTo(w.graph, 12)
			w.grow(2400)
			for round := range 2 {
				ords := w.live()
				if how == "by chance" {
					w.random.Shuffle(len(ords), func(i, j int) { ords[i], ords[j] = ords[j], ords[i] })
				}
				for _, ord := range ords[:1200] {
					w.remove(ord)
				}
				if got, want := w.graph.Removed(), 1200; got != want {
					t.Fatalf("%d removed, want %d", got, want)
				}
				if round%2 == 0 {
					w.mustRecall(fmt.Sprintf("round %d, half removed", round))
					w.vacuum()
					w.mustRecall(fmt.Sprintf("round %d, vacuumed", round))
					w.grow(1200)
				} else {
					w.grow(1200)
					w.mustRecall(fmt.Sprintf("round %d, replaced", round))
					w.vacuum()
				}
				w.mustRecall(fmt.Sprintf("round %d", round))
			}
			w.mustFindEach("in the end")
			if got, want := w.graph.Len(), len(w.live()); got != want {
				t.Errorf("length %d, want %d", got, want)
			}
		})
	}
}

// TestEmptyAndRefilled removes everything and fills the graph again, with and
// without Vacuum in between.
func TestEmptyAndRefilled(t *testing.T) {
	w := newWorld(t, 4)
	for round := range 4 {
		w.grow(1300)
		if recall, _ := w.recall(50, nil); recall < 0.97 {
			t.Errorf("round %d: recall %.4f, want 0.97", round, recall)
		}
		for _, ord := range w.live() {
			w.remove(ord)
			w.graph.Remove(uint32(ord)) // nothing is there any more
		}
		w.search(w.draw(), topk.Scan{K: 10}, 0)
		if n := w.graph.Len(); n != 0 {
			t.Fatalf("%d vectors are left", n)
		}
		if round%2 == 0 {
			w.vacuum()
		}
	}
	for range 50 {
		w.grow(1)
		w.search(w.vectors[len(w.vectors)-1], topk.Scan{K: 1}, 0)
		w.remove(len(w.vectors) - 1)
		w.search(w.draw(), topk.Scan{K: 1}, 0)
	}
}

// TestEntryRemoved removes the vector that searches begin at until none is left.
func TestEntryRemoved(t *testing.T) {
	w := newWorld(t, 14)
	w.grow(600)
	for round := 0; w.graph.RemoveEntry(); round++ {
		for ord := range w.vectors {
			if w.vectors[ord] != nil && !hnsw.Live(w.graph, uint32(ord)) {
				w.vectors[ord] = nil
			}
		}
		if got, want := w.graph.Len(), len(w.live()); got != want {
			t.Fatalf("length %d, want %d", got, want)
		}
		w.search(w.draw(), topk.Scan{K: 5}, 0)
		w.vacuum()
		if n := hnsw.Unreachable(w.graph); n > 0 {
			t.Fatalf("round %d: %d of %d vectors are out of reach", round, n, w.graph.Len())
		}
		if round%7 == 0 {
			w.grow(1)
		}
	}
	if n := w.graph.Len(); n > 0 {
		t.Fatalf("nothing to begin at, and %d vectors", n)
	}
	w.grow(1500)
	w.mustRecall("filled again")
}
