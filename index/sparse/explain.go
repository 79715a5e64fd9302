package sparse

import "github.com/braid-search/braid"

// Share is what one index of a query gave to a document's score: the product of
// its two weights.
type Share struct {
	Index           uint32
	Query, Document float32
	// Contribution is above 0. Those of a document, added in order, are its score
	// as Search has it, to the last bit.
	Contribution float64
}

// Explain returns the shares of the indices that query and document ord have in
// common, in the order of query; none when ord is not there.
func (p *Postings) Explain(query braid.SparseVector, ord uint32) []Share {
	var shares []Share
	for i, index := range query.Indices {
		if w, ok := p.index.Lookup(ord, index); ok {
			q := query.Values[i]
			shares = append(shares, Share{index, q, w, float64(q) * float64(w)})
		}
	}
	return shares
}
