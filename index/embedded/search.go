package embedded

import (
	"context"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/topk"
)

// SearchDense implements index.Collection.
func (c *collection) SearchDense(ctx context.Context, vector []float32, q index.Query) ([]braid.Hit, error) {
	if err := c.recorded.Schema.ValidateDense(vector); err != nil {
		return nil, err
	}
	return c.search(ctx, q, func(scan topk.Scan) ([]topk.Match, error) {
		matches, method, err := c.dense.Search(ctx, vector, scan)
		if q.Method != nil {
			*q.Method = method
		}
		return matches, err
	})
}

// SearchSparse implements index.Collection.
func (c *collection) SearchSparse(ctx context.Context, vector braid.SparseVector, q index.Query) ([]braid.Hit, error) {
	if err := c.recorded.Schema.ValidateSparse(vector); err != nil {
		return nil, err
	}
	return c.search(ctx, q, func(scan topk.Scan) ([]topk.Match, error) {
		return c.sparse.Search(ctx, vector, scan)
	})
}

// SearchLexical implements index.Collection.
func (c *collection) SearchLexical(ctx context.Context, text string, q index.Query) ([]braid.Hit, error) {
	return c.search(ctx, q, func(scan topk.Scan) ([]topk.Match, error) {
		return c.lexical.Search(ctx, text, scan)
	})
}

// search runs one branch and names what it found.
func (c *collection) search(ctx context.Context, q index.Query, find func(topk.Scan) ([]topk.Match, error)) ([]braid.Hit, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "search collection %q: %w", c.recorded.Name, err)
	}
	scan, err := c.scan(ctx, q)
	if err != nil {
		return nil, err
	}
	matches, err := find(scan)
	if err != nil {
		return nil, err
	}
	hits := make([]braid.Hit, len(matches))
	for i, m := range matches {
		s := &c.slots[m.Ord]
		hits[i] = braid.Hit{ID: s.id, Passage: int(s.passage), Score: m.Score}
	}
	return hits, nil
}

// scan puts q in terms of ordinals, with ties in the order of ids and passages.
// mu is held.
func (c *collection) scan(ctx context.Context, q index.Query) (topk.Scan, error) {
	allowed, err := c.ordinals(ctx, q.Allowed)
	return topk.Scan{
		K:       q.K,
		Allowed: allowed,
		Before: func(x, y uint32) bool {
			if order := strings.Compare(c.slots[x].id, c.slots[y].id); order != 0 {
				return order < 0
			}
			return x < y
		},
	}, err
}
