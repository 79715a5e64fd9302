package ranking

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHeapsOrderScoresAndOrdinals(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		var all []Scored
		var best Best
		var worst Worst
		for range n {
			score, ord := float32(r.IntN(7)-3)/2, r.Uint32()
			x := New(score, ord)
			if x.Score() != score || x.Ord() != ord {
				t.Fatalf("New(%v, %d) is %v, %d", score, ord, x.Score(), x.Ord())
			}
			all = append(all, x)
			best.Push(x)
			worst.Push(x)
		}
		slices.SortFunc(all, func(a, b Scored) int {
			switch {
			case a.Score() > b.Score(), a.Score() == b.Score() && a.Ord() < b.Ord():
				return -1
			}
			return 1
		})
		for i := range n {
			if got := best.Pop(); got != all[i] {
				t.Fatalf("%d of %d best is %d, want %d", i, n, got.Ord(), all[i].Ord())
			}
			if got := worst[0]; got != all[n-1-i] {
				t.Fatalf("%d of %d worst is %d, want %d", i, n, got.Ord(), all[n-1-i].Ord())
			}
			worst.Pop()
		}
	}
}
