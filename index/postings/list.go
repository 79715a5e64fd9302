package postings

import "slices"

// list is the postings of one term in one window, by ascending offset: the
// document at offsets[i] holds it with codes[i] and exact[i].
type list[E any] struct {
	coded
	exact []E
}

// coded is what is read of a list to add up bounds.
type coded struct {
	offsets []uint16
	codes   []uint8
}

// add inserts a posting for a document that the list does not have.
func (l *list[E]) add(offset uint16, code uint8, exact E) {
	if last := len(l.offsets) - 1; last < 0 || l.offsets[last] < offset { // documents mostly come in order
		l.offsets, l.codes, l.exact = append(l.offsets, offset), append(l.codes, code), append(l.exact, exact)
		return
	}
	at, _ := slices.BinarySearch(l.offsets, offset)
	l.offsets = slices.Insert(l.offsets, at, offset)
	l.codes = slices.Insert(l.codes, at, code)
	l.exact = slices.Insert(l.exact, at, exact)
}

// take appends the postings of a from first to end, but for those of dead
// documents if there are any; nil alive means that there are none.
func (l *list[E]) take(a list[E], first, end int, alive bitset) {
	if alive == nil {
		l.offsets = append(l.offsets, a.offsets[first:end]...)
		l.codes = append(l.codes, a.codes[first:end]...)
		l.exact = append(l.exact, a.exact[first:end]...)
		return
	}
	for i := first; i < end; i++ {
		if offset := a.offsets[i]; alive.has(uint32(offset)) {
			l.offsets = append(l.offsets, offset)
			l.codes = append(l.codes, a.codes[i])
			l.exact = append(l.exact, a.exact[i])
		}
	}
}

// merge appends the postings of a and b, which have no document in common, in
// the order of offsets.
func (l *list[E]) merge(a, b list[E], alive bitset) {
	at := 0
	for i, offset := range b.offsets {
		end := at
		if at < len(a.offsets) && a.offsets[at] < offset {
			n, _ := slices.BinarySearch(a.offsets[at:], offset)
			end += n
		}
		l.take(a, at, end, alive)
		at = end
		if at == len(a.offsets) {
			l.take(b, i, len(b.offsets), alive)
			return
		}
		l.take(b, i, i+1, alive)
	}
	l.take(a, at, len(a.offsets), alive)
}

// lists are those of many terms, one after another.
type lists[E any] struct {
	list[E]
	terms []uint32 // ascending
	ends  []int    // of each term's list
	// directory is that of terms, once they are all there.
	directory directory
}

// of returns the list of term, empty if there is none.
func (l *lists[E]) of(term uint32) list[E] {
	i, ok := l.directory.find(l.terms, term)
	if !ok {
		return list[E]{}
	}
	return l.nth(i)
}

// nth returns the list of terms[i].
func (l *lists[E]) nth(i int) list[E] {
	start, end := 0, l.ends[i]
	if i > 0 {
		start = l.ends[i-1]
	}
	return list[E]{coded{l.offsets[start:end], l.codes[start:end]}, l.exact[start:end]}
}
