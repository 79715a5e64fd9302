package lexical

import (
	"math"

	"github.com/braid-search/braid/index/topk"
)

// Search returns the best q.K documents for text by BM25, as Lucene computes
// it (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009, without the constant factor k1+1):
//
//	score(d) = Σ weight · idf · tf / (tf + k1·(1 − b + b·length/average))
//	idf      = ln(1 + (N − n + 0.5) / (n + 0.5))
//
// over the terms of the query. A document that holds none of them is no match.
func (x *Index) Search(text string, q topk.Scan) []topk.Match {
	if q.K < 1 || x.live == 0 {
		return nil
	}
	acc := x.accumulators.Get().(*accumulator)
	acc.grow(len(x.documents))
	for _, t := range x.analyzer.QueryTerms(text) {
		if id, ok := x.terms[t.Text]; ok {
			x.accumulate(acc, &x.postings[id], t.Weight)
		}
	}
	best := topk.NewCollector(q)
	acc.drain(best)
	x.accumulators.Put(acc)
	return best.Matches()
}

// accumulate adds one term's share to the score of each document with it.
func (x *Index) accumulate(acc *accumulator, p *postings, weight float64) {
	n, df := float64(x.live), float64(len(p.ordinals))
	weight *= math.Log1p((n - df + 0.5) / (df + 0.5))
	average := float64(x.length) / n // above 0: what is posted has a length
	base, slope := x.opts.K1*(1-x.opts.B), x.opts.K1*x.opts.B/average
	for i, ord := range p.ordinals {
		tf := float64(p.counts[i])
		acc.add(ord, weight*tf/(tf+base+slope*float64(x.lengths[ord])))
	}
}

// accumulator holds the scores of one search, by ordinal. Between searches all
// scores are zero.
type accumulator struct {
	scores  []float64
	touched []uint32
}

func (a *accumulator) grow(n int) {
	if n > len(a.scores) {
		a.scores = make([]float64, n+n/4)
	}
}

func (a *accumulator) add(ord uint32, share float64) {
	if a.scores[ord] == 0 {
		a.touched = append(a.touched, ord)
	}
	a.scores[ord] += share
}

// drain offers all scores to best and sets them back to zero.
func (a *accumulator) drain(best *topk.Collector) {
	floor := best.Floor()
	for _, ord := range a.touched {
		if score := a.scores[ord]; score >= floor {
			best.Offer(ord, score)
			floor = best.Floor()
		}
		a.scores[ord] = 0
	}
	a.touched = a.touched[:0]
}
