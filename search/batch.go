package search

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// MaxBatch is the most queries of one batch.
const MaxBatch = 100

// batchParallel is how many queries of a batch are retrieved and reranked at a time:
// enough that indexes and cross-encoder do not wait for one another, few enough that
// a batch does not fill the queue it shares.
const batchParallel = 4

// Answered is the answer to one query of a batch: a Response or the reason why there
// is none.
type Answered struct {
	Response *Response
	Err      error
}

// SearchBatch answers queries over the collection called name, in their order. Each
// is answered as Search would have answered it, with an error of its own where it
// would have failed: one that is wrong does not take the others with it. All
// wordings of all queries are encoded in one call of each model (texts of
// passages in another), so that their times in an answer are the whole batch's;
// then several queries at a time are retrieved and reranked, each within timeout
// (0 is no bound). The models' work waits behind single queries.
//
// It fails as a whole when there are no queries or more than MaxBatch, the
// collection does not exist or the caller went away.
func (s *Service) SearchBatch(ctx context.Context, name string, reqs []Request, timeout time.Duration) ([]Answered, error) {
	switch {
	case len(reqs) == 0:
		return nil, braid.Errorf(braid.InvalidArgument, "searches is empty: send 1 to %d", MaxBatch).In("searches")
	case len(reqs) > MaxBatch:
		return nil, braid.Errorf(braid.TooLarge, "searches holds %d, the limit is %d: send several batches", len(reqs), MaxBatch).In("searches")
	}
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	s = s.using(c)
	answers := make([]Answered, len(reqs))
	plans := make([]*plan, len(reqs)) // nil: answered with an error
	for i, req := range reqs {
		if answers[i].Err = req.validate(); answers[i].Err != nil {
			continue
		}
		p, err := s.prepare(ctx, c, name, req)
		if err != nil {
			answers[i].Err = err
			continue
		}
		plans[i] = &p
	}
	s.encodeAll(ctx, c.Info().Schema, plans)

	var g errgroup.Group
	g.SetLimit(batchParallel)
	for i, p := range plans {
		if p == nil {
			continue
		}
		g.Go(func() error {
			answers[i].Response, answers[i].Err = s.answerOne(ctx, c, *p, timeout)
			return nil
		})
	}
	_ = g.Wait() // nothing in it fails
	if ctx.Err() == context.Canceled {
		return nil, ctx.Err()
	}
	return answers, nil
}

// answerOne answers a query of a batch within timeout.
func (s *Service) answerOne(ctx context.Context, c index.Collection, p plan, timeout time.Duration) (*Response, error) {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return s.answer(ctx, c, p, time.Now())
}

// encodeAll lets each model encode what the plans need of it, the models side by
// side, and leaves every plan with its part. Branches whose model does not fit
// the collection find that out themselves.
func (s *Service) encodeAll(ctx context.Context, schema index.Schema, plans []*plan) {
	for _, p := range plans {
		if p != nil {
			p.encoded = &encoded{}
		}
	}
	var wg sync.WaitGroup
	if s.fitsDense(schema) == nil {
		wg.Go(func() {
			encodeBranch(plans, braid.Dense, func(e *encoded) *encoding[inference.Embedding] { return &e.dense },
				func(all []wording) ([]inference.Embedding, inference.Timing, error) {
					return s.embed(ctx, all, inference.LaneBulk)
				})
		})
	}
	if s.fitsSparse(schema) == nil {
		wg.Go(func() {
			encodeBranch(plans, braid.Sparse, func(e *encoded) *encoding[inference.Expansion] { return &e.sparse },
				func(all []wording) ([]inference.Expansion, inference.Timing, error) {
					return s.models.Sparse.Expand(ctx, request(all, inference.RoleQuery, inference.LaneBulk))
				})
		})
	}
	wg.Wait()
}

// encodeBranch encodes the wordings of all plans that ask branch b, and puts each
// plan's part where into says.
func encodeBranch[T any](plans []*plan, b braid.Branch, into func(*encoded) *encoding[T], encode func([]wording) ([]T, inference.Timing, error)) {
	var all []wording
	counts := make([]int, len(plans))
	for i, p := range plans {
		if p != nil && slices.Contains(p.branches, b) {
			wordings := p.wordings(b)
			counts[i] = len(wordings)
			all = append(all, wordings...)
		}
	}
	if len(all) == 0 {
		return
	}
	out, timing, err := encode(all)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		part := encoding[T]{timing: timing, err: err}
		if err == nil {
			part.out, out = out[:n], out[n:]
		}
		*into(plans[i].encoded) = part
	}
}
