package embedded

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
)

// set is an index.Set. Its ordinals are those of one collection's branches;
// when other branches have taken their place, it is resolved anew.
type set struct {
	of     *collection
	in     *branches
	filter braid.Filter
	ords   *docset.Set
}

// Len implements index.Set.
func (s *set) Len() int { return s.ords.Len() }

// Resolve implements index.Collection.
func (c *collection) Resolve(ctx context.Context, filter braid.Filter) (index.Set, error) {
	if err := filter.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "resolve a filter in collection %q: %w", c.recorded.Name, err)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	return &set{of: c, in: c.branches, filter: filter, ords: c.filter.Resolve(filter)}, nil
}

// ordinals returns those that allowed stands for now, nil for all. mu is held.
func (c *collection) ordinals(allowed index.Set) (*docset.Set, error) {
	if allowed == nil {
		return nil, nil
	}
	s, ok := allowed.(*set)
	switch {
	case !ok || s.of != c:
		return nil, braid.Errorf(braid.InvalidArgument, "the set of documents is of another collection than %q: resolve the filter here", c.recorded.Name).In("allowed")
	case s.in != c.branches:
		return c.filter.Resolve(s.filter), nil
	}
	return s.ords, nil
}

// IDs implements index.Collection. It looks at each document of within.
func (c *collection) IDs(ctx context.Context, after string, limit int, within index.Set) ([]string, error) {
	if limit < 1 {
		return nil, braid.Errorf(braid.InvalidArgument, "limit is %d, want 1 or more", limit).In("limit")
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	ords, err := c.ordinals(within)
	if err != nil {
		return nil, err
	}
	var first smallest
	for ord, slot := range c.slots {
		if ord%4096 == 0 && ctx.Err() != nil {
			return nil, braid.Errorf(braid.CodeOf(ctx.Err()), "list documents of collection %q: %w", c.recorded.Name, ctx.Err())
		}
		// No id is empty, and therefore a slot without one is not above after.
		if slot.id > after && (ords == nil || ords.Contains(uint32(ord))) {
			first.add(slot.id, limit)
		}
	}
	return first.cut(limit), nil
}

// smallest keeps the smallest of many ids in a few times as much memory as they
// take.
type smallest struct {
	ids  []string
	most string // what is above it is not among them; "" is not known yet
}

func (s *smallest) add(id string, n int) {
	if s.most != "" && id > s.most {
		return
	}
	if s.ids = append(s.ids, id); len(s.ids)/2 > n {
		s.most = s.cut(n)[n-1]
	}
}

// cut leaves the n smallest, or all there are, and returns them in order.
func (s *smallest) cut(n int) []string {
	slices.Sort(s.ids)
	s.ids = s.ids[:min(n, len(s.ids))]
	return s.ids
}
