package search_test

import (
	"context"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// listening stands before the real models and notes what they are asked.
type listening struct {
	search.DenseEncoder
	search.SparseEncoder
	search.PairScorer

	mu            sync.Mutex
	dense, sparse [][]string // texts of each call of a query
	roles         []inference.Role
	pairs         []string // queries
	lanes         []inference.Lane
}

func (l *listening) models() search.Models {
	l.DenseEncoder, l.SparseEncoder, l.PairScorer = heads.Dense, heads.Sparse, heads.Pair
	models := heads
	models.Dense, models.Sparse, models.Pair = l, l, l
	return models
}

func (l *listening) Count(ctx context.Context, texts []string) ([]int, error) {
	return l.DenseEncoder.Count(ctx, texts)
}

func (l *listening) PassageRoom(ctx context.Context) (int, error) {
	return l.DenseEncoder.PassageRoom(ctx)
}

func (l *listening) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	if req.Lane != inference.LaneIngest {
		l.mu.Lock()
		l.dense, l.roles, l.lanes = append(l.dense, req.Texts), append(l.roles, req.Role), append(l.lanes, req.Lane)
		l.mu.Unlock()
	}
	return l.DenseEncoder.Embed(ctx, req)
}

func (l *listening) Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	if req.Lane != inference.LaneIngest {
		l.mu.Lock()
		l.sparse, l.lanes = append(l.sparse, req.Texts), append(l.lanes, req.Lane)
		l.mu.Unlock()
	}
	return l.SparseEncoder.Expand(ctx, req)
}

func (l *listening) Score(ctx context.Context, req inference.PairRequest) ([]inference.PairScore, inference.Timing, error) {
	l.mu.Lock()
	l.pairs, l.lanes = append(l.pairs, req.Query), append(l.lanes, req.Lane)
	l.mu.Unlock()
	return l.PairScorer.Score(ctx, req)
}

func TestVariantsAreEncodedTogether(t *testing.T) {
	l := &listening{}
	s := service(t, l.models())
	ingest(t, s, pumps...)
	ask(t, s, search.Request{Query: "low pressure", Variants: []string{"inlet error", "low pressure", "pump code"}, Hypothetical: "The code means that the inlet is blocked."})
	queries := []string{"low pressure", "inlet error", "pump code"}
	if !reflect.DeepEqual(l.sparse, [][]string{queries}) {
		t.Errorf("sparse calls: %q, want one of %q", l.sparse, queries)
	}
	if len(l.dense) != 2 || !slices.ContainsFunc(l.dense, func(texts []string) bool { return slices.Equal(texts, queries) }) {
		t.Fatalf("dense calls: %q, want one of %q and one of the answer", l.dense, queries)
	}
	for i, texts := range l.dense {
		if want := map[bool]inference.Role{true: inference.RolePassage}[len(texts) == 1]; l.roles[i] != want {
			t.Errorf("%q encoded in role %d, want %d", texts, l.roles[i], want)
		}
	}
	for _, q := range l.pairs {
		if q != "low pressure" {
			t.Errorf("the cross-encoder was asked %q, want the query itself", q)
		}
	}
	if len(l.pairs) == 0 {
		t.Error("the cross-encoder was not asked")
	}
}

