package lexical

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/topk"
)

// Search returns the best scan.K documents for text by BM25, as Lucene computes
// it (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
// Beyond", 2009, without the constant factor k1+1):
//
//	score(d) = Σ weight · idf · tf / (tf + k1·(1 − b + b·length/average))
//	idf      = ln(1 + (N − n + 0.5) / (n + 0.5))
//
// over the terms of the query. A document that holds none of them is no match.
// It fails only when ctx ends.
func (x *Index) Search(ctx context.Context, text string, scan topk.Scan) ([]topk.Match, error) {
	s := x.scoring()
	q := postings.Query{Score: s.score}
	for _, t := range x.analyzer.QueryTerms(text) {
		if term, ok := x.terms.numbers[t.Text]; ok {
			weight := t.Weight * x.idf(term)
			q.Terms = append(q.Terms, postings.Term{ID: term, Weight: weight})
			s.add(term, weight)
		}
	}
	if len(q.Terms) > 0 {
		q.Values = s.values()
	}
	return x.index.Search(ctx, q, scan)
}

func (x *Index) idf(term uint32) float64 {
	n, holders := float64(x.Len()), float64(x.terms.holders[term])
	return math.Log1p((n - holders + 0.5) / (holders + 0.5))
}

// scoring computes BM25 for one query.
type scoring struct {
	base, slope float64   // tf + base + slope·length is the denominator
	weights     []float64 // of the query's terms, in its order
	frequencies []float64 // of the terms in the document at hand
	byTerm      []wanted  // by ascending term
}

// wanted is a term of the query and its place there.
type wanted struct {
	term  uint32
	place int
}

func (x *Index) scoring() *scoring {
	average := float64(x.length) / float64(max(x.Len(), 1))
	// An index without a word in it has nothing to score.
	return &scoring{base: x.opts.K1 * (1 - x.opts.B), slope: x.opts.K1 * x.opts.B / average}
}

func (s *scoring) add(term uint32, weight float64) {
	s.byTerm = append(s.byTerm, wanted{term, len(s.weights)})
	slices.SortFunc(s.byTerm, func(a, b wanted) int { return cmp.Compare(a.term, b.term) })
	s.weights = append(s.weights, weight)
	s.frequencies = append(s.frequencies, 0)
}

// share is what a term adds to the score of a document.
func (s *scoring) share(weight, frequency, length float64) float64 {
	return weight * frequency / (frequency + s.base + s.slope*length)
}

// score computes the score of a record. Shares are added up in the order of the
// query, so that the score does not depend on how terms are numbered.
func (s *scoring) score(record []byte) float64 {
	clear(s.frequencies)
	r, wanted := read(record), s.byTerm
	for r.next() {
		for len(wanted) > 0 && wanted[0].term < r.term {
			wanted = wanted[1:]
		}
		if len(wanted) == 0 {
			break
		}
		if wanted[0].term == r.term {
			s.frequencies[wanted[0].place] = float64(r.frequency)
		}
	}
	var sum float64
	for i, frequency := range s.frequencies {
		if frequency > 0 {
			sum += s.share(s.weights[i], frequency, float64(r.length))
		}
	}
	return sum
}
