package main

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// answerAll answers the queries in order: in every way where they are compared, one
// by itself, and several in batches.
func (s *session) answerAll(ctx context.Context, queries []query, reqs []search.Request, compare bool) error {
	switch {
	case compare:
		for i, q := range queries {
			if err := s.compare(ctx, q, reqs[i]); err != nil {
				return err
			}
		}
		return nil
	case len(queries) == 1:
		return s.ask(ctx, queries[0], reqs[0])
	}
	return s.askBatches(ctx, queries, reqs)
}

// askBatches prints what there is of every query. A query that failed does not keep
// the rest back; the error says how many did.
func (s *session) askBatches(ctx context.Context, queries []query, reqs []search.Request) error {
	var first error
	failed := 0
	for batch := range slices.Chunk(reqs, search.MaxBatch) {
		answers, err := s.backend.SearchBatch(ctx, s.collection, batch)
		if err != nil {
			return err
		}
		for i, a := range answers {
			if a.Err != nil {
				failed++
				if first == nil {
					first = a.Err
				}
				s.refusal(queries[i], a.Err)
				continue
			}
			s.show(queries[i], a.Response)
		}
		queries = queries[len(batch):]
	}
	if failed > 0 {
		return braid.Errorf(braid.CodeOf(first), "%d of %d queries failed, the first of them: %w", failed, len(reqs), first)
	}
	return nil
}

// refusal prints why a query has no answer.
func (s *session) refusal(q query, err error) {
	shown := braid.Public(err)
	if s.asJSON {
		type reason struct {
			Code    braid.Code `json:"code"`
			Message string     `json:"message"`
		}
		s.json(struct {
			Query string `json:"query"`
			Error reason `json:"error"`
		}{q.Text, reason{shown.Code, shown.Message}})
		return
	}
	s.line("%s\n  failed: %s\n", q.Text, shown.Message)
}
