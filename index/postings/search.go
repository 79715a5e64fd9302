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
type Query struct {
	Terms []Term // each once, in any order
	// Values says what codes stand for; nil is that each stands for itself.
	Values *[256]float64
	// Score computes the score of a record. For a document without any of the
	// terms it is 0 or below, for the others above 0 and, up to the rounding of
	// float64, no more than the sum of the values of its codes times the weights
	// of their terms.
	Score func(record []byte) float64
}

// Term is a term of a query and what the values of its codes are multiplied
// with, which is above 0 and finite.
type Term struct {
	ID     uint32
	Weight float64
}

const (
	// sumUnits is what the largest possible sum of a query comes to in the
	// integers that bounds are added up in. Two bits are left for rounding up.
	sumUnits = 1 << 30
	// mostTerms keeps what rounding up can add to a sum far below those bits.
	mostTerms = 1 << 20
	// margin is more than floating-point numbers lose on the way from a score to
	// the units of its bound.
	margin = 1e-9
	// pendingShare times K is how many documents wait to have their scores
	// computed before a search stops to do so, and leastPending the least.
	pendingShare = 4
	leastPending = 1024
	// recordCost is about what it takes to read one term of a record, if passing
	// over a posting is 1.
	recordCost = 12
	// A filter that allows fewer than one document in sparseShare is asked for
	// its members, not about each document with a high sum.
	sparseShare = 8
)

// scratch is the memory of one search. Between searches all sums are 0.
type scratch struct {
	sums    [1 << windowBits]uint32
	allowed [1 << windowBits / 64]uint64
	pending []uint64
	terms   []bound
}

// bound is a term and what its codes add to sums.
type bound struct {
	id   uint32
	step uint32       // a code adds code times step
	byOf *[256]uint32 // a code adds byOf[code]; nil if step says it
}

// search is a search under way.
type search struct {
	*scratch
	x     *Index
	scan  topk.Scan
	score func([]byte) float64
	best  *topk.Collector
	scale float64 // from scores to the units of sums
}

// Search returns the best documents that hold a term of q and are in
// scan.Allowed. It fails only when ctx ends.
func (x *Index) Search(ctx context.Context, q Query, scan topk.Scan) ([]topk.Match, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	if scan.K < 1 || len(q.Terms) == 0 {
		return nil, nil
	}
	s := search{x: x, scan: scan, score: q.Score, best: topk.NewCollector(scan)}
	s.scratch = x.scratch.Get().(*scratch)
	defer x.scratch.Put(s.scratch)
	if x.fewer(q, scan) {
		return s.readAll(ctx)
	}
	s.weigh(q)
	for number, w := range x.windows {
		if w == nil || w.live == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, ended(err)
		}
		s.searchWindow(number, w)
	}
	s.settle()
	return s.best.Matches(), nil
}

func ended(err error) error { return braid.Errorf(braid.CodeOf(err), "search postings: %w", err) }

// fewer reports whether reading the record of every allowed document takes less
// than adding up the postings of q.
func (x *Index) fewer(q Query, scan topk.Scan) bool {
	if len(q.Terms) > mostTerms {
		return true // it is the only way
	}
	if scan.Allowed == nil {
		return false
	}
	var matching, all int
	for _, w := range x.windows {
		if w == nil {
			continue
		}
		all += len(w.offsets) + w.freshCount
		for _, t := range q.Terms {
			matching += len(w.of(t.ID).offsets) + len(w.freshOf(t.ID).offsets)
		}
	}
	average := all / max(x.live, 1)
	return scan.Allowed.Len()*(average+1)*recordCost < matching+x.live
}

// readAll computes the score of every allowed document.
func (s *search) readAll(ctx context.Context) ([]topk.Match, error) {
	for number, w := range s.x.windows {
		if w == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, ended(err)
		}
		alive := w.alive
		if s.scan.Allowed != nil {
			alive, _ = s.intersect(number, w)
		}
		for offset := range alive.all {
			if score := s.score(w.get(offset)); score > 0 {
				s.best.Offer(uint32(number)<<s.x.bits|offset, score)
			}
		}
	}
	return s.best.Matches(), nil
}

// intersect returns the live documents of w that may be found, in scratch, and
// their number.
func (s *search) intersect(number int, w *window) (allowed bitset, n int) {
	words := s.scan.Allowed.Words()
	words = words[min(number<<s.x.bits/64, len(words)):]
	allowed = s.allowed[:min(len(w.alive), len(words))]
	for i := range allowed {
		allowed[i] = w.alive[i] & words[i]
		n += bits.OnesCount64(allowed[i])
	}
	return allowed, n
}

