package docset

import (
	"iter"
	"math/bits"
)

// Set is an immutable set of ordinals. The zero value is empty.
type Set struct {
	words []uint64
	count int
}

// FromWords returns the set of all i for which bit i%64 of words[i/64] is set.
// It takes words over.
func FromWords(words []uint64) *Set {
	s := &Set{words: words}
	for _, w := range words {
		s.count += bits.OnesCount64(w)
	}
	return s
}

// Of returns the set of the given ordinals, each as often as it likes.
func Of(ords ...uint32) *Set {
	var words []uint64
	for _, ord := range ords {
		for len(words) <= int(ord/64) {
			words = append(words, 0)
		}
		words[ord/64] |= 1 << (ord % 64)
	}
	return FromWords(words)
}

// Where returns the set of the ordinals below n for which keep is true.
func Where(n uint32, keep func(ord uint32) bool) *Set {
	words := make([]uint64, (n+63)/64)
	for ord := range n {
		if keep(ord) {
			words[ord/64] |= 1 << (ord % 64)
		}
	}
	return FromWords(words)
}

// Contains reports whether ord is in the set.
func (s *Set) Contains(ord uint32) bool {
	w := int(ord / 64)
	return w < len(s.words) && s.words[w]&(1<<(ord%64)) != 0
}

// Len returns the number of members.
func (s *Set) Len() int { return s.count }

// Words returns the bits behind the set, member i at bit i%64 of word i/64. They
// must not be changed.
func (s *Set) Words() []uint64 { return s.words }

// Next returns the smallest member at or above from; ok is false when there is
// none.
func (s *Set) Next(from uint32) (ord uint32, ok bool) {
	w := int(from / 64)
	if w >= len(s.words) {
		return 0, false
	}
	word := s.words[w] >> (from % 64) << (from % 64)
	for word == 0 {
		if w++; w == len(s.words) {
			return 0, false
		}
		word = s.words[w]
	}
	return uint32(w*64 + bits.TrailingZeros64(word)), true
}

// All yields the members in ascending order.
func (s *Set) All() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
