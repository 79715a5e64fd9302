package embedded

import (
	"context"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// ExplainLexical implements index.Explainer.
func (c *collection) ExplainLexical(ctx context.Context, text string, hits []braid.Hit) ([][]index.LexicalShare, error) {
	var all [][]index.LexicalShare
	query := c.analyzer.QueryTerms(text)
	err := c.explain(ctx, hits, func(ord uint32) {
		shares := c.lexical.Explain(query, ord)
		made := make([]index.LexicalShare, len(shares))
		for i, s := range shares {
			made[i] = index.LexicalShare{Term: s.Text, Weight: s.Weight, Frequency: s.Frequency, IDF: s.IDF, Norm: s.Norm, Contribution: s.Contribution}
		}
		all = append(all, made)
	}, func() { all = append(all, nil) })
	return all, err
}

// ExplainSparse implements index.Explainer.
func (c *collection) ExplainSparse(ctx context.Context, vector braid.SparseVector, hits []braid.Hit) ([][]index.SparseShare, error) {
	if err := c.recorded.Schema.ValidateSparse(vector); err != nil {
		return nil, err
	}
	var all [][]index.SparseShare
	err := c.explain(ctx, hits, func(ord uint32) {
		shares := c.sparse.Explain(vector, ord)
		made := make([]index.SparseShare, len(shares))
		for i, s := range shares {
			made[i] = index.SparseShare(s)
		}
		all = append(all, made)
	}, func() { all = append(all, nil) })
	return all, err
}

// explain calls found for the passage of each hit, in order, and missing for
// one that is no more.
func (c *collection) explain(ctx context.Context, hits []braid.Hit, found func(ord uint32), missing func()) error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return c.gone
	}
	for _, h := range hits {
		if err := ctx.Err(); err != nil {
			return braid.Errorf(braid.CodeOf(err), "explain hits of collection %q: %w", c.recorded.Name, err)
		}
		if ord, ok := c.ordinal(h); ok {
			found(ord)
		} else {
			missing()
		}
	}
	return nil
}

// Locate implements index.Explainer.
func (c *collection) Locate(text string, terms []string) []index.Place {
	var places []index.Place
	for _, t := range c.analyzer.Locate(text, terms) {
		places = append(places, index.Place{Start: t.Start, End: t.End, Term: t.Text})
	}
	return places
}

// AnalyzeQuery implements index.Explainer.
func (c *collection) AnalyzeQuery(text string) index.QueryAnalysis {
	var made index.QueryAnalysis
	for _, t := range c.analyzer.QueryTerms(text) {
		made.Terms = append(made.Terms, index.QueryTerm{Term: t.Text, Weight: t.Weight, Start: t.Start, End: t.End})
	}
	made.Dropped = c.analyzer.Dropped(text)
	return made
}
