package docset_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid/index/docset"
)

// TestSetEqualsMap compares random sets, sparse and full, with a map.
func TestSetEqualsMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		limit := 1 + random.IntN(300)
		model := map[uint32]bool{}
		for range random.IntN(2 * limit) {
			model[uint32(random.IntN(limit))] = true
		}
		ords := slices.Sorted(maps.Keys(model))
		shuffled := slices.Clone(ords)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		s := docset.Of(append(shuffled, shuffled...)...)
		if s.Len() != len(model) {
			t.Fatalf("length %d, want %d", s.Len(), len(model))
		}
		if got := slices.Collect(s.All()); !slices.Equal(got, ords) {
			t.Fatalf("all are %v, want %v", got, ords)
		}
		if got := slices.Collect(docset.FromWords(slices.Clone(s.Words())).All()); !slices.Equal(got, ords) {
			t.Fatalf("a set of the same words is %v, want %v", got, ords)
		}
		where := docset.Where(uint32(limit), func(ord uint32) bool { return model[ord] })
		if got := slices.Collect(where.All()); !slices.Equal(got, ords) || where.Len() != len(ords) {
			t.Fatalf("where: %v, want %v", got, ords)
		}
		for from := range uint32(limit + 130) {
			if s.Contains(from) != model[from] {
				t.Fatalf("contains %d: %v", from, s.Contains(from))
			}
			at, _ := slices.BinarySearch(ords, from)
			next, ok := s.Next(from)
			if ok != (at < len(ords)) || ok && next != ords[at] {
				t.Fatalf("next from %d is %d, %v in %v", from, next, ok, ords)
			}
		}
	}
}

func TestEmptySet(t *testing.T) {
	for name, s := range map[string]*docset.Set{"zero": {}, "of nothing": docset.Of(), "zero words": docset.FromWords(make([]uint64, 3))} {
		if _, ok := s.Next(0); ok || s.Len() != 0 || s.Contains(0) || s.Contains(1<<31) {
			t.Errorf("%s: not empty", name)
		}
	}
}
