package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// askers is how many queries are asked at the same time where only the answers
// matter.
const askers = 4

// Answers is how good the answers of a contender are, over all judged queries.
type Answers struct {
	Corpus    string  `json:"corpus"`
	Contender string  `json:"contender"`
	Work      string  `json:"work"`
	Queries   int     `json:"queries"`
	NDCG      float64 `json:"ndcg_10"`
}

// answers asks every judged query of everybody, in every way that is measured.
// Nothing is timed.
func (r *run) answers(ctx context.Context) (err error) {
	c, err := r.readCorpus()
	if err != nil {
		return err
	}
	ours, err := r.startSearch(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	for _, s := range append([]saving{{"hybrid", func(q string) search.Request { return exactly(q, false) }}}, savings()...) {
		if err := r.judge(ctx, c, ours, s.name, func(q string) request { return ours.asks(c, s.ask(q)) }); err != nil {
			return err
		}
	}
	for _, st := range r.stacks() {
		if err := r.judgeStack(ctx, c, st); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) judgeStack(ctx context.Context, c *corpus, st stack) (err error) {
	theirs, err := r.startStack(ctx, c, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	for _, rerank := range []bool{false, true} {
		if err := r.judge(ctx, c, theirs, wayName(rerank), func(q string) request { return asksStack(q, rerank) }); err != nil {
			return err
		}
	}
	return nil
}

// judge asks every judged query and notes how good the answers are.
func (r *run) judge(ctx context.Context, c *corpus, s *server, work string, ask func(string) request) error {
	r.say("%s: %s, %d queries", s.name, work, len(c.queries))
	scores := make([]float64, len(c.queries))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askers)
	for i, query := range c.queries {
		g.Go(func() error {
			data, err := s.post(ctx, ask(query.Text))
			if err != nil {
				return err
			}
			ids, err := hitsOf(data)
			scores[i] = query.Judgments.NDCG(ids, 10)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	sum := 0.0
	for _, score := range scores {
		sum += score
	}
	r.report.Answers = append(r.report.Answers, Answers{c.name, s.name, work, len(scores), sum / float64(len(scores))})
	return nil
}

// hitsOf reads the ids of an answer, best first. Everybody has the same shape.
// A degraded answer of braid's is an error: it is not what was asked for.
func hitsOf(data []byte) ([]string, error) {
	var answer struct {
		Hits []struct {
			ID string `json:"id"`
		} `json:"hits"`
		Degraded []json.RawMessage `json:"degraded"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if len(answer.Degraded) > 0 {
		return nil, braid.Errorf(braid.Unavailable, "an answer was degraded: %s", answer.Degraded[0])
	}
	ids := make([]string, len(answer.Hits))
	for i, hit := range answer.Hits {
		ids[i] = hit.ID
	}
	return ids, nil
}
