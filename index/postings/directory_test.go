package postings

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDirectoryFindsWhatHalvingFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, spread := range []uint32{1, 2, 63, 64, 65, 300, 1 << 24} {
		for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
			var terms []uint32
			for next := r.Uint32N(spread); len(terms) < n; next += 1 + r.Uint32N(spread) {
				terms = append(terms, next)
			}
			d := newDirectory(terms)
			probes := append(slices.Clone(terms), 0, 1, 63, 64, 1<<20, 1<<32-1)
			for range 200 {
				probes = append(probes, r.Uint32N(spread*uint32(n+1)+1))
			}
			for _, term := range probes {
				place, ok := d.find(terms, term)
				want, wantOK := slices.BinarySearch(terms, term)
				if ok != wantOK || ok && place != want {
					t.Fatalf("%d terms, gaps up to %d: find(%d) = %d, %v, want %d, %v", n, spread, term, place, ok, want, wantOK)
				}
			}
		}
	}
}

func TestDirectoryTakesLittle(t *testing.T) {
	for _, terms := range [][]uint32{{1 << 31}, {0, 1 << 31}, {5, 600}} {
		if d := newDirectory(terms); len(d) > blocksATerm*len(terms) {
			t.Errorf("%d blocks for %v", len(d), terms)
		}
	}
}