// weigh turns the weights of q into units.
func (s *search) weigh(q Query) {
	highest := 255.0
	if q.Values != nil {
		highest = slices.Max(q.Values[:])
	}
	var total float64
	for _, t := range q.Terms {
		total += t.Weight * highest
	}
	s.scale = sumUnits / total
	s.pending = s.pending[:0]
	s.terms = s.terms[:0]
	for _, t := range q.Terms {
		b := bound{id: t.ID, step: units(t.Weight * s.scale)}
		if q.Values != nil {
			b.byOf = new([256]uint32)
			for code, value := range q.Values {
				b.byOf[code] = units(t.Weight * value * s.scale)
			}
		}
		s.terms = append(s.terms, b)
	}
}

// units rounds up, to 1 at least: a sum of 0 is that of a document without any
// term of the query.
func units(x float64) uint32 { return uint32(max(math.Ceil(x), 1)) }

// needed is the smallest sum of a document that can be among the best.
func (s *search) needed() uint32 {
	floor := s.best.Floor() * s.scale * (1 - margin)
	if !(floor > 1) {
		return 1
	}
	return uint32(floor)
}

// searchWindow adds up the bounds of a window's documents and notes those that
// can be among the best.
func (s *search) searchWindow(number int, w *window) {
	v := view{sums: s.sums[:len(w.at)], first: uint32(number) << s.x.bits}
	if s.scan.Allowed != nil {
		allowed, n := s.intersect(number, w)
		if n == 0 {
			return
		}
		v.allowed, v.few = allowed, n < w.live/sparseShare
	} else if w.dead > 0 {
		v.allowed = w.alive
	}
	s.addUp(w)
	from, to := s.needed(), uint32(math.MaxUint32)
	if from == 1 {
		// Nothing is known yet of the score that is needed. The documents with
		// the K highest sums tell.
		from = v.kth(s.scan.K)
		s.note(v, from, to)
		s.settle()
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
func (s *search) addUp(w *window) {
	// One list behind, since each is told what comes next.
	var at list
	var of bound
	visit := func(l list, b bound) {
		if len(l.offsets) == 0 {
			return
		}
		s.add(at, l, of)
		at, of = l, b
	}
	for _, b := range s.terms {
		visit(w.of(b.id), b)
		visit(w.freshOf(b.id), b)
	}
	s.add(at, list{}, of)
}

func (s *search) add(l, then list, b bound) {
	if b.byOf != nil {
		addTable(&s.sums, l, b.byOf)
	} else {
		addSteps(&s.sums, l, then, b.step)
	}
}

// view is a window with its sums added up.
type view struct {
	sums    []uint32
	first   uint32 // ordinal of sums[0]
	allowed bitset // nil: all with a sum above 0
	few     bool   // only few are allowed
}

// note puts the documents with a sum in [from, to) on the list of those whose
// scores are to be computed.
func (s *search) note(v view, from, to uint32) {
	if v.few {
		for at := range v.allowed.all {
			if sum := v.sums[at]; sum >= from && sum < to {
				s.pending = append(s.pending, uint64(sum)<<32|uint64(v.first+at))
			}
		}
		return
	}
	for at := next(v.sums, 0, from); at < len(v.sums); at = next(v.sums, at+1, from) {
		if sum := v.sums[at]; sum < to && (v.allowed == nil || v.allowed.has(uint32(at))) {
			s.pending = append(s.pending, uint64(sum)<<32|uint64(v.first+uint32(at)))
		}
	}
}

// settle computes the scores of the documents noted, those with the highest
// sums first, until no other can be among the best.
func (s *search) settle() {
	slices.Sort(s.pending)
	for _, p := range slices.Backward(s.pending) {
		if uint32(p>>32) < s.needed() {
			break
		}
		ord := uint32(p)
		number, offset := s.x.split(ord)
		s.best.Offer(ord, s.score(s.x.windows[number].get(offset)))
	}
	s.pending = s.pending[:0]
}

// kth returns a sum, above 0, that at least k documents reach, if there are so
// many with any, and few more than k. Sums are counted by size, to 1 in 64.
func (v view) kth(k int) uint32 {
	var counts [sizes]uint32
	if v.allowed == nil {
		for _, sum := range v.sums {
			counts[size(sum)]++
		}
	} else {
		for at := range v.allowed.all {
			counts[size(v.sums[at])]++
		}
	}
	n := 0
	for s := uint32(sizes - 1); s > 0; s-- {
		n += int(counts[s])
		if n >= k {
			return uint32(math.Float32frombits((s + size1) << sizeShift))
		}
	}
	return 1
}

// The size of a sum is its logarithm, roughly: the upper bits of its floating
// point form.
const (
	sizeShift = 23 - 6
	size1     = 127<<(23-sizeShift) - 1 // of a sum of 1, before it is made 1
	sizes     = 33 << (23 - sizeShift)  // of sums up to twice sumUnits, and more
)

// size is 0 of 0, and grows with sum.
func size(sum uint32) uint32 {
	return max(math.Float32bits(float32(sum))>>sizeShift, size1) - size1
}
