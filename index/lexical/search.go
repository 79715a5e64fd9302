package lexical

import (
	"context"
	"math"

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
	return x.SearchTerms(ctx, x.analyzer.QueryTerms(text), scan)
}

// SearchTerms is Search for what Analyzer.QueryTerms has made of a text.
func (x *Index) SearchTerms(ctx context.Context, query []QueryTerm, scan topk.Scan) ([]topk.Match, error) {
	base, slope := x.opts.base(), x.opts.slope(float64(x.length)/float64(x.Len()))
	terms, bounds := make([]wanted, 0, len(query)), make([]postings.Term, 0, len(query))
	for _, t := range query {
		if term, ok := x.terms.numbers[t.Text]; ok {
			weight := t.Weight * x.idf(term)
			terms = append(terms, wanted{term, weight})
			bounds = append(bounds, postings.Term{ID: term, Weight: weight / topCode})
		}
	}
	return x.index.Search(ctx, postings.Query[uint8]{
		Terms:  bounds,
		Factor: x.factor,
		Share: func(i int, ord uint32, count uint8) float64 {
			t := terms[i]
			return share(t.weight, float64(x.frequency(t.term, ord, count)), base, slope, float64(x.documents.lengths[ord]))
		},
	}, scan)
}

// wanted is a term of a query.
type wanted struct {
	term   uint32
	weight float64
}

func (x *Index) idf(term uint32) float64 {
	n, holders := float64(x.Len()), float64(x.terms.holders[term])
	return math.Log1p((n - holders + 0.5) / (holders + 0.5))
}
