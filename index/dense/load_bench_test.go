package dense_test

import (
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid/index/dense"
)

// BenchmarkLoad reads 60,000 vectors of 384 components from memory.
func BenchmarkLoad(b *testing.B) {
	const n, dim = 60_000, 384
	random := rand.New(rand.NewPCG(1, 2))
	x := dense.New(dim)
	for ord := range n {
		x.Put(uint32(ord), small(random, dim))
	}
	form := saved(b, x)
	b.SetBytes(int64(len(form)))
	for b.Loop() {
		if _, err := loaded(form, n, dim); err != nil {
			b.Fatal(err)
		}
	}
}
