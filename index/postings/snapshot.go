package postings

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the index without its dead and without codes; write is the method
// of w for exact postings. It only reads the index.
//
// The form is the number of windows, and for each of them a bitset of the
// offsets of its documents, the terms, ascending, the length of each one's list,
// and of all lists one after another the offsets and the exact postings.
func (x *Index[E]) Save(w *snapshot.Writer, write func([]E)) {
	w.Uint64(uint64(len(x.windows)))
	for _, win := range x.windows {
		if win == nil {
			win = &window[E]{}
		}
		l := win.gathered()
		w.Uint64s(win.alive)
		w.Uint32s(l.terms)
		lengths := make([]uint32, len(l.terms))
		for i := range l.terms {
			lengths[i] = uint32(len(l.nth(i).offsets))
		}
		w.Uint32s(lengths)
		w.Uint16s(l.offsets)
		write(l.exact)
	}
}

// Load reads what Save has written, an index whose ordinals are all below end.
// read is the method of r for exact postings, and code gives the code of posting
// i of a part or reports that it is none; it is called from several goroutines.
// Load fails with r's error, or with braid.Corrupt when what was read is not
// such an index.
func Load[E any](r *snapshot.Reader, end uint64, read func() []E, code func(part Part[E], i int) (uint8, bool)) (*Index[E], error) {
	x := New[E]()
	windows := r.Uint64()
	if most := uint64(1) << (32 - x.bits); windows > most {
		r.Fail("%d windows of documents, at most %d are possible", windows, most)
	}
	var checking sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wrong atomic.Bool
	for number := range windows {
		first := number << x.bits
		w := x.readWindow(r, first, end, read)
		if r.Err() != nil {
			break
		}
		x.windows = append(x.windows, w)
		if w == nil {
			continue
		}
		x.live += w.live
		slots <- struct{}{}
		checking.Go(func() {
			if !x.complete(int(number), w, code) {
				wrong.Store(true)
			}
			<-slots
		})
	}
	checking.Wait()
	if wrong.Load() {
		r.Fail("a list of postings is none: they are not of documents that are there, not in order, or have no weight")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	x.filling = max(len(x.windows)-1, 0)
	return x, nil
}

// readWindow reads a window without codes, nil if it is empty. Its first ordinal
// is first.
func (x *Index[E]) readWindow(r *snapshot.Reader, first, end uint64, read func() []E) *window[E] {
	w := &window[E]{alive: r.Uint64s()}
	w.terms = r.Uint32s()
	lengths := r.Uint32s()
	w.offsets, w.exact = r.Uint16s(), read()
	w.live, w.size = w.alive.count(), w.alive.length()
	w.alive = w.alive[:(w.size+63)/64]
	switch {
	case r.Err() != nil:
	case w.size > 1<<x.bits:
		r.Fail("a window of %d documents, at most %d are possible", w.size, 1<<x.bits)
	case w.size > 0 && first+uint64(w.size) > end:
		r.Fail("there is a document %d, want none from %d on", first+uint64(w.size)-1, end)
	case len(lengths) != len(w.terms) || len(w.exact) != len(w.offsets):
		r.Fail("%d terms have %d lists, %d postings %d weights", len(w.terms), len(lengths), len(w.offsets), len(w.exact))
	}
	if r.Err() != nil {
		return nil
	}
	place := uint64(0)
	w.ends = make([]int, len(lengths))
	for i, length := range lengths {
		if place += uint64(length); place > uint64(len(w.offsets)) || length == 0 || i > 0 && w.terms[i] <= w.terms[i-1] {
			r.Fail("the list of term %d has %d postings, of %d", w.terms[i], length, len(w.offsets))
			return nil
		}
		w.ends[i] = int(place)
	}
	if place != uint64(len(w.offsets)) {
		r.Fail("%d postings are in no list", uint64(len(w.offsets))-place)
		return nil
	}
	if w.live == 0 && len(w.offsets) == 0 {
		return nil
	}
	w.directory = newDirectory(w.terms)
	return w
}

// complete fills in the codes of a window. It reports false if there is a
// posting that cannot be.
func (x *Index[E]) complete(number int, w *window[E], code func(part Part[E], i int) (uint8, bool)) bool {
	w.codes = make([]uint8, len(w.offsets))
	for i, term := range w.terms {
		l := w.nth(i)
		part := x.part(number, term, l)
		previous := -1
		for j, offset := range l.offsets {
			ok := int(offset) > previous && w.alive.has(uint32(offset))
			if ok {
				l.codes[j], ok = code(part, j)
			}
			if !ok {
				return false
			}
			previous = int(offset)
		}
	}
	return true
}
