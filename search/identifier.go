package search

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// identify looks whether the identifiers of a query are names that the collection
// has. A part number of another series, or the beginning of one, is in no document:
// then BM25 knows no more about it than the other branches, and the query is treated
// like any other. Only what the lexical branch found is looked at, so that nobody
// learns what he may not search.
func (p *plan) identify(ctx context.Context, c index.Collection, found []branchResult) {
	if p.routing == nil || p.routing.Kind != KindIdentifier || p.fusionSaid && p.RerankWeight != nil {
		return
	}
	i := slices.IndexFunc(found, func(r branchResult) bool { return r.branch == braid.Lexical })
	if i < 0 || found[i].err != nil {
		return
	}
	top := found[i].hits
	shares, err := c.ExplainLexical(ctx, p.Query, top[:min(agreementDepth, len(top))])
	if err != nil {
		return // as if they were known
	}
	for _, name := range p.routing.Identifiers {
		if !held(shares, wholeTerm(c, name)) {
			p.routing.Unknown = append(p.routing.Unknown, name)
		}
	}
	if p.routing.Unknown == nil {
		return
	}
	d := p.routing.defaults()
	if p.RerankWeight == nil {
		p.rerankWeight = d.rerankWeight
	}
	if !p.fusionSaid {
		p.Fusion = d.fusion()
	}
}

// wholeTerm is the term that all of name is looked for as, and not its parts.
func wholeTerm(c index.Collection, name string) string {
	var whole index.QueryTerm
	for _, t := range c.AnalyzeQuery(name).Terms {
		if t.End-t.Start > whole.End-whole.Start {
			whole = t
		}
	}
	return whole.Term
}

// held reports whether a document holds term.
func held(shares [][]index.LexicalShare, term string) bool {
	return slices.ContainsFunc(shares, func(of []index.LexicalShare) bool {
		return slices.ContainsFunc(of, func(s index.LexicalShare) bool { return s.Term == term })
	})
}
