package postings

import (
	"math/bits"
	"slices"
)

// bitset holds offsets, offset i at bit i%64 of word i/64. Offsets beyond its
// words are not in it.
type bitset []uint64

func (b bitset) has(offset uint32) bool {
	w := int(offset / 64)
	return w < len(b) && b[w]>>(offset%64)&1 != 0
}

func (b *bitset) add(offset uint32) {
	if missing := int(offset/64) + 1 - len(*b); missing > 0 {
		*b = append(*b, make([]uint64, missing)...)
	}
	(*b)[offset/64] |= 1 << (offset % 64)
}

func (b bitset) remove(offset uint32) { b[offset/64] &^= 1 << (offset % 64) }

// all yields the offsets in ascending order.
func (b bitset) all(yield func(uint32) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// appendTo appends the offsets, below 1<<16, in ascending order.
func (b bitset) appendTo(offsets []uint16) []uint16 {
	for offset := range b.all {
		offsets = append(offsets, uint16(offset))
	}
	return offsets
}

// length is one more than the largest offset, or 0.
func (b bitset) length() int {
	for i, word := range slices.Backward(b) {
		if word != 0 {
			return i*64 + bits.Len64(word)
		}
	}
	return 0
}

// count returns the number of offsets.
func (b bitset) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
