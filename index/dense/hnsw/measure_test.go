package hnsw_test

import (
	"testing"

	"github.com/braid-search/braid/index/topk"
)

func TestMemory(t *testing.T) {
	w := newWorld(t, 12)
	if n := w.graph.MemoryBytes(); n != 0 {
		t.Errorf("an empty graph holds %d bytes", n)
	}
	w.grow(1)
	one := w.graph.MemoryBytes()
	if perNode := float64(one) / 4096; perNode < 5*dim+8*16 || perNode > 5*dim+8*16+24 {
		t.Errorf("a segment of 4096 nodes holds %d bytes, %.1f a node", one, perNode)
	}
	w.grow(4096)
	if two := w.graph.MemoryBytes(); two < 2*one-10_000 || two > 2*one+10_000 {
		t.Errorf("two segments hold %d bytes, one %d", two, one)
	}
}

func BenchmarkSearch(b *testing.B) {
	w := newWorld(&testing.T{}, 13)
	for ord := range uint32(20_000) {
		if err := w.graph.Add(ord, w.draw()); err != nil {
			b.Fatal(err)
		}
	}
	query := w.draw()
	for b.Loop() {
		if _, _, err := w.graph.Search(b.Context(), query, topk.Scan{K: 10}, 0); err != nil {
			b.Fatal(err)
		}
	}
}
