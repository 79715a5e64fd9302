package search_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// hastyPair stands for a cross-encoder that finishes the first few passages in
// the time it is given; what it says of them is the real one's.
type hastyPair struct {
	search.PairScorer
	first int
	until *time.Time
}

func (h hastyPair) Score(ctx context.Context, req inference.PairRequest) ([]inference.PairScore, inference.Timing, error) {
	*h.until = req.Until
	req.Until = time.Time{}
	scores, timing, err := h.PairScorer.Score(ctx, req)
	return scores[:min(h.first, len(scores))], timing, err
}

func TestBudget(t *testing.T) {
	fused := func(hits []search.Hit) []string {
		sorted := slices.Clone(hits)
		slices.SortFunc(sorted, func(a, b search.Hit) int { return a.Fused.Rank - b.Fused.Rank })
		return ids(sorted)
	}
	const query = "inlet pressure"
	for first := range 4 {
		hasty, until := heads, time.Time{}
		hasty.Pair = hastyPair{heads.Pair, first, &until}
		s := service(t, hasty)
		ingest(t, s, pumps...)
		before := time.Now()
		answer := ask(t, s, search.Request{Query: query, BudgetMS: ptr(500), RerankDepth: ptr(3)})
		if until.Before(before.Add(500*time.Millisecond)) || until.After(time.Now().Add(500*time.Millisecond)) {
			t.Errorf("the time ends at %v, asked at %v for 500 ms", until, before)
		}
		if answer.Reranked != first || len(answer.Hits) != len(pumps) || len(answer.Degraded) != 0 {
			t.Fatalf("%d scored, %d hits, degraded %v", answer.Reranked, len(answer.Hits), answer.Degraded)
		}
		if want := map[bool]search.Stop{true: search.StopBudget}[first < 3]; answer.RerankStopped != want {
			t.Errorf("%d of 3 scored: stopped %q, want %q", first, answer.RerankStopped, want)
		}
		if (answer.RerankWeight != nil) != (first > 0) {
			t.Errorf("%d scored: rerank_weight %v", first, answer.RerankWeight)
		}
		order := fused(answer.Hits)
		for i, h := range answer.Hits {
			if scored := h.Rerank != nil; scored != (i < first) || !scored && (h.ScoreType != search.ScoreFused || h.ID != order[i]) {
				t.Errorf("%d scored: hit %d is %s (%s)", first, i+1, h.ID, h.ScoreType)
			}
		}
	}
}

func TestBudgetWithTheModel(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	want := ask(t, s, search.Request{Query: "inlet pressure"})
	got := ask(t, s, search.Request{Query: "inlet pressure", BudgetMS: ptr(search.MaxBudgetMS)})
	if got.Reranked != want.Reranked || got.RerankStopped != "" || !slices.Equal(ids(got.Hits), ids(want.Hits)) {
		t.Errorf("a minute: %d scored (%q), %v, want %d, %v", got.Reranked, got.RerankStopped, ids(got.Hits), want.Reranked, ids(want.Hits))
	}
	for i := range got.Hits {
		if got.Hits[i].Rerank.Logit != want.Hits[i].Rerank.Logit {
			t.Errorf("%s: logit %v, without a budget %v", got.Hits[i].ID, got.Hits[i].Rerank.Logit, want.Hits[i].Rerank.Logit)
		}
	}
	for _, ms := range []int{0, -1, search.MaxBudgetMS + 1} {
		if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", BudgetMS: &ms}); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("budget_ms %d: %v", ms, err)
		}
	}
}

// A threshold is compared with probabilities; without any it cannot be applied,
// and the answer says so.
func TestBudgetTooSmallForAThreshold(t *testing.T) {
	hasty, until := heads, time.Time{}
	hasty.Pair = hastyPair{heads.Pair, 0, &until}
	s := service(t, hasty)
	ingest(t, s, pumps...)
	answer := ask(t, s, search.Request{Query: "inlet pressure", BudgetMS: ptr(1), MinScore: ptr(0.5)})
	if len(answer.Hits) == 0 || len(answer.Degraded) != 1 || answer.Degraded[0].Stage != "min_score" {
		t.Errorf("%d hits, degraded %+v", len(answer.Hits), answer.Degraded)
	}
}
