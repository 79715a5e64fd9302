package postings

import (
	"slices"
)

const (
	// together is how many postings of several windows are so few that these are
	// searched together.
	together = 1 << 12
	// plainShare is how many documents for each one wanted are so few that
	// computing the scores of all takes less than finding out which matter.
	plainShare = 2
)

// few are documents of several windows, window after window.
type few struct {
	offsets []uint16
	sums    []uint32
	ends    []int // of each window's documents
}

// areFew reports whether lists, those of windows, have so few postings that
// searchFew is to search them.
func areFew[E any](windows []*window[E], lists []list[E]) bool {
	size := 0
	for _, w := range windows {
		if w != nil {
			size += w.size
		}
	}
	n := postingsOf(lists)
	return n < size/fewShare && (n <= together || len(windows) == 1)
}

// searchFew is searchWindow for windows that have few postings, the first of them
// with the number first. It does not look at the sums of documents without one,
// and does not compute scores in one window that those in another make needless.
func (s *search[E]) searchFew(first int, windows []*window[E]) {
	f := &s.few
	f.offsets, f.sums, f.ends = f.offsets[:0], f.sums[:0], f.ends[:0]
	from, to := s.needed(), uint32(2*sumUnits)
	for i, w := range windows {
		if w != nil && w.live > 0 {
			number := first + i
			s.turnTo(number)
			s.addUp(number)
			s.takeSums(number, w, from)
		}
		f.ends = append(f.ends, len(f.offsets))
	}
	if from == 1 && len(f.offsets)/plainShare > s.scan.K {
		// As in searchWindow: the documents with the K highest sums tell what is
		// needed.
		from = kth(f.sums, s.scan.K)
		s.computeFew(first, from, to)
		from, to = s.needed(), from
	}
	if from < to {
		s.computeFew(first, from, to)
	}
}

// takeSums moves the sums of the documents of w that may be found from sums to
// few, if they are from, which is above 0, or more.
func (s *search[E]) takeSums(number int, w *window[E], from uint32) {
	f := &s.few
	start, most := len(f.offsets), len(f.offsets)+postingsOf(s.lists)
	offsets := slices.Grow(f.offsets, most-start)[:most]
	sums := slices.Grow(f.sums, most-start)[:most]
	n := start
	for _, l := range s.lists {
		for _, offset := range l.offsets {
			// A document is met as often as it has terms, and has no sum after the
			// first time. What is too low is written over.
			sum := s.sums[offset]
			s.sums[offset] = 0
			offsets[n], sums[n] = offset, sum
			n += int((from - 1 - sum) >> 31) // 1 if sum >= from
		}
	}
	if w.gone > 0 || s.scan.Allowed != nil {
		found := n
		n = start
		for i := start; i < found; i++ {
			offset := uint32(offsets[i])
			if w.alive.has(offset) && (s.scan.Allowed == nil || s.scan.Allowed.Contains(uint32(number)<<s.x.bits+offset)) {
				offsets[n], sums[n] = offsets[i], sums[i]
				n++
			}
		}
	}
	f.offsets, f.sums = offsets[:n], sums[:n]
}

// computeFew computes the scores of the documents in few with a sum in [from, to).
// first is the number of their first window.
func (s *search[E]) computeFew(first int, from, to uint32) {
	start := 0
	for i, end := range s.few.ends {
		s.offsets = s.offsets[:0]
		for at, sum := range s.few.sums[start:end] {
			if sum >= from && sum < to {
				s.offsets = append(s.offsets, s.few.offsets[start+at])
			}
		}
		start = end
		if len(s.offsets) > 0 {
			s.turnTo(first + i)
			s.compute(first + i)
		}
	}
}
