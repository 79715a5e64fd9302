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
	ords   *docset.Set // of passages: all of a document's or none
	at     int         // the moment of the branches' patchLog when ords were resolved
	length int         // documents

	// A set made by Matching has words and what it was made within, nil being all
	// documents, in place of a filter.
	words  *index.Words
	within *set
}

// Len implements index.Set.
func (s *set) Len() int { return s.length }

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
	ords := c.filter.Resolve(filter)
	return &set{of: c, in: c.branches, filter: filter, ords: ords, at: c.patched.now(), length: c.documents(ords)}, nil
}

// ordinals returns those that allowed stands for now, nil for all. mu is held.
func (c *collection) ordinals(ctx context.Context, allowed index.Set) (*docset.Set, error) {
	if allowed == nil {
		return nil, nil
	}
	s, ok := own(allowed)
	switch {
	case !ok || s.of != c:
		return nil, braid.Errorf(braid.InvalidArgument, "the set of documents is of another collection than %q: resolve the filter here", c.recorded.Name).In("allowed")
	case s.in != c.branches:
		return c.anew(ctx, s)
	}
	return c.standing(ctx, s)
}

// own returns a set of this package, which may be in an index.Matched.
func own(s index.Set) (*set, bool) {
	if m, ok := s.(index.Matched); ok {
		s = m.Set
	}
	mine, ok := s.(*set)
	return mine, ok
}

// anew resolves a set again: that of branches that others have taken the place of,
// or one so old that it is not known what of it stands. mu is held.
func (c *collection) anew(ctx context.Context, s *set) (*docset.Set, error) {
	switch {
	case s == nil:
		return c.filter.Resolve(braid.Filter{}), nil
	case s.words == nil:
		return c.filter.Resolve(s.filter), nil
	}
	within, err := c.anew(ctx, s.within)
	if err != nil {
		return nil, err
	}
	ords, _, err := c.match(ctx, *s.words, within)
	return ords, err
}

// IDs implements index.Collection.
func (c *collection) IDs(ctx context.Context, after string, limit int, within index.Set) ([]string, error) {
	if limit < 1 {
		return nil, braid.Errorf(braid.InvalidArgument, "limit is %d, want 1 or more", limit).In("limit")
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	ords, err := c.ordinals(ctx, within)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	list := c.selectIDs
	if c.walkPays(limit, ords) {
		list = c.walkIDs
	}
	ids, err := list(ctx, after, limit, ords)
	if err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "list documents of collection %q: %w", c.recorded.Name, err)
	}
	return ids, nil
}

// walkPays reports whether it is quicker to walk along the stored ids, of which
// every so many is one of ords, than to look at each of ords: a step of the
// first takes as long as 50 of the second.
func (c *collection) walkPays(limit int, ords *docset.Set) bool {
	all := float64(len(c.ords))
	members := all
	if ords != nil {
		members = float64(ords.Len()) // passages, which are what is looked at
	}
	return float64(limit)*all*50 < members*members
}

// walkIDs lists ids by going along the stored ones from after. mu is held.
func (c *collection) walkIDs(ctx context.Context, after string, limit int, ords *docset.Set) ([]string, error) {
	var ids []string
	err := c.store.IDs(ctx, c.recorded.Number, after, func(id string) bool {
		// A write that has reached the disk and not yet the branches is not
		// there yet.
		if ord, ok := c.ords[id]; ok && (ords == nil || ords.Contains(ord)) {
			ids = append(ids, id)
		}
		return len(ids) < limit
	})
	return ids, err
}

// selectIDs lists ids by looking at each of ords. mu is held.
func (c *collection) selectIDs(ctx context.Context, after string, limit int, ords *docset.Set) ([]string, error) {
	if ords == nil {
		ords = c.filter.Resolve(braid.Filter{})
	}
	var first smallest
	seen := 0
	for ord := range ords.All() {
		if seen++; seen%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		// A slot whose document is no more has no id, which is not above after.
		if s := &c.slots[ord]; s.passage == 0 && s.id > after {
			first.add(s.id, limit)
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
