package postings

import "iter"

// Holding yields the documents that hold a term, each once, in no particular order.
func (x *Index[E]) Holding(term uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for number, w := range x.windows {
			if w == nil {
				continue
			}
			for _, l := range [...]list[E]{w.of(term), w.freshOf(term)} {
				for _, offset := range l.offsets {
					if w.alive.has(uint32(offset)) && !yield(uint32(number)<<x.bits|uint32(offset)) {
						return
					}
				}
			}
		}
	}
}
