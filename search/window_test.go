package search_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

const (
	sealQuery  = "how often must the shaft seal be replaced"
	sealAnswer = "The shaft seal must be replaced every two thousand hours of operation."
)

// long is a passage of about 600 tokens that ends with the answer.
func long(t *testing.T) braid.Document {
	t.Helper()
	filler := "The warehouse ships parcels on weekdays and keeps a list of all customers. "
	d := braid.Document{ID: "long", Text: strings.Repeat(filler, 42) + sealAnswer}
	tokens, err := heads.Pair.FirstTokens(t.Context(), []string{d.Text}, search.MaxWindowedTokens)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tokens[0]); n < 560 || n > 640 {
		t.Fatalf("the passage has %d tokens, want about 600", n)
	}
	return d
}

func judgement(t *testing.T, answer *search.Response, id string) *search.Reranked {
	t.Helper()
	if len(answer.Degraded) != 0 {
		t.Fatalf("degraded: %+v", answer.Degraded)
	}
	for _, h := range answer.Hits {
		if h.ID == id && h.Rerank != nil {
			return h.Rerank
		}
	}
	t.Fatalf("%s was not scored", id)
	return nil
}

func TestWindowFindsAnAnswerAtTheEnd(t *testing.T) {
	foreign := heads // the weights of another vocabulary must not be used
	foreign.SharedVocabulary = false
	foreign.Sparse = otherVocabulary{heads.Sparse}
	noSparse := heads
	noSparse.Sparse, noSparse.SparseRef = nil, index.ModelRef{}
	for name, models := range map[string]search.Models{"shared vocabulary": heads, "foreign vocabulary": foreign, "no sparse model": noSparse} {
		t.Run(name, func(t *testing.T) {
			s := splitService(t, models, 0, 0)
			ingest(t, s, append(pumps[:len(pumps):len(pumps)], long(t))...)
			whole := judgement(t, ask(t, s, search.Request{Query: sealQuery, RerankWindow: ptr(0)}), "long")
			if whole.Window != nil || !whole.Truncated {
				t.Errorf("without a window: %+v", whole)
			}
			byDefault := judgement(t, ask(t, s, search.Request{Query: sealQuery}), "long")
			if said := judgement(t, ask(t, s, search.Request{Query: sealQuery, RerankWindow: ptr(search.DefaultRerankWindow)}), "long"); !reflect.DeepEqual(byDefault, said) || byDefault.Window == nil {
				t.Errorf("by default %+v, with the default said %+v", byDefault, said)
			}
			for _, req := range []search.Request{
				{Query: sealQuery, RerankWindow: ptr(64)},
				{Query: sealQuery, RerankWindow: ptr(64), BudgetMS: ptr(search.MaxBudgetMS)},
			} {
				answer := ask(t, s, req)
				cut := judgement(t, answer, "long")
				if cut.Logit < whole.Logit+5 || cut.Truncated {
					t.Errorf("with a window: %+v, without: %+v", cut, whole)
				}
				if w := cut.Window; w == nil || w.To-w.From != 64 || w.To != w.Of || w.Of < 560 {
					t.Errorf("window %+v, want the last 64 tokens", w)
				}
				if short := judgement(t, answer, "seal"); short.Window != nil {
					t.Errorf("a short passage was cut: %+v", short.Window)
				}
			}
		})
	}
}

// otherVocabulary gives all weight of a query to a token of the filler.
type otherVocabulary struct{ search.SparseEncoder }

func (o otherVocabulary) Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	out, timing, err := o.SparseEncoder.Expand(ctx, req)
	if err != nil || req.Role != inference.RoleQuery {
		return out, timing, err
	}
	tokens, err := heads.Pair.FirstTokens(ctx, []string{"warehouse"}, 1)
	if err != nil {
		return nil, timing, err
	}
	for i := range out {
		out[i].Vector = braid.SparseVector{Indices: tokens[0], Values: []float32{9}}
	}
	return out, timing, nil
}

// The weights decide, where they may: here they speak for the filler.
func TestWindowGoesByTheSparseWeights(t *testing.T) {
	models := heads
	models.Sparse = otherVocabulary{heads.Sparse}
	s := splitService(t, models, 0, 0)
	ingest(t, s, long(t))
	got := judgement(t, ask(t, s, search.Request{Query: sealQuery, RerankWindow: ptr(64)}), "long")
	if got.Window == nil || got.Window.From != 0 || got.Window.To != 64 {
		t.Errorf("window %+v, want the first", got.Window)
	}
}

func TestWindowIsValidated(t *testing.T) {
	s := service(t, heads)
	for _, n := range []int{-1, 1, search.MinRerankWindow - 1, search.MaxRerankWindow + 1} {
		if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", RerankWindow: &n}); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("rerank_window %d: %v", n, err)
		}
	}
}

func TestWindowOfAProfile(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, long(t))
	if _, err := s.SetProfile(t.Context(), "t", search.Profile{RerankWindow: ptr(128)}); err != nil {
		t.Fatal(err)
	}
	if got := judgement(t, ask(t, s, search.Request{Query: sealQuery}), "long"); got.Window == nil || got.Window.To-got.Window.From != 128 {
		t.Errorf("window %+v, want 128 tokens", got.Window)
	}
	if got := judgement(t, ask(t, s, search.Request{Query: sealQuery, RerankWindow: ptr(0)}), "long"); got.Window != nil {
		t.Errorf("window %+v, want none: the request says 0", got.Window)
	}
}
