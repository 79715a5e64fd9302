package search

import (
	"context"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/rerank"
)

// rerank lets the cross-encoder reorder the first hits. When it fails or runs
// out of time, the hits keep their order and the answer says so. read are the
// passages of hits, in order.
func (s *Service) rerank(ctx context.Context, info index.Info, p plan, hits []Hit, read []place, answer *Response) []Hit {
	start := time.Now()
	defer func() { answer.Timings.Rerank = milliseconds(time.Since(start)) }()
	if len(hits) == 0 {
		return hits
	}

	if s.models.Pair == nil {
		err := braid.Errorf(braid.Unavailable, "no reranker is loaded: start with --reranker NAME, or send \"rerank\": false")
		answer.Degraded = append(answer.Degraded, s.degrade(ctx, info.Name, "rerank", err))
		return hits
	}
	opts := rerank.Options{Depth: &p.depth, Weight: &p.rerankWeight, Partial: p.BudgetMS != nil}
	candidates := make([]rerank.Candidate, len(hits))
	for i, h := range hits {
		candidates[i].ID, candidates[i].Number, candidates[i].Score = h.ID, h.number, h.Score
		if i >= opts.Window(len(hits)) {
			continue
		}
		candidates[i].Passage.Text = read[i].in.Read(read[i].number)
		if s.keepsTokens(info.Schema) {
			candidates[i].Passage.Tokens = read[i].in.Passages[read[i].number].Tokens
		}
	}
	scorer := &pairScorer{pair: s.models.Pair, lane: p.encoded.lane()}
	if p.BudgetMS != nil {
		scorer.until = start.Add(time.Duration(*p.BudgetMS) * time.Millisecond)
	}
	windows, err := s.cutWindows(ctx, p, candidates[:opts.Window(len(hits))])
	if err != nil {
		answer.Degraded = append(answer.Degraded, s.degrade(ctx, info.Name, "rerank", err))
		return hits
	}
	items, err := rerank.Rerank(ctx, scorer, p.Query, candidates, opts)
	if err != nil {
		answer.Degraded = append(answer.Degraded, s.degrade(ctx, info.Name, "rerank", err))
		return hits
	}
	hits = reorder(hits, items, scorer.usage, p.rerankWeight, answer)
	noteWindows(hits, windows)
	if answer.Reranked < opts.Window(len(hits)) {
		answer.RerankStopped = StopBudget
	}
	return hits
}

// reorder puts the hits into the order of items and notes the judgement of each.
// usage is the cross-encoder's, in the order of hits, weight its share.
func reorder(hits []Hit, items []rerank.Item, usage []inference.Usage, weight float64, answer *Response) []Hit {
	reordered := make([]Hit, len(hits))
	for i, item := range items {
		h := hits[item.From-1]
		if item.Scored {
			h.Rerank = &Reranked{
				Logit:       float64(item.Logit),
				Probability: item.Probability,
				Before:      item.From,
				After:       item.To,
				Truncated:   usage[item.From-1].Truncated,
			}
			h.made.first, h.made.item = h.Score, item
			h.Score, h.ScoreType = item.Score, ScoreBlended
			if weight == 1 {
				h.ScoreType = ScoreProbability
			}
			answer.Reranked++
		}
		reordered[i] = h
	}
	if answer.Reranked > 0 {
		answer.RerankWeight = &weight
	}
	return reordered
}

// pairScorer gives package rerank the cross-encoder head, and keeps what the
// head said about token counts.
type pairScorer struct {
	pair  PairScorer
	lane  inference.Lane
	until time.Time // zero: no bound
	usage []inference.Usage
}

func (s *pairScorer) Score(ctx context.Context, query string, passages []rerank.Passage) ([]float32, error) {
	in := make([]inference.Passage, len(passages))
	for i, p := range passages {
		in[i] = inference.Passage{Text: p.Text, Tokens: p.Tokens}
	}
	out, _, err := s.pair.Score(ctx, inference.PairRequest{Query: query, Passages: in, Lane: s.lane, Until: s.until})
	if err != nil {
		return nil, err
	}
	logits := make([]float32, len(out))
	s.usage = make([]inference.Usage, len(out))
	for i, o := range out {
		logits[i], s.usage[i] = o.Logit, o.Usage
	}
	return logits, nil
}
