package rerank_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid/rerank"
)

// Every window is as the rule says: none on the grid weighs more, and none of
// the same weight begins before it.
func TestWindowIsTheEarliestOfTheHeaviest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		size := 1 + rng.IntN(40)
		tokens := make([]uint32, rng.IntN(300))
		for i := range tokens {
			tokens[i] = rng.Uint32N(60)
		}
		weights := map[uint32]float32{}
		for range rng.IntN(12) {
			weights[rng.Uint32N(60)] = float32(rng.IntN(5)) / 4 // sums are exact, and often equal
		}
		kept := slices.Clone(tokens)
		from, to := rerank.Window(tokens, weights, size)
		if !slices.Equal(tokens, kept) {
			t.Fatal("the tokens were changed")
		}
		if to-from != min(size, len(tokens)) || from < 0 || to > len(tokens) {
			t.Fatalf("window %d..%d of %d tokens, want %d tokens", from, to, len(tokens), size)
		}
		if len(tokens) <= size {
			continue
		}
		weigh := func(at int) float32 {
			seen := map[uint32]bool{}
			var sum float32
			for _, id := range tokens[at : at+size] {
				if !seen[id] {
					sum += weights[id]
				}
				seen[id] = true
			}
			return sum
		}
		onGrid := false
		last := len(tokens) - size
		for at := 0; at <= last; at++ {
			if at%max(size/2, 1) != 0 && at != last {
				continue
			}
			onGrid = onGrid || at == from
			if w := weigh(at); w > weigh(from) || at < from && w == weigh(from) {
				t.Fatalf("size %d of %d tokens: took %d (weight %v), better is %d (%v)", size, len(tokens), from, weigh(from), at, w)
			}
		}
		if !onGrid {
			t.Fatalf("size %d of %d tokens: window begins at %d", size, len(tokens), from)
		}
	}
}

func TestWindowWithoutEvidenceIsTheFirst(t *testing.T) {
	if from, to := rerank.Window(make([]uint32, 100), nil, 16); from != 0 || to != 16 {
		t.Errorf("window %d..%d, want the first 16", from, to)
	}
}
