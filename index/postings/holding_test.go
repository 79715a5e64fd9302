package postings

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHoldingEqualsLookup(t *testing.T) {
	random := rand.New(rand.NewPCG(41, 42))
	x, m := filled(random)
	for ord := range m { // some postings are in lists that grow, and some are dead
		if ord%5 == 0 {
			m[ord] = draw(random, 3, 50)
			add(x, ord, m[ord])
		}
		if ord%11 == 0 {
			x.Remove(ord)
			delete(m, ord)
		}
	}
	for term := range uint32(60) {
		var want []uint32
		for ord := range m {
			if _, holds := x.Lookup(ord, term); holds {
				want = append(want, ord)
			}
		}
		got := slices.Collect(x.Holding(term))
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("term %d is held by %d documents, want %d", term, len(got), len(want))
		}
	}
	for range x.Holding(1) {
		break // a caller who has seen enough
	}
}
