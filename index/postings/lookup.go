package postings

import "slices"

// Lookup returns the exact posting of a term in document ord; ok is false when
// there is no such document, or it does not hold the term.
func (x *Index[E]) Lookup(ord, term uint32) (exact E, ok bool) {
	if !x.Has(ord) {
		return exact, false
	}
	number, offset := x.split(ord)
	w := x.windows[number]
	for _, l := range [...]list[E]{w.of(term), w.freshOf(term)} {
		if at, found := slices.BinarySearch(l.offsets, uint16(offset)); found {
			return l.exact[at], true
		}
	}
	return exact, false
}
