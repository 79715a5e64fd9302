package quant

import (
	"math"

	"github.com/braid-search/braid/index/dense/ranking"
)

// Best collects the rows of the k highest bounds. It is not safe for
// concurrent use.
type Best struct {
	k     int
	heap  ranking.Worst
	floor float32
}

// Reset empties b, to collect k rows, at least 1.
func (b *Best) Reset(k int) {
	b.k, b.heap, b.floor = k, b.heap[:0], float32(math.Inf(-1))
}

// Offer considers a row. One without a bound is left out.
func (b *Best) Offer(bound float32, row uint32) {
	if bound > b.floor {
		b.take(ranking.New(bound, row))
	}
}

// Merge offers what o holds.
func (b *Best) Merge(o *Best) {
	for _, e := range o.heap {
		if e.Score() > b.floor {
			b.take(e)
		}
	}
}

// Rows appends the rows to rows, in no order.
func (b *Best) Rows(rows []uint32) []uint32 {
	for _, e := range b.heap {
		rows = append(rows, e.Ord())
	}
	return rows
}

func (b *Best) take(e ranking.Scored) {
	if len(b.heap) < b.k {
		b.heap.Push(e)
	} else {
		b.heap.Replace(e)
	}
	if len(b.heap) == b.k {
		b.floor = b.heap[0].Score()
	}
}
