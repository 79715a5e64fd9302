package search

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search/split"
)

// ReindexResult says what Reindex did.
type ReindexResult struct {
	Documents int `json:"documents"`
	Passages  int `json:"passages"`
	index.Reindexed
	// Unchanged says that the collection was made with just these models and
	// settings: nothing was done.
	Unchanged bool `json:"unchanged"`
}

// Reindex gives the collection called name the loaded models, and settings where
// they are given; where not, it keeps its own. The collection is searched and
// written as before until all is done. What a model has made of a passage is kept if
// both are to be as they were. An interrupted call is finished by calling again.
// progress, which may be nil, is called with documents.
func (s *Service) Reindex(ctx context.Context, name string, settings Settings, progress func(done, total int)) (ReindexResult, error) {
	c, err := s.openToWrite(ctx, name)
	if err != nil {
		return ReindexResult{}, err
	}
	if err := s.mayOwn(name); err != nil {
		return ReindexResult{}, err
	}
	from := c.Info().Schema
	if settings.Passages == nil {
		settings.Passages = &PassageSettings{Tokens: &from.Passages.Tokens, Overlap: &from.Passages.Overlap}
	}
	size, err := s.passageSize(ctx, settings)
	if err != nil {
		return ReindexResult{}, err
	}
	r := remaker{s: s, from: from, to: s.schema(size)}
	if r.from == r.to {
		info := c.Info()
		return ReindexResult{Documents: info.Documents, Passages: info.Passages, Unchanged: true}, nil
	}
	done, err := s.engine.Reindex(ctx, name, r.to, r.remake, progress)
	if err != nil {
		return ReindexResult{Reindexed: done}, err
	}
	info, err := s.Info(ctx, name)
	return ReindexResult{Documents: info.Documents, Passages: info.Passages, Reindexed: done}, err
}

// remaker makes entries of a collection of one schema into those of another.
type remaker struct {
	s        *Service
	from, to index.Schema
}

func (r *remaker) remake(ctx context.Context, stored []index.Entry) ([]index.Entry, error) {
	entries := make([]index.Entry, len(stored))
	kept := map[*index.Passage]bool{} // whose sparse vector is
	for i, old := range stored {
		d := old.Document
		e := index.Whole(d, r.s.fingerprint(d, r.to))
		// Of what was stored when nothing was split, some may be nothing but markup.
		if split.Readable(d) {
			var err error
			if e, err = r.s.entryOf(ctx, r.to, d, e.Fingerprint); err != nil {
				return nil, err
			}
		}
		r.keep(old, e, kept)
		entries[i] = e
	}
	g, ctx := errgroup.WithContext(ctx)
	request := func(list []unread) inference.Request {
		return inference.Request{Texts: textsOf(list), Role: inference.RolePassage, Lane: inference.LaneIngest, Length: inference.LengthOne}
	}
	if list := unreadOf(entries, func(p *index.Passage) bool { return p.Dense == nil }); r.to.Dense.Name != "" && len(list) > 0 {
		g.Go(func() error {
			out, _, err := r.s.models.Dense.Embed(ctx, request(list))
			for i := range out {
				list[i].passage.Dense = out[i].Vector
			}
			return wrapped("encode dense", err)
		})
	}
	if list := unreadOf(entries, func(p *index.Passage) bool { return !kept[p] }); r.to.Sparse.Name != "" && len(list) > 0 {
		g.Go(func() error {
			out, _, err := r.s.models.Sparse.Expand(ctx, request(list))
			for i := range out {
				list[i].passage.Sparse = out[i].Vector
			}
			return wrapped("encode sparse", err)
		})
	}
	if list := unreadOf(entries, func(p *index.Passage) bool { return p.Tokens == nil }); r.to.Pair.Name != "" && len(list) > 0 {
		g.Go(func() error {
			tokens, err := r.s.models.Pair.Tokens(ctx, textsOf(list))
			for i := range tokens {
				list[i].passage.Tokens = tokens[i]
			}
			return wrapped("tokenise for the reranker", err)
		})
	}
	return entries, g.Wait()
}

// keep takes over what the models that stay have made of passages that read the
// same. Of a sparse vector, which may be empty, it is noted in kept.
func (r *remaker) keep(old, e index.Entry, kept map[*index.Passage]bool) {
	before := make(map[string]index.Passage, len(old.Passages))
	for i, p := range old.Passages {
		before[old.Read(i)] = p
	}
	for i := range e.Passages {
		p := &e.Passages[i]
		was, ok := before[e.Read(i)]
		if !ok {
			continue
		}
		if r.to.Dense.Digest == r.from.Dense.Digest {
			p.Dense = was.Dense
		}
		if r.to.Sparse.Digest == r.from.Sparse.Digest {
			p.Sparse, kept[p] = was.Sparse, true
		}
		if r.to.Pair.Digest == r.from.Pair.Digest {
			p.Tokens = was.Tokens
		}
	}
}

func wrapped(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// reindexHint is the way out for who has a collection of other models.
const reindexHint = "`braid reindex` moves it to the loaded models"
