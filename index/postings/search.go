package postings

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/topk"
)

// Query says what documents are searched for.
type Query[E any] struct {
	Terms []Term // each once
	// Factor is what codes in a window are multiplied with, above 0 and finite;
	// nil is 1.
	Factor func(window int) float64
	// Share is what a document's score gets for holding Terms[term]: above 0, and
	// no more than the product of the posting's code, the factor of its window and
	// the term's weight, but for the rounding of float64. A score is the sum of its
	// shares in the order of Terms.
	Share func(term int, ord uint32, exact E) float64
}

// Term is a term of a query and its weight, above 0 and finite.
type Term struct {
	ID     uint32
	Weight float64
}

const topCode = 255

const (
	// sumUnits is what the largest possible sum of a query comes to in the
	// integers that bounds are added up in. One bit is left for rounding up.
	sumUnits = 1 << 30
	// mostTerms keeps what rounding up can add to a sum far below that bit.
	mostTerms = 1 << 20
	// margin is more than floating-point numbers lose on the way from a score to
	// the units of its bound.
	margin = 1e-9
	// lookCost is about what it takes to find a document in a list that was read
	// just now, if passing over a posting is 1, and coldCost in one that was not.
	lookCost = 32
	coldCost = 400
	// When the documents in question are fewer than one in fewShare, they are
	// looked at one by one.
	fewShare = 16
)

// scratch is the memory of one search. Between searches all sums and places are
// 0.
type scratch[E any] struct {
	sums    [1 << windowBits]uint32
	places  [1 << windowBits]uint16
	allowed [1 << windowBits / 64]uint64
	members []uint16
	offsets []uint16
	scores  []float64
	found   []found
	few     few
	near    []list[E] // of the windows at hand: two for each term
}

// found is a document, by its place in offsets, and where its posting is.
type found struct{ place, at uint32 }

// search is a search under way.
type search[E any] struct {
	*scratch[E]
	x     *Index[E]
	scan  topk.Scan
	query Query[E]
	best  *topk.Collector
	scale float64 // from scores to the units of sums

	first int       // the number of the first window at hand
	lists []list[E] // of the window that is looked at
}

// Search returns the best documents that hold a term of q and are in
// scan.Allowed. It fails only when ctx ends.
func (x *Index[E]) Search(ctx context.Context, q Query[E], scan topk.Scan) ([]topk.Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	if scan.K < 1 || len(q.Terms) == 0 {
		return nil, nil
	}
	s := search[E]{x: x, scan: scan, query: q, best: topk.NewCollector(scan)}
	s.scratch = x.scratch.Get().(*scratch[E])
	defer x.scratch.Put(s.scratch)
	visit, several := s.searchWindow, false
	switch {
	case s.fewer():
		visit = s.readWindow
	case len(q.Terms) == 1:
		visit = s.searchTerm
		s.weigh()
	default:
		several = true
		s.weigh()
	}
	near := max(nearLists/(2*len(q.Terms)), 1)
	for first := 0; first < len(x.windows); first += near {
		windows := x.windows[first:min(first+near, len(x.windows))]
		s.find(first, windows)
		if err := ctx.Err(); err != nil {
			return nil, ended(err)
		}
		if several && areFew(windows, s.near) {
			s.searchFew(first, windows)
			continue
		}
		for i, w := range windows {
			if w == nil || w.live == 0 {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, ended(err)
			}
			s.turnTo(first + i)
			if several && areFew(windows[i:i+1], s.lists) {
				s.searchFew(first+i, windows[i:i+1])
				continue
			}
			visit(first+i, w)
		}
	}
	return s.best.Matches(), nil
}

func ended(err error) error { return braid.Errorf(braid.CodeOf(err), "search postings: %w", err) }

// nearLists is how many lists are found at once: the memory that says where they
// are is waited for at the same time.
const nearLists = 64