// Each ranking of a branch and a wording is the one that the wording alone gets, and
// what all of them gave adds up to the fused score.
func TestVariantsExplained(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	req := search.Request{Query: "water drips", Variants: []string{"monthly bill", "ERR-105"}, Hypothetical: "Invoices arrive once a month.", Rerank: ptr(false)}
	for _, method := range fusion.Methods() {
		req.Fusion = &search.Fusion{Method: method, Weights: search.Weights{braid.Lexical: 2}}
		answer := ask(t, s, req)
		if answer.VariantWeight == nil || math.Abs(*answer.VariantWeight-1.0/3) > 1e-12 {
			t.Fatalf("variant weight %v, want a third", answer.VariantWeight)
		}
		found := map[[2]any]bool{}
		for _, h := range answer.Hits {
			var sum float64
			for branch, f := range h.Branches {
				sum += *f.Contribution
				found[[2]any{branch, "query"}] = true
			}
			for _, v := range h.Variants {
				sum += *v.Contribution
				text := req.Hypothetical
				if v.Hypothetical == (v.Variant > 0) {
					t.Fatalf("%s: %+v is of a variant or of the answer", h.ID, v)
				}
				if v.Variant > 0 {
					text = req.Variants[v.Variant-1]
				}
				found[[2]any{v.Branch, text}] = true
				if v.Hypothetical {
					continue
				}
				alone := ask(t, s, search.Request{Query: text, Mode: search.Mode(v.Branch)})
				if i := slices.Index(ids(alone.Hits), h.ID); i+1 != v.Rank || math.Abs(alone.Hits[i].Score-v.Score) > 1e-6 {
					t.Errorf("%s: %s finds it for %q at %d, the answer says %+v", h.ID, v.Branch, text, i+1, v)
				}
			}
			if math.Abs(sum-h.Fused.Score) > 1e-12 {
				t.Errorf("%s: the contributions add up to %v, the fused score is %v", h.ID, sum, h.Fused.Score)
			}
		}
		if want := 3*3 + 1; len(found) != want && method != fusion.DBSF {
			t.Errorf("%s: %d rankings are named, want %d: %v", method, len(found), want, found)
		}
	}
}

func TestVariantBringsInDocuments(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	req := search.Request{Query: "drips", Mode: search.ModeLexical}
	if got := ids(ask(t, s, req).Hits); !slices.Equal(got, []string{"seal"}) {
		t.Fatalf("the query alone finds %v", got)
	}
	req.Variants = []string{"invoices", "drips"}
	answer := ask(t, s, req)
	if got := ids(answer.Hits); !slices.Equal(got, []string{"invoice", "seal"}) || answer.Candidates[braid.Lexical] != 2 {
		t.Fatalf("found %v, %v candidates", got, answer.Candidates)
	}
	if h := answer.Hits[0]; h.ScoreType != search.ScoreFused || h.Fused == nil || len(h.Branches) != 0 || len(h.Variants) != 1 || h.Variants[0].Variant != 1 {
		t.Errorf("invoice: %+v", h)
	}
	req.Filter = &braid.Filter{Must: []braid.Clause{braid.Condition{Field: "kind", Match: ptr(braid.KeywordOf("how-to"))}}}
	if got := ids(ask(t, s, req).Hits); !slices.Equal(got, []string{"seal"}) {
		t.Errorf("filtered: %v, want seal only", got)
	}
}

// A variant that says what the query says changes nothing.
func TestVariantOfTheSameWords(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	want := ask(t, s, search.Request{Query: "inlet pressure"})
	got := ask(t, s, search.Request{Query: "inlet pressure", Variants: []string{"inlet pressure"}})
	got.Timings, want.Timings = search.Timings{}, search.Timings{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBadWordings(t *testing.T) {
	s := service(t, heads)
	lexicalOnly := heads
	lexicalOnly.Dense = nil
	bare := service(t, lexicalOnly)
	for _, tc := range []struct {
		s     *search.Service
		req   search.Request
		field string
		code  braid.Code
	}{
		{s, search.Request{Variants: slices.Repeat([]string{"a"}, search.MaxVariants+1)}, "variants", braid.InvalidArgument},
		{s, search.Request{Variants: []string{"a", " "}}, "variants[1]", braid.InvalidArgument},
		{s, search.Request{Variants: []string{"a\xff"}}, "variants[0]", braid.InvalidArgument},
		{s, search.Request{Variants: []string{strings.Repeat("a", search.MaxQueryBytes+1)}}, "variants[0]", braid.TooLarge},
		{s, search.Request{Hypothetical: "\t"}, "hypothetical", braid.InvalidArgument},
		{s, search.Request{Hypothetical: "x", Mode: search.ModeLexical}, "hypothetical", braid.InvalidArgument},
		{bare, search.Request{Hypothetical: "x"}, "hypothetical", braid.InvalidArgument},
	} {
		tc.req.Query = "q"
		_, err := tc.s.Search(t.Context(), "t", tc.req)
		if e := braid.Public(err); braid.CodeOf(err) != tc.code || e.Field != tc.field {
			t.Errorf("%s: %v, want %s", tc.field, err, tc.code)
		}
	}
}
