package quant

import "math"

// Best collects the rows of the k highest bounds. It is a heap with the lowest at
// its root, and not safe for concurrent use.
type Best struct {
	k     int
	heap  []entry
	floor float32
}

// entry is a row below its bound, which is turned to order as an unsigned number.
type entry uint64

func newEntry(bound float32, row uint32) entry {
	bits := math.Float32bits(bound)
	if bits>>31 != 0 {
		bits = ^bits
	} else {
		bits |= 1 << 31
	}
	return entry(bits)<<32 | entry(row)
}

func (e entry) row() uint32 { return uint32(e) }

func (e entry) bound() float32 {
	bits := uint32(e >> 32)
	if bits>>31 != 0 {
		bits &^= 1 << 31
	} else {
		bits = ^bits
	}
	return math.Float32frombits(bits)
}

// Reset empties b, to collect k rows, at least 1.
func (b *Best) Reset(k int) {
	b.k, b.heap, b.floor = k, b.heap[:0], float32(math.Inf(-1))
}

// Offer considers a row. One without a bound is left out.
func (b *Best) Offer(bound float32, row uint32) {
	if bound > b.floor {
		b.take(newEntry(bound, row))
	}
}

// Merge offers what o holds.
func (b *Best) Merge(o *Best) {
	for _, e := range o.heap {
		if e.bound() > b.floor {
			b.take(e)
		}
	}
}

// Rows appends the rows to rows, in no order.
func (b *Best) Rows(rows []uint32) []uint32 {
	for _, e := range b.heap {
		rows = append(rows, e.row())
	}
	return rows
}

func (b *Best) take(e entry) {
	if len(b.heap) < b.k {
		b.heap = append(b.heap, e)
		b.up(e)
	} else {
		b.down(e)
	}
	if len(b.heap) == b.k {
		b.floor = b.heap[0].bound()
	}
}

// up moves e from the end to its place.
func (b *Best) up(e entry) {
	h, i := b.heap, len(b.heap)-1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent] <= e {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// down moves e from the root, which it takes the place of, to its own.
func (b *Best) down(e entry) {
	h, i := b.heap, 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[child] >= e {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}
