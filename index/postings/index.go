package postings

import (
	"iter"
	"sync"
)

// windowBits is the length of an offset, and of an ordinal what is left is the
// number of its window.
const windowBits = 16

// Index is a set of documents known by ordinal, whose exact postings are of
// type E. Searches may run at the same time as each other and as other reads;
// whatever changes the index needs exclusive access.
type Index[E any] struct {
	bits    uint         // windowBits, fewer in tests
	windows []*window[E] // by number; nil where there never was a document
	filling int          // the window that was last added to
	live    int
	scratch sync.Pool // *scratch[E]
}

// New returns an empty index.
func New[E any]() *Index[E] { return newIndex[E](windowBits) }

func newIndex[E any](bits uint) *Index[E] {
	return &Index[E]{bits: bits, scratch: sync.Pool{New: func() any { return new(scratch[E]) }}}
}

// split returns the number of the window of ord and the offset there.
func (x *Index[E]) split(ord uint32) (number int, offset uint32) {
	return x.Window(ord), ord & (1<<x.bits - 1)
}

// Len returns the number of documents.
func (x *Index[E]) Len() int { return x.live }

// Has reports whether there is a document ord.
func (x *Index[E]) Has(ord uint32) bool {
	number, offset := x.split(ord)
	return number < len(x.windows) && x.windows[number] != nil && x.windows[number].alive.has(offset)
}

// Add stores a document: its terms, each once and in any order, and the code,
// above 0, and the exact posting of each. Nothing is kept of the slices.
//
// Ordinals should be dense, and ascend from call to call. One that has been
// used before stands for the new document from now on; for that its whole
// window may be copied.
func (x *Index[E]) Add(ord uint32, terms []uint32, codes []uint8, exact []E) {
	x.Remove(ord)
	number, offset := x.split(ord)
	if missing := number + 1 - len(x.windows); missing > 0 {
		x.windows = append(x.windows, make([]*window[E], missing)...)
	}
	if x.windows[number] == nil {
		x.windows[number] = &window[E]{}
	}
	w := x.windows[number]
	if w.dead.has(offset) {
		w.gather()
	}
	w.add(offset, terms, codes, exact)
	x.live++
	if number != x.filling {
		x.leave(x.windows[x.filling])
		x.filling = number
	}
}

// leave gathers the lists of a window that is not filled any more, unless only
// few are new: then it would be copied often for little.
func (x *Index[E]) leave(w *window[E]) {
	const share = 4
	if w != nil && w.freshCount > len(w.offsets)/share {
		w.gather()
	}
}

// Remove forgets document ord, and reports whether there was one.
func (x *Index[E]) Remove(ord uint32) bool {
	if !x.Has(ord) {
		return false
	}
	number, offset := x.split(ord)
	x.windows[number].remove(offset)
	x.live--
	return true
}

// Windows returns the number of windows: ordinals lie in those below it.
func (x *Index[E]) Windows() int { return len(x.windows) }

// Window returns the number of the window that ord lies in.
func (x *Index[E]) Window(ord uint32) int { return int(ord >> x.bits) }

// Recode gives all postings in a window, those of removed documents too, new
// codes: posting i of a part gets code(part, i).
func (x *Index[E]) Recode(window int, code func(part Part[E], i int) uint8) {
	w := x.windows[window]
	if w == nil {
		return
	}
	for term, l := range w.all {
		part := x.part(window, term, l)
		for i := range l.codes {
			l.codes[i] = code(part, i)
		}
	}
}

// Part is the postings of one term in one window. The slices must not be
// changed, and are valid until the index changes.
type Part[E any] struct {
	Term uint32
	// The document First+Offsets[i] holds the term with Exact[i]; offsets
	// ascend. It may have been removed.
	First   uint32
	Offsets []uint16
	Exact   []E
}

// Parts yields all postings in a window. A term may have two parts.
func (x *Index[E]) Parts(window int) iter.Seq[Part[E]] {
	return func(yield func(Part[E]) bool) {
		if x.windows[window] == nil {
			return
		}
		for term, l := range x.windows[window].all {
			if !yield(x.part(window, term, l)) {
				return
			}
		}
	}
}

func (x *Index[E]) part(window int, term uint32, l list[E]) Part[E] {
	return Part[E]{term, uint32(window) << x.bits, l.offsets, l.exact}
}

// MemoryBytes estimates what the index holds in memory. It takes time in
// proportion to the number of windows.
func (x *Index[E]) MemoryBytes() int64 {
	var bytes int64
	for _, w := range x.windows {
		if w != nil {
			bytes += w.memoryBytes()
		}
	}
	return bytes
}
