package postings

import (
	"slices"
	"unsafe"
)

// window holds consecutive ordinals, known in it by their offset.
type window[E any] struct {
	alive bitset // the offsets of live documents
	dead  bitset // those of hidden documents that may have postings still
	live  int    // how many there are of each
	gone  int
	size  int // one more than the largest offset ever used

	lists[E] // of the documents there were when they were last gathered
	// fresh are the lists of documents added since. A term may have a list in
	// both.
	fresh      slots
	freshLists []list[E] // by slot
	freshCount int       // postings in them
}

// freshOf is lists.of for the lists that grow.
func (w *window[E]) freshOf(term uint32) list[E] {
	if len(w.freshLists) == 0 { // as in all windows but the last
		return list[E]{}
	}
	if slot, ok := w.fresh.find(term); ok {
		return w.freshLists[slot]
	}
	return list[E]{}
}

// add stores a document that has no postings here.
func (w *window[E]) add(offset uint32, terms []uint32, codes []uint8, exact []E) {
	w.alive.add(offset)
	w.live++
	w.size = max(w.size, int(offset)+1)
	for i, term := range terms {
		slot := w.fresh.take(term)
		if int(slot) == len(w.freshLists) {
			w.freshLists = append(w.freshLists, list[E]{})
		}
		w.freshLists[slot].add(uint16(offset), codes[i], exact[i])
	}
	w.freshCount += len(terms)
}

// A window is rid of its dead when they are one in deadShare: then a search
// passes over a third more postings than it must, and each posting is copied
// three times at most for every one that is dropped. leastDead keeps small
// windows from doing so at every turn.
const (
	deadShare = 4
	leastDead = 32
)

// remove hides the document at offset, which is live.
func (w *window[E]) remove(offset uint32) {
	w.alive.remove(offset)
	w.dead.add(offset)
	w.live--
	w.gone++
	switch {
	case w.live == 0:
		*w = window[E]{}
	case w.gone >= leastDead && w.gone >= (w.live+w.gone)/deadShare:
		w.gather()
	}
}

// gather puts all postings of live documents into lists, where they take no
// more room than they need.
func (w *window[E]) gather() {
	w.lists = w.gathered()
	w.fresh, w.freshLists, w.freshCount = slots{}, nil, 0
	w.dead, w.gone = nil, 0
}

// gathered returns all postings of live documents, and changes nothing.
func (w *window[E]) gathered() lists[E] {
	if w.gone == 0 && w.freshCount == 0 {
		return w.lists
	}
	var alive bitset
	if w.gone > 0 {
		alive = w.alive
	}
	terms := w.allTerms()
	g := lists[E]{terms: make([]uint32, 0, len(terms)), ends: make([]int, 0, len(terms))}
	total := len(w.offsets) + w.freshCount
	g.offsets, g.codes, g.exact = make([]uint16, 0, total), make([]uint8, 0, total), make([]E, 0, total)
	for _, term := range terms {
		before := len(g.offsets)
		g.merge(w.of(term), w.freshOf(term), alive)
		if len(g.offsets) > before {
			g.terms, g.ends = append(g.terms, term), append(g.ends, len(g.offsets))
		}
	}
	if len(g.offsets) < total {
		g.terms, g.ends = slices.Clone(g.terms), slices.Clone(g.ends)
		g.offsets, g.codes, g.exact = slices.Clone(g.offsets), slices.Clone(g.codes), slices.Clone(g.exact)
	}
	g.directory = newDirectory(g.terms)
	return g
}

// allTerms returns the terms that have a list, ascending.
func (w *window[E]) allTerms() []uint32 {
	terms := slices.Concat(w.terms, w.fresh.terms)
	slices.Sort(terms)
	return slices.Compact(terms)
}

// all yields every list of the window; a term may have two.
func (w *window[E]) all(yield func(uint32, list[E]) bool) {
	for i, term := range w.terms {
		if !yield(term, w.nth(i)) {
			return
		}
	}
	for slot, term := range w.fresh.terms {
		if !yield(term, w.freshLists[slot]) {
			return
		}
	}
}

func (w *window[E]) memoryBytes() int64 {
	const listBytes = 72
	posting := int64(3 + unsafe.Sizeof(*new(E)))
	// Slices that grow are up to a quarter larger than what is in them, or up to
	// twice when they are short.
	return w.fresh.memoryBytes() + 8*int64(cap(w.alive)+cap(w.dead)) + 12*int64(cap(w.terms)) + 16*int64(cap(w.directory)) +
		posting*int64(cap(w.offsets)) + posting*int64(w.freshCount)*5/4 + listBytes*int64(cap(w.freshLists))
}
