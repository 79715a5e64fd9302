package postings

import (
	"iter"
	"slices"
	"sync"
)

// windowBits is the length of an offset, and of an ordinal what is left is the
// number of its window.
const windowBits = 16

// Index is a set of documents known by ordinal. Searches may run at the same
// time as each other and as other reads; whatever changes the index needs
// exclusive access.
type Index struct {
	bits    uint      // windowBits, fewer in tests
	windows []*window // by number; nil where there never was a document
	filling int       // the window that was last added to
	live    int
	scratch sync.Pool // *scratch
}

// New returns an empty index.
func New() *Index { return newIndex(windowBits) }

func newIndex(bits uint) *Index {
	return &Index{bits: bits, scratch: sync.Pool{New: func() any { return new(scratch) }}}
}

// split returns the window and the offset of ord.
func (x *Index) split(ord uint32) (window int, offset uint32) {
	return int(ord >> x.bits), ord & (1<<x.bits - 1)
}

// Len returns the number of documents.
func (x *Index) Len() int { return x.live }

// Add stores a document: its terms, each once and in any order, the code of
// each, and its record. Nothing is kept of the slices.
//
// Ordinals should be dense, and ascend from call to call. One that has been
// used before stands for the new document from now on; for that its whole
// window is copied.
func (x *Index) Add(ord uint32, terms []uint32, codes []uint8, record []byte) {
	x.Remove(ord)
	number, offset := x.split(ord)
	if missing := number + 1 - len(x.windows); missing > 0 {
		x.windows = append(x.windows, make([]*window, missing)...)
	}
	if x.windows[number] == nil {
		x.windows[number] = &window{}
	}
	w := x.windows[number]
	if w.known(offset) {
		w.drop()
	}
	w.add(offset, terms, codes, record)
	x.live++
	if number != x.filling {
		x.leave(x.windows[x.filling])
		x.filling = number
	}
}

// leave gathers the lists of a window that is not filled any more, unless only
// few are new: then it would be copied often for little.
func (x *Index) leave(w *window) {
	const share = 4
	switch {
	case w == nil || w.freshCount <= len(w.offsets)/share:
	case w.dead > 0:
		w.drop()
	default:
		w.gather()
	}
}

// Remove forgets document ord, and reports whether there was one.
func (x *Index) Remove(ord uint32) bool {
	number, offset := x.split(ord)
	if number >= len(x.windows) || x.windows[number] == nil || !x.windows[number].alive.has(offset) {
		return false
	}
	x.windows[number].remove(offset)
	x.live--
	return true
}

// Record returns the record of document ord, which must not be changed, or nil
// if there is no such document. It is valid until the index changes.
func (x *Index) Record(ord uint32) []byte {
	number, offset := x.split(ord)
	if number >= len(x.windows) || x.windows[number] == nil || !x.windows[number].alive.has(offset) {
		return nil
	}
	return x.windows[number].get(offset)
}

// Records yields the records of all documents, by ascending ordinal.
func (x *Index) Records() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, w := range x.windows {
			if w == nil {
				continue
			}
			for offset := range w.alive.all {
				if !yield(w.get(offset)) {
					return
				}
			}
		}
	}
}

// Counts yields terms and numbers of documents that add up to how many live
// documents hold each term. In an index from which nothing was removed it does
// not read the postings.
func (x *Index) Counts() iter.Seq2[uint32, int] {
	return func(yield func(uint32, int) bool) {
		for _, w := range x.windows {
			if w == nil {
				continue
			}
			for i, term := range w.terms {
				if !yield(term, w.countLive(w.nth(i))) {
					return
				}
			}
			for slot, term := range w.fresh.terms {
				if !yield(term, w.countLive(w.freshLists[slot])) {
					return
				}
			}
		}
	}
}

// Recode replaces every code c by table[c]. It passes over all postings.
func (x *Index) Recode(table *[256]uint8) {
	for _, w := range x.windows {
		if w == nil {
			continue
		}
		for _, l := range slices.Concat([]list{w.list}, w.freshLists) {
			for i, c := range l.codes {
				l.codes[i] = table[c]
			}
		}
	}
}

// MemoryBytes estimates what the index holds in memory. It takes time in
// proportion to the number of windows.
func (x *Index) MemoryBytes() int64 {
	var bytes int64
	for _, w := range x.windows {
		if w != nil {
			bytes += w.memoryBytes()
		}
	}
	return bytes
}
