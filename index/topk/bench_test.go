package topk_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid/index/topk"
)

// BenchmarkCollector offers scores in random order, few different ones and many,
// and takes the best 100.
func BenchmarkCollector(b *testing.B) {
	const k = 100
	random := rand.New(rand.NewPCG(1, 2))
	for _, offered := range []int{100, 1_000, 10_000} {
		for _, different := range []int{30, 1 << 30} {
			// Many sequences, or the processor learns one.
			scores := make([]float64, 64*offered)
			for i := range scores {
				scores[i] = float64(random.IntN(different))
			}
			b.Run(fmt.Sprintf("%d/%d", offered, different), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					c := topk.NewCollector(topk.Scan{K: k})
					for ord, score := range scores[i%64*offered:][:offered] {
						c.Offer(uint32(ord), score)
					}
					c.Matches()
				}
			})
		}
	}
}
