package postings

import "slices"

// window holds consecutive ordinals, known in it by their offset.
type window struct {
	records
	alive bitset // the offsets of live documents
	live  int
	dead  int // documents that are hidden and still have postings

	lists // of the documents there were when they were last gathered
	// fresh are the lists of documents added since. A term may have a list in
	// both.
	fresh      slots
	freshLists []list // by slot
	freshCount int    // postings in them
}

// list is one term's: the document at offsets[i] has the term with codes[i].
type list struct {
	offsets []uint16
	codes   []uint8
}

// lists are those of many terms, one after another.
type lists struct {
	list
	terms []uint32 // ascending
	ends  []int    // of each term's list
}

// of returns the list of term, empty if there is none.
func (l *lists) of(term uint32) list {
	i, ok := slices.BinarySearch(l.terms, term)
	if !ok {
		return list{}
	}
	return l.nth(i)
}

// nth returns the list of terms[i].
func (l *lists) nth(i int) list {
	start, end := 0, l.ends[i]
	if i > 0 {
		start = l.ends[i-1]
	}
	return list{l.offsets[start:end], l.codes[start:end]}
}

// freshOf is of for the lists that grow.
func (w *window) freshOf(term uint32) list {
	if slot, ok := w.fresh.find(term); ok {
		return w.freshLists[slot]
	}
	return list{}
}

// add stores a document that the window does not know.
func (w *window) add(offset uint32, terms []uint32, codes []uint8, record []byte) {
	w.put(offset, record)
	w.alive.add(offset)
	w.live++
	for i, term := range terms {
		slot := w.fresh.take(term)
		if int(slot) == len(w.freshLists) {
			w.freshLists = append(w.freshLists, list{})
		}
		l := &w.freshLists[slot]
		l.offsets = append(l.offsets, uint16(offset))
		l.codes = append(l.codes, codes[i])
	}
	w.freshCount += len(terms)
}

// remove hides the document at offset, which is live.
func (w *window) remove(offset uint32) {
	w.alive.remove(offset)
	w.live--
	w.dead++
	switch {
	case w.live == 0:
		*w = window{}
	case w.dead >= leastDead && w.dead >= (w.live+w.dead)/deadShare:
		w.drop()
	}
}

// A window is rid of its dead when they are one in deadShare: then a search
// passes over a third more postings than it must, and each posting is copied
// three times at most for every one that is dropped. leastDead keeps small
// windows from doing so at every turn.
const (
	deadShare = 4
	leastDead = 32
)

// drop forgets the dead.
func (w *window) drop() {
	w.gather()
	w.keep(w.alive.all)
	w.dead = 0
}

// gather puts all postings of live documents into lists, where they take no
// more room than they need.
func (w *window) gather() {
	terms := w.allTerms()
	total := len(w.offsets) + w.freshCount
	g := lists{terms: terms, ends: make([]int, 0, len(terms))}
	g.offsets, g.codes = make([]uint16, 0, total), make([]uint8, 0, total)
	for _, term := range terms {
		w.moveLive(&g.list, w.of(term))
		w.moveLive(&g.list, w.freshOf(term))
		g.ends = append(g.ends, len(g.offsets))
	}
	if w.dead > 0 {
		g.offsets, g.codes = slices.Clone(g.offsets), slices.Clone(g.codes)
	}
	w.lists = g
	w.fresh, w.freshLists, w.freshCount = slots{}, nil, 0
}

// moveLive appends the postings in from of live documents to to.
func (w *window) moveLive(to *list, from list) {
	if w.dead == 0 {
		to.offsets, to.codes = append(to.offsets, from.offsets...), append(to.codes, from.codes...)
		return
	}
	for i, offset := range from.offsets {
		if w.alive.has(uint32(offset)) {
			to.offsets, to.codes = append(to.offsets, offset), append(to.codes, from.codes[i])
		}
	}
}

// countLive returns how many documents of l are live.
func (w *window) countLive(l list) int {
	if w.dead == 0 {
		return len(l.offsets)
	}
	n := 0
	for _, offset := range l.offsets {
		if w.alive.has(uint32(offset)) {
			n++
		}
	}
	return n
}

// allTerms returns the terms that have a list, ascending.
func (w *window) allTerms() []uint32 {
	terms := slices.Concat(w.terms, w.fresh.terms)
	slices.Sort(terms)
	return slices.Clip(slices.Compact(terms))
}

func (w *window) memoryBytes() int64 {
	const listBytes = 48
	bytes := w.records.memoryBytes() + w.fresh.memoryBytes() + 8*int64(cap(w.alive)) +
		12*int64(cap(w.terms)) + 2*int64(cap(w.offsets)) + int64(cap(w.codes)) +
		listBytes*int64(cap(w.freshLists))
	// Slices that grow are a quarter larger than what is in them, or up to twice
	// when they are short.
	return bytes + 3*int64(w.freshCount)*5/4
}
