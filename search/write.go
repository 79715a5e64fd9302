package search

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// writer encodes and writes documents in steps of ingestPassages passages or a few
// more.
type writer struct {
	s        *Service
	c        index.Collection
	schema   index.Schema
	entries  []index.Entry
	replaced []string // ids of entries that are stored already
	passages int
	result   IngestResult // of the steps that were written
}

// add takes a document in, to be written with the next flush. stored says that it
// is there with other content.
func (w *writer) add(ctx context.Context, e index.Entry, stored bool) error {
	w.entries = append(w.entries, e)
	if stored {
		w.replaced = append(w.replaced, e.Document.ID)
	}
	if w.passages += len(e.Passages); w.passages < ingestPassages {
		return nil
	}
	return w.flush(ctx)
}

// flush encodes and writes what was added.
func (w *writer) flush(ctx context.Context) error {
	if len(w.entries) == 0 {
		return nil
	}
	usage, err := w.s.encode(ctx, w.c, w.schema, w.entries, w.replaced)
	if err != nil {
		return err
	}
	written, err := w.c.Write(ctx, index.Batch{Upserts: w.entries, Within: w.s.scope.Filter})
	if err != nil {
		return err
	}
	w.result.Add(usage)
	w.result.Created += written.Created
	w.result.Replaced += written.Replaced
	w.entries, w.replaced, w.passages = nil, nil, 0
	return nil
}

// unread is a passage that a model has to read.
type unread struct {
	passage *index.Passage
	text    string
	entry   int // whose it is
}

// unreadOf returns the passages of entries for which which is true.
func unreadOf(entries []index.Entry, which func(*index.Passage) bool) []unread {
	var list []unread
	for i, e := range entries {
		for n := range e.Passages {
			if p := &e.Passages[n]; which(p) {
				list = append(list, unread{passage: p, text: e.Read(n), entry: i})
			}
		}
	}
	return list
}

func textsOf(list []unread) []string {
	texts := make([]string, len(list))
	for i, u := range list {
		texts[i] = u.text
	}
	return texts
}

// encode fills in what the models make of the entries' passages, those left out
// that are stored under replaced and read the same. The models run side by side;
// the scheduler shares the cores out among them.
func (s *Service) encode(ctx context.Context, c index.Collection, schema index.Schema, entries []index.Entry, replaced []string) (IngestResult, error) {
	var usage IngestResult
	encodes := schema.Dense.Name != "" || schema.Sparse.Name != ""
	reused := map[*index.Passage]bool{}
	if encodes && len(replaced) > 0 {
		var err error
		if reused, err = reuse(ctx, c, entries, replaced); err != nil {
			return usage, fmt.Errorf("read what is encoded: %w", err)
		}
		usage.Reused = len(reused)
	}
	g, ctx := errgroup.WithContext(ctx)
	if encodes {
		fresh := unreadOf(entries, func(p *index.Passage) bool { return !reused[p] })
		if usage.Encoded = len(fresh); len(fresh) > 0 {
			s.runEncoders(ctx, g, schema, fresh, &usage)
		}
	}
	if s.keepsTokens(schema) {
		if list := unreadOf(entries, func(p *index.Passage) bool { return p.Tokens == nil }); len(list) > 0 {
			g.Go(func() error {
				tokens, err := s.models.Pair.Tokens(ctx, textsOf(list))
				if err != nil {
					return fmt.Errorf("tokenise for the reranker: %w", err)
				}
				for i, t := range tokens {
					list[i].passage.Tokens = t
				}
				return nil
			})
		}
	}
	err := g.Wait()
	return usage, err
}

// runEncoders starts the models of schema in g. usage is theirs until g is done.
func (s *Service) runEncoders(ctx context.Context, g *errgroup.Group, schema index.Schema, fresh []unread, usage *IngestResult) {
	req := inference.Request{Texts: textsOf(fresh), Role: inference.RolePassage, Lane: inference.LaneIngest, Length: inference.LengthOne}
	if schema.Dense.Name != "" {
		g.Go(func() error {
			out, _, err := s.models.Dense.Embed(ctx, req)
			if err != nil {
				return fmt.Errorf("encode dense: %w", err)
			}
			truncated := map[int]bool{}
			for i, e := range out {
				fresh[i].passage.Dense = e.Vector
				usage.Tokens += e.Tokens
				if e.Truncated {
					truncated[fresh[i].entry] = true
				}
			}
			usage.Truncated = len(truncated)
			return nil
		})
	}
	if schema.Sparse.Name != "" {
		g.Go(func() error {
			out, _, err := s.models.Sparse.Expand(ctx, req)
			if err != nil {
				return fmt.Errorf("encode sparse: %w", err)
			}
			for i, e := range out {
				fresh[i].passage.Sparse = e.Vector
			}
			return nil
		})
	}
}

// reuse takes over what the encoders made of passages that are stored under ids,
// where a passage of the same document reads the same, and returns those. Their
// places may have changed; title and headings are part of what is read.
func reuse(ctx context.Context, c index.Collection, entries []index.Entry, ids []string) (map[*index.Passage]bool, error) {
	stored, err := c.Encoded(ctx, ids)
	if err != nil {
		return nil, err
	}
	known := make(map[string]map[string]index.Passage, len(stored))
	for _, old := range stored {
		passages := make(map[string]index.Passage, len(old.Passages))
		for i, p := range old.Passages {
			passages[old.Read(i)] = p
		}
		known[old.Document.ID] = passages
	}
	reused := map[*index.Passage]bool{}
	for _, e := range entries {
		for i := range e.Passages {
			if old, ok := known[e.Document.ID][e.Read(i)]; ok {
				p := &e.Passages[i]
				p.Dense, p.Sparse, p.Tokens = old.Dense, old.Sparse, old.Tokens
				reused[p] = true
			}
		}
	}
	return reused, nil
}

// keepsTokens reports whether the token ids the collection stores are those of
// the loaded reranker. Without them the reranker tokenises passages itself.
func (s *Service) keepsTokens(schema index.Schema) bool {
	return s.models.Pair != nil && schema.Pair == s.models.PairRef
}