// find finds the lists of the query's terms in windows, the first of which has
// the number first.
func (s *search[E]) find(first int, windows []*window[E]) {
	s.first = first
	s.near = slices.Grow(s.near[:0], 2*len(s.query.Terms)*len(windows))
	for _, w := range windows {
		if w == nil {
			w = &window[E]{}
		}
		for _, t := range s.query.Terms {
			s.near = append(s.near, w.of(t.ID), w.freshOf(t.ID))
		}
	}
}

// turnTo makes a window at hand the one that is looked at.
func (s *search[E]) turnTo(number int) {
	n := 2 * len(s.query.Terms)
	s.lists = s.near[(number-s.first)*n:][:n]
}

// fewer reports whether looking up every allowed document takes less than
// adding up the postings of all.
func (s *search[E]) fewer() bool {
	if len(s.query.Terms) > mostTerms {
		return true // it is the only way
	}
	if s.scan.Allowed == nil {
		return false
	}
	matching := 0
	for number := range s.x.windows {
		s.find(number, s.x.windows[number:number+1])
		matching += postingsOf(s.near)
	}
	return s.scan.Allowed.Len()*len(s.query.Terms)*coldCost < matching+s.x.live
}

// postingsOf returns the number of postings in lists.
func postingsOf[E any](lists []list[E]) int {
	n := 0
	for _, l := range lists {
		n += len(l.offsets)
	}
	return n
}

// readWindow computes the score of every allowed document of w.
func (s *search[E]) readWindow(number int, w *window[E]) {
	alive := w.alive
	if s.scan.Allowed != nil {
		alive, _ = s.intersect(number, w)
	}
	s.offsets = alive.appendTo(s.offsets[:0])
	s.compute(number)
}

// intersect returns the live documents of w that may be found, in scratch, and
// their number.
func (s *search[E]) intersect(number int, w *window[E]) (allowed bitset, n int) {
	words := s.scan.Allowed.Words()
	words = words[min(number<<s.x.bits/64, len(words)):]
	allowed = s.allowed[:min(len(w.alive), len(words))]
	for i := range allowed {
		allowed[i] = w.alive[i] & words[i]
		n += bits.OnesCount64(allowed[i])
	}
	return allowed, n
}

// weigh finds the scale: no document's sum can be above sumUnits.
func (s *search[E]) weigh() {
	highest := 0.0
	for number := range s.x.windows {
		highest = max(highest, s.factor(number))
	}
	var total float64
	for _, t := range s.query.Terms {
		total += t.Weight * topCode * highest
	}
	s.scale = sumUnits / total
}

func (s *search[E]) factor(window int) float64 {
	if s.query.Factor == nil {
		return 1
	}
	return s.query.Factor(window)
}

// needed is the smallest sum of a document that can be among the best.
func (s *search[E]) needed() uint32 {
	floor := s.best.Floor() * s.scale * (1 - margin)
	if !(floor > 1) {
		return 1
	}
	return uint32(floor)
}

// searchWindow adds up the bounds of a window's documents and computes the scores
// of those that can be among the best.
func (s *search[E]) searchWindow(number int, w *window[E]) {
	if postingsOf(s.lists) == 0 {
		return
	}
	v := view{sums: s.sums[:w.size]}
	if s.scan.Allowed != nil {
		allowed, n := s.intersect(number, w)
		if n == 0 {
			return
		}
		v.allowed = allowed
		if n < w.size/fewShare {
			s.members = allowed.appendTo(s.members[:0])
			v.listed, v.members = true, s.members
		}
	} else if w.gone > 0 {
		v.allowed = w.alive
	}
	s.addUp(number)
	from, to := s.needed(), uint32(2*sumUnits)
	if from == 1 {
		// Nothing is known yet of the score that is needed. The documents with
		// the K highest sums tell.
		from = v.kth(s.scan.K)
		s.offsets = v.above(s.offsets[:0], from, to)
		s.compute(number)
		from, to = s.needed(), from
	}
	if from < to {
		s.offsets = v.above(s.offsets[:0], from, to)
		s.compute(number)
	}
	clear(v.sums)
}

