package postings

// denseTerms is how many terms, the smallest, are looked up in an array.
const denseTerms = 1 << 22

// slots numbers terms by their first occurrence. The terms of a model or of a
// dictionary are small numbers and found in an array; others take a map.
type slots struct {
	dense []uint32 // by term: one more than its slot, or 0
	other map[uint32]uint32
	terms []uint32 // by slot
}

// find returns the slot of term.
func (s *slots) find(term uint32) (slot uint32, ok bool) {
	if int(term) < len(s.dense) {
		slot := s.dense[term]
		return slot - 1, slot != 0
	}
	slot, ok = s.other[term]
	return slot, ok
}

// take returns the slot of term, a new one if it has none.
func (s *slots) take(term uint32) uint32 {
	if slot, ok := s.find(term); ok {
		return slot
	}
	slot := uint32(len(s.terms))
	s.terms = append(s.terms, term)
	if term >= denseTerms {
		if s.other == nil {
			s.other = map[uint32]uint32{}
		}
		s.other[term] = slot
		return slot
	}
	if missing := int(term) + 1 - len(s.dense); missing > 0 {
		s.dense = append(s.dense, make([]uint32, missing)...)
	}
	s.dense[term] = slot + 1
	return slot
}

func (s *slots) memoryBytes() int64 {
	const entryBytes = 16 // of a map
	return 4*int64(cap(s.dense)+cap(s.terms)) + entryBytes*int64(len(s.other))
}
