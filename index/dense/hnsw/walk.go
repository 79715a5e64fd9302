package hnsw

import (
	"context"
	"math"
)

const (
	// stepPrice is how many codes are compared in a scan in the time of one step of
	// a walk, which looks at a node's neighbours, and farStepPrice where the codes are
	// more bytes than cached, about what a processor keeps near: codes that come from
	// memory make a scan several times slower, and a step by half.
	stepPrice    = 42
	farStepPrice = 18
	cached       = 32 << 20
	// patience is how many steps a walk takes between two looks at its context and
	// its price.
	patience = 16
	// trials is how many times patience steps a scan has to cost for a walk to be
	// tried that seems dearer: what is allowed may lie near the query.
	trials = 16
)

// pace says how far a walk goes.
type pace struct {
	k, ef int // as asked for
	there int // nodes that may be returned
	all   int // nodes that a walk can come by
	price int // of a step, in nodes that a scan compares

	steps   int
	counted int // nodes compared
	found   int // of them, those that may be returned
}

// PaysFrom tells that a search with DefaultEf is to be a walk from about n vectors
// on that may be returned; from some 4,000 on it is in any case, and below 1,800
// never. It must not be called during other calls.
func (g *Graph) PaysFrom(n int) {
	g.stepPrice = max(farStepPrice, min(stepPrice, (n-1)/DefaultEf))
}

// newPace returns that of a search for the k best among there of all nodes.
func (g *Graph) newPace(k, ef, there, all int) pace {
	p := pace{k: k, ef: max(ef, k), there: there, all: all, price: g.stepPrice}
	if all*g.dim > cached {
		p.price = min(p.price, farStepPrice)
	}
	return p
}

// keep is how many candidates find the k best as well as ef do where every node
// may be returned, if only a share of them may. A walk that keeps as many goes the
// further the smaller the share, and finds more. Measured on the sentences of
// bench/dense, for ten with an ef of a hundred and a hundred with two hundred.
func (p *pace) keep(share float64) int {
	return p.k + int(math.Ceil(float64(p.ef-p.k)*math.Sqrt(share)))
}

// ahead is how many steps are left to take: a walk comes by nodes in about the
// order of their scores until it has passed those it keeps.
func (p *pace) ahead(share float64) float64 { return float64(p.keep(share))/share - float64(p.steps) }

// begins reports whether a walk seems cheaper than a scan, or cheap to try.
func (p *pace) begins() bool {
	scan := float64(p.there) / float64(p.price)
	return p.there > 0 && (p.ahead(float64(p.there)/float64(p.all)) < scan || scan > trials*patience)
}

// goesOn reports whether to go on seems cheaper than a scan, if a share of the
// nodes that the walk comes by may be returned.
func (p *pace) goesOn(share float64) bool {
	scan := float64(p.there) / float64(p.price)
	return p.ahead(share) < scan && float64(p.steps) < 2*scan
}

// walk fills the results with the best nodes that a way through the graph finds.
// It gives up, and reports false, when ctx ends and when to go on seems dearer than
// a scan: few of the nodes it comes by may be returned, which lie elsewhere.
func (s *searcher) walk(ctx context.Context, query []float32, entry uint64, p *pace) (ok bool) {
	s.aim(query)
	from := s.descend(s.start(entry), int(entry>>32), 0)
	s.forget()
	s.visit(from.Ord())
	s.candidates = append(s.candidates[:0], from)
	keep, ok := p.ef, true
	s.around(0, func() int {
		if p.steps++; p.steps%patience != 0 {
			return keep
		}
		if ok = ctx.Err() == nil; ok && p.there < p.all {
			share := s.share(p)
			keep, ok = p.keep(share), p.goesOn(share)
		}
		if !ok {
			return 0
		}
		return keep
	})
	return ok
}

// share is the part of the nodes compared so far that may be returned, taken to be
// one more than it is.
func (s *searcher) share(p *pace) float64 {
	for _, n := range s.touched[p.counted:] {
		if s.returnable(n) {
			p.found++
		}
	}
	p.counted = len(s.touched)
	return min(1, float64(p.found+1)/float64(p.counted))
}