// addUp adds the bounds of the postings at hand to sums.
func (s *search[E]) addUp(number int) {
	unit := s.factor(number) * s.scale
	for i, l := range s.lists {
		step := s.step(i/2, unit)
		then := coded{}
		for _, next := range s.lists[i+1:] {
			if len(next.offsets) > 0 {
				then = next.coded
				break
			}
		}
		addSteps(&s.sums, l.coded, then, step)
	}
}

// step is what one of a code of term i adds to a sum; unit is that of the window.
// It is rounded up, to 1 at least: a sum of 0 is that of a document without any
// term of the query.
func (s *search[E]) step(i int, unit float64) uint32 {
	return uint32(max(math.Ceil(s.query.Terms[i].Weight*unit), 1))
}

// compute computes the scores of the documents of the window at hand at
// s.offsets, and offers them.
func (s *search[E]) compute(number int) {
	// Places are counted from 1, so that a full window has one too many.
	for offsets := range slices.Chunk(s.offsets, 1<<(windowBits-1)) {
		s.computeSome(offsets, uint32(number)<<s.x.bits)
	}
}

func (s *search[E]) computeSome(offsets []uint16, first uint32) {
	s.scores = slices.Grow(s.scores[:0], len(offsets))[:len(offsets)]
	clear(s.scores)
	placed := false
	for i, l := range s.lists {
		if len(l.offsets) > lookCost*len(offsets) {
			s.lookUp(i/2, l, offsets, first)
			continue
		}
		if !placed {
			placed = true
			for place, offset := range offsets {
				s.places[offset] = uint16(place + 1)
			}
		}
		s.passOver(i/2, l, first)
	}
	if placed {
		for _, offset := range offsets {
			s.places[offset] = 0
		}
	}
	for i, score := range s.scores {
		if score > 0 {
			s.best.Offer(first+uint32(offsets[i]), score)
		}
	}
}

// lookUp adds the shares of term i, whose list is l, to the scores of the
// documents at offsets, finding each in the list.
func (s *search[E]) lookUp(i int, l list[E], offsets []uint16, first uint32) {
	// First all places, then what is there: so neither a search waits for the
	// memory another one needs, nor the processor guesses whether it is found.
	s.found = slices.Grow(s.found[:0], len(offsets))[:len(offsets)]
	n := 0
	for place, offset := range offsets {
		at := min(search16(l.offsets, offset), len(l.offsets)-1)
		s.found[n] = found{uint32(place), uint32(at)}
		if l.offsets[at] == offset {
			n++
		}
	}
	s.share(i, l, s.found[:n], first)
}

// passOver is lookUp for a list that is not much longer than the documents are
// many.
func (s *search[E]) passOver(i int, l list[E], first uint32) {
	s.found = slices.Grow(s.found[:0], len(l.offsets))[:len(l.offsets)]
	n := 0
	for at, offset := range l.offsets {
		place := uint32(s.places[offset])
		s.found[n] = found{place - 1, uint32(at)}
		n += int((place + 1<<16 - 1) >> 16) // 0 of 0, else 1
	}
	s.share(i, l, s.found[:n], first)
}

// share adds the shares of term i, whose list is l, to the scores of the documents
// that were found in it.
func (s *search[E]) share(i int, l list[E], all []found, first uint32) {
	for _, f := range all {
		s.scores[f.place] += s.query.Share(i, first+uint32(l.offsets[f.at]), l.exact[f.at])
	}
}

// search16 returns the first place in sorted that is not below x. It does not
// branch on what it finds, which no processor could foresee.
func search16(sorted []uint16, x uint16) int {
	from := 0
	for n := len(sorted); n > 0; {
		half := n / 2
		below := (int(sorted[from+half]) - int(x)) >> (bits.UintSize - 1) // -1 or 0
		from += (n - half) & below
		n = half
	}
	return from
}
