package search

import (
	"context"
	"sync"

	"github.com/braid-search/braid/inference"
)

// encoded is what the models made of the wordings of one query of a batch, which
// were encoded together with those of the others. A nil *encoded is a query that
// stands alone and is encoded when a branch asks.
type encoded struct {
	dense  encoding[inference.Embedding]
	sparse encoding[inference.Expansion]
}

// encoding is what one model made of texts: one T per text in order, or err.
type encoding[T any] struct {
	out    []T
	timing inference.Timing
	err    error
}

// lane is where the models' work for a query waits: a batch is a long list that
// someone sent, and lets the query of a person go first.
func (e *encoded) lane() inference.Lane {
	if e == nil {
		return inference.LaneQuery
	}
	return inference.LaneBulk
}

// embed returns the vectors of the wordings, in their order.
func (e *encoded) embed(ctx context.Context, s *Service, wordings []wording) ([]inference.Embedding, inference.Timing, error) {
	if e == nil {
		return s.embed(ctx, wordings, e.lane())
	}
	return e.dense.out, e.dense.timing, e.dense.err
}

// expand returns the expansions of the wordings, in their order.
func (e *encoded) expand(ctx context.Context, s *Service, wordings []wording) ([]inference.Expansion, inference.Timing, error) {
	if e == nil {
		return s.models.Sparse.Expand(ctx, request(wordings, inference.RoleQuery, e.lane()))
	}
	return e.sparse.out, e.sparse.timing, e.sparse.err
}

// request is what a model is asked about the wordings of one role.
func request(wordings []wording, role inference.Role, lane inference.Lane) inference.Request {
	req := inference.Request{Role: role, Lane: lane, Length: inference.LengthOne}
	for _, w := range wordings {
		if w.role == role {
			req.Texts = append(req.Texts, w.text)
		}
	}
	return req
}

// embed returns the vectors of wordings, in their order. Queries are one call
// and passages another at the same time, since the models want other prefixes for
// them.
func (s *Service) embed(ctx context.Context, wordings []wording, lane inference.Lane) ([]inference.Embedding, inference.Timing, error) {
	roles := []inference.Role{inference.RoleQuery, inference.RolePassage}
	made := make([]encoding[inference.Embedding], len(roles))
	var wg sync.WaitGroup
	for i, role := range roles {
		req := request(wordings, role, lane)
		if len(req.Texts) == 0 {
			continue
		}
		wg.Go(func() { made[i].out, made[i].timing, made[i].err = s.models.Dense.Embed(ctx, req) })
	}
	wg.Wait()
	var timing inference.Timing
	for _, m := range made {
		if m.err != nil {
			return nil, m.timing, m.err
		}
		timing.Tokenise = max(timing.Tokenise, m.timing.Tokenise)
		timing.Queue = max(timing.Queue, m.timing.Queue)
		timing.Compute = max(timing.Compute, m.timing.Compute)
	}
	out := make([]inference.Embedding, len(wordings))
	for i, w := range wordings {
		of := &made[w.role].out
		out[i], *of = (*of)[0], (*of)[1:]
	}
	return out, timing, nil
}
