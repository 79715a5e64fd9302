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
	// pendingShare times K is how many documents wait to have their scores
	// computed before a search stops to do so, and leastPending the least.
	pendingShare = 4
	leastPending = 1024
	// settleShare of K is how many scores are computed before the one that is
	// needed is looked at again, and leastSettle the least.
	settleShare = 2
	leastSettle = 16
	// lookCost is about what it takes to find a document in a list, if passing
	// over a posting is 1.
	lookCost = 32
	// A filter that allows fewer than one document in sparseShare is asked for
	// its members, not about each document with a high sum.
	sparseShare = 8
)

// scratch is the memory of one search. Between searches all sums and places are
// 0.
type scratch struct {
	sums    [1 << windowBits]uint32
	places  [1 << windowBits]uint16
	allowed [1 << windowBits / 64]uint64
	pending []uint64 // the sum in the upper half, the ordinal in the lower
	ords    []uint32
	offsets []uint16 // in one window
	scores  []float64
	found   []found
}

// found is a document, by its place in offsets, and where its posting is.
type found struct{ place, at uint32 }

// search is a search under way.
type search[E any] struct {
	*scratch
	x     *Index[E]
	scan  topk.Scan
	query Query[E]
	best  *topk.Collector
	scale float64 // from scores to the units of sums
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
	s.scratch = x.scratch.Get().(*scratch)
	defer x.scratch.Put(s.scratch)
	visit := s.searchWindow
	if s.fewer() {
		visit = s.readWindow
	} else {
		s.weigh()
	}
	s.pending = s.pending[:0]
	for number, w := range x.windows {
		if w == nil || w.live == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, ended(err)
		}
		visit(number, w)
	}
	s.settle()
	return s.best.Matches(), nil
}

func ended(err error) error { return braid.Errorf(braid.CodeOf(err), "search postings: %w", err) }

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
	for _, w := range s.x.windows {
		if w == nil {
			continue
		}
		for _, t := range s.query.Terms {
			matching += len(w.of(t.ID).offsets) + len(w.freshOf(t.ID).offsets)
		}
	}
	return s.scan.Allowed.Len()*len(s.query.Terms)*lookCost < matching+s.x.live
}

// readWindow computes the score of every allowed document of w.
func (s *search[E]) readWindow(number int, w *window[E]) {
	alive := w.alive
	if s.scan.Allowed != nil {
		alive, _ = s.intersect(number, w)
	}
	s.offsets = s.offsets[:0]
	for offset := range alive.all {
		s.offsets = append(s.offsets, uint16(offset))
	}
	s.compute(number, w)
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

// searchWindow adds up the bounds of a window's documents and notes those that
// can be among the best.
func (s *search[E]) searchWindow(number int, w *window[E]) {
	v := view{sums: s.sums[:w.size], first: uint32(number) << s.x.bits}
	if s.scan.Allowed != nil {
		allowed, n := s.intersect(number, w)
		if n == 0 {
			return
		}
		v.allowed, v.few = allowed, n < w.live/sparseShare
	} else if w.gone > 0 {
		v.allowed = w.alive
	}
	s.addUp(number, w)
	from, to := s.needed(), uint32(2*sumUnits)
	if from == 1 {
		// Nothing is known yet of the score that is needed. The documents with
		// the K highest sums tell.
		from = v.kth(s.scan.K)
		s.offsets = s.offsets[:0]
		v.above(from, to, func(offset, _ uint32) { s.offsets = append(s.offsets, uint16(offset)) })
		s.compute(number, w)
		from, to = s.needed(), from
	}
	if from < to {
		s.note(v, from, to)
	}
	if len(s.pending) > max(leastPending, pendingShare*s.scan.K) {
		s.settle()
	}
	clear(v.sums)
}

// addUp adds the bounds of all postings in w of the query's terms to sums.
func (s *search[E]) addUp(number int, w *window[E]) {
	unit := s.factor(number) * s.scale
	// One list behind, since each is told what comes next.
	var at coded
	var step uint32
	visit := func(l coded, next uint32) {
		if len(l.offsets) == 0 {
			return
		}
		addSteps(&s.sums, at, l, step)
		at, step = l, next
	}
	for _, t := range s.query.Terms {
		// Rounded up, to 1 at least: a sum of 0 is that of a document without any
		// term of the query.
		step := uint32(max(math.Ceil(t.Weight*unit), 1))
		visit(w.of(t.ID).coded, step)
		visit(w.freshOf(t.ID).coded, step)
	}
	addSteps(&s.sums, at, coded{}, step)
}

// note puts the documents with a sum in [from, to) on the list of those whose
// scores are to be computed.
func (s *search[E]) note(v view, from, to uint32) {
	v.above(from, to, func(offset, sum uint32) {
		s.pending = append(s.pending, uint64(sum)<<32|uint64(v.first+offset))
	})
}

// settle computes the scores of the documents noted, some of those with the
// highest sums at a time, until no other can be among the best.
func (s *search[E]) settle() {
	slices.Sort(s.pending)
	some := max(leastSettle, s.scan.K/settleShare)
	for len(s.pending) > 0 {
		needed := s.needed()
		from := len(s.pending)
		for from > 0 && len(s.pending)-from < some && uint32(s.pending[from-1]>>32) >= needed {
			from--
		}
		if from == len(s.pending) {
			break
		}
		s.ords = s.ords[:0]
		for _, p := range s.pending[from:] {
			s.ords = append(s.ords, uint32(p))
		}
		s.pending = s.pending[:from]
		s.computeAll()
	}
	s.pending = s.pending[:0]
}

// computeAll computes the scores of the documents s.ords, window by window.
func (s *search[E]) computeAll() {
	slices.Sort(s.ords)
	for at := 0; at < len(s.ords); {
		number := s.x.Window(s.ords[at])
		s.offsets = s.offsets[:0]
		for ; at < len(s.ords) && s.x.Window(s.ords[at]) == number; at++ {
			_, offset := s.x.split(s.ords[at])
			s.offsets = append(s.offsets, uint16(offset))
		}
		s.compute(number, s.x.windows[number])
	}
}

// compute computes the scores of the documents of w at s.offsets, which ascend,
// and offers them.
func (s *search[E]) compute(number int, w *window[E]) {
	// Places are counted from 1, so that a full window has one too many.
	for offsets := range slices.Chunk(s.offsets, 1<<(windowBits-1)) {
		s.computeSome(offsets, w, uint32(number)<<s.x.bits)
	}
}

func (s *search[E]) computeSome(offsets []uint16, w *window[E], first uint32) {
	s.scores = slices.Grow(s.scores[:0], len(offsets))[:len(offsets)]
	clear(s.scores)
	placed := false
	for i, t := range s.query.Terms {
		for _, l := range [2]list[E]{w.of(t.ID), w.freshOf(t.ID)} {
			if len(l.offsets) > lookCost*len(offsets) {
				s.lookUp(i, l, offsets, first)
				continue
			}
			if !placed {
				placed = true
				for place, offset := range offsets {
					s.places[offset] = uint16(place + 1)
				}
			}
			s.passOver(i, l, first)
		}
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
	for _, f := range s.found[:n] {
		s.scores[f.place] += s.query.Share(i, first+uint32(offsets[f.place]), l.exact[f.at])
	}
}

// passOver is lookUp for a list that is not much longer than the documents are
// many.
func (s *search[E]) passOver(i int, l list[E], first uint32) {
	for at, offset := range l.offsets {
		if place := s.places[offset]; place > 0 {
			s.scores[place-1] += s.query.Share(i, first+uint32(offset), l.exact[at])
		}
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
