package hnsw_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
)

// TestScansAreExact asserts that a scan, which compares codes first, returns
// exactly the best: also among equal vectors, ones that are not of length 1, and
// when some are removed or hidden.
func TestScansAreExact(t *testing.T) {
	w := newWorld(t, 50)
	one := w.draw()
	for i := range 3000 {
		v := w.draw()
		switch {
		case i%7 == 0:
			v = slices.Clone(one)
		case i%50 == 1:
			v = make([]float32, dim)
		case i%50 == 2:
			scale(v, []float32{1e-30, 1e-3, 30, 1e15, 1e18}[i/50%5])
		}
		w.add(v)
		if i%11 == 0 {
			w.remove(i)
		}
	}
	for _, modulus := range []uint32{5, 2, 3, 2} {
		if modulus == 3 {
			hnsw.SplitScans(w.graph) // these and those after them: on all cores
		}
		for _, k := range []int{1, 10, 100, 2000} {
			t.Run(fmt.Sprint(modulus, k), func(t *testing.T) {
				for i := range 20 {
					scan := topk.Scan{K: k, Allowed: docset.Where(2900, func(ord uint32) bool { return ord%modulus == 0 })}
					if i%2 == 0 {
						scan.Before = func(a, b uint32) bool { return a > b }
					}
					query := w.draw()
					switch i % 5 {
					case 1:
						query = one
					case 2:
						scale(query, 1e-20)
					case 3:
						scale(query, 1e17)
					}
					// So many candidates that a walk would be dearer.
					got, stats, err := w.graph.Search(t.Context(), query, scan, 2000)
					if want := w.truth(query, scan); err != nil || !stats.Scanned || !slices.Equal(got, want) {
						t.Fatalf("search %d, scanned %t, error %v:\ngot  %v\nwant %v", i, stats.Scanned, err, got, want)
					}
				}
			})
		}
	}
}

// TestFarFilterIsSeen asserts that a walk which comes by nothing that is allowed
// soon gives way to a scan, and that one to where all is allowed goes on though
// little is allowed elsewhere.
func TestFarFilterIsSeen(t *testing.T) {
	w := newWorld(t, 51)
	w.grow(6000)
	hnsw.PreferWalksTo(w.graph, 2)
	for _, c := range []struct {
		name     string
		from, to int // of all, by score, are allowed
		scan     bool
	}{{"far", 4800, 6000, true}, {"near", 0, 1200, false}} {
		found, best := 0, 0
		for range 50 {
			query := w.draw()
			all := w.truth(query, topk.Scan{K: math.MaxInt})
			var ords []uint32
			for _, m := range all[c.from:c.to] {
				ords = append(ords, m.Ord)
			}
			f, b, stats := w.search(query, topk.Scan{K: 10, Allowed: docset.Of(ords...)}, 50)
			if found, best = found+f, best+b; stats.Scanned != c.scan || c.scan && stats.Expanded > 40 {
				t.Errorf("%s: %+v, want a scan: %t, after at most 40 steps", c.name, stats, c.scan)
			}
		}
		if float64(found) < 0.9*float64(best) {
			t.Errorf("%s: %d of %d found", c.name, found, best)
		}
	}
}

func scale(v []float32, by float32) {
	for i := range v {
		v[i] *= by
	}
}
