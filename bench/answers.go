package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// askers is how many queries are asked at the same time where only the answers
// matter.
const askers = 2

// tries is how often a query is asked whose answers are not whole.
const tries = 20

// Answers is how good the answers of a contender are, over all judged queries.
type Answers struct {
	Corpus    string  `json:"corpus"`
	Contender string  `json:"contender"`
	Work      string  `json:"work"`
	Queries   int     `json:"queries"`
	NDCG      float64 `json:"ndcg_10"`
	// Difference is NDCG less that of braid with the whole work of its kind,
	// reranked or not, and Error the standard error of the queries' differences.
	Difference float64 `json:"difference"`
	Error      float64 `json:"difference_error"`
}

// whole is the work that the others of its kind are compared with.
type whole map[bool][]float64

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
	plain := saving{name: wayName(false), ask: func(q string) search.Request { return exactly(q, false) }}
	against := whole{}
	for _, s := range append([]saving{plain}, savings()...) {
		if s.timed {
			continue
		}
		if err := r.judge(ctx, c, ours, s.name, s.name != plain.name, against, func(q string) request { return ours.asks(c, s.ask(q)) }); err != nil {
			return err
		}
	}
	return r.eachStack(ctx, func(st stack) error { return r.judgeStack(ctx, c, st, against) })
}

func (r *run) judgeStack(ctx context.Context, c *corpus, st stack, against whole) (err error) {
	theirs, err := r.startStack(ctx, c, st)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	for _, rerank := range []bool{false, true} {
		if err := r.judge(ctx, c, theirs, wayName(rerank), rerank, against, func(q string) request { return asksStack(q, rerank) }); err != nil {
			return err
		}
	}
	return nil
}

// judge asks the judged queries, of reranked work as many as are wanted, and notes how good the answers are. The first of
// a kind is what the rest is compared with.
func (r *run) judge(ctx context.Context, c *corpus, s *server, work string, rerank bool, against whole, ask func(string) request) error {
	queries := c.judged(r.cfg.Judged)
	if !rerank {
		queries = c.queries // they take no time
	}
	scores, err := r.scores(ctx, queries, s, work, askers, ask)
	if err != nil {
		return err
	}
	if against[rerank] == nil {
		against[rerank] = scores
	}
	r.report.Answers = append(r.report.Answers, answersOf(c, s, work, scores, against[rerank]))
	return nil
}

// scores asks judged queries, so many at the same time, and returns the nDCG@10
// of each.
func (r *run) scores(ctx context.Context, queries []eval.Query, s *server, work string, askers int, ask func(string) request) ([]float64, error) {
	r.say("%s: %s, %d queries", s.name, work, len(queries))
	scores := make([]float64, len(queries))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askers)
	for i, query := range queries {
		g.Go(func() error {
			ids, err := s.hits(ctx, ask(query.Text))
			scores[i] = query.Judgments.NDCG(ids, 10)
			return err
		})
	}
	return scores, g.Wait()
}

func answersOf(c *corpus, s *server, work string, scores, against []float64) Answers {
	a := Answers{Corpus: c.name, Contender: s.name, Work: work, Queries: len(scores)}
	a.NDCG, _ = meanAndError(scores)
	differences := make([]float64, len(scores))
	for i, score := range scores {
		differences[i] = score - against[i]
	}
	a.Difference, a.Error = meanAndError(differences)
	return a
}

// meanAndError returns the mean of values and its standard error.
func meanAndError(values []float64) (mean, stderr float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	if n < 2 {
		return mean, 0
	}
	variance := 0.0
	for _, v := range values {
		variance += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(variance / n)
}

// hits asks until the answer is whole, since a busy machine makes some that are
// not, and gives up in the end.
func (s *server) hits(ctx context.Context, ask request) (ids []string, err error) {
	for range tries {
		data, failed := s.post(ctx, ask)
		if failed != nil {
			return nil, failed
		}
		if ids, err = hitsOf(data); braid.CodeOf(err) != braid.Unavailable {
			return ids, err
		}
	}
	return nil, err
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
