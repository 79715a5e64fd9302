package search_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search"
)

var explainWords = strings.Fields("pump pumps seal inlet ERR-104 err_105 pressure valve motor casing water leaking the of a invoice user_id v2.1 größe 水泵 密封 torque")

func randomText(random *rand.Rand, words int) string {
	var text []string
	for range words {
		text = append(text, explainWords[random.IntN(len(explainWords))])
	}
	return strings.Join(text, " ")
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// TestExplanationsAddUp asks random queries of random documents, some of them
// written twice or deleted, in every mode and by every fusion.
func TestExplanationsAddUp(t *testing.T) {
	s := service(t, heads)
	random := rand.New(rand.NewPCG(71, 72))
	var docs []braid.Document
	for i := range 60 {
		docs = append(docs, braid.Document{ID: fmt.Sprintf("d%02d", i), Title: randomText(random, random.IntN(3)), Text: randomText(random, 1+random.IntN(12))})
	}
	ingest(t, s, docs...)
	for range 20 {
		ingest(t, s, braid.Document{ID: fmt.Sprintf("d%02d", random.IntN(50)), Text: randomText(random, 1+random.IntN(12))})
	}
	if err := s.Delete(t.Context(), "t", "d55"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for range 40 {
		req := search.Request{Query: randomText(random, 1+random.IntN(4)), Mode: search.Modes()[random.IntN(4)], Explain: true, Rerank: ptr(random.IntN(2) == 0), RerankDepth: ptr(5)}
		if random.IntN(2) > 0 {
			req.RerankWeight = ptr(float64(random.IntN(5)) / 4)
		}
		if random.IntN(4) > 0 {
			req.Mode = search.ModeHybrid
			req.Fusion = &search.Fusion{Method: fusion.Methods()[random.IntN(3)], Weights: search.Weights{braid.Dense: random.Float64(), braid.Sparse: random.Float64()}}
		}
		if random.IntN(3) == 0 {
			req.Variants = []string{randomText(random, 2), randomText(random, 2)}
			if req.Mode == search.ModeHybrid || req.Mode == search.ModeDense {
				req.Hypothetical = randomText(random, 9)
			}
		}
		answer := ask(t, s, req)
		if answer.Degraded != nil {
			t.Fatalf("degraded: %v", answer.Degraded)
		}
		for _, h := range answer.Hits {
			if fault := explanationFault(answer, h, seen); fault != "" {
				t.Fatalf("%+v, hit %s: %s\n%+v", req, h.ID, fault, h.Explain)
			}
		}
	}
	for _, part := range []string{"lexical", "sparse", "votes", "variants", "blended", "probability"} {
		if seen[part] < 5 {
			t.Errorf("%d explanations of %s: the test asks too little", seen[part], part)
		}
	}
}

// explanationFault says what is untrue of a hit's explanation, and counts in seen
// what was looked at.
func explanationFault(answer *search.Response, h search.Hit, seen map[string]int) string {
	e := h.Explain
	lexical, byLexical := h.Branches[braid.Lexical]
	sparse, bySparse := h.Branches[braid.Sparse]
	if byLexical != (e.Lexical != nil) || bySparse != (e.Sparse != nil) || (h.Rerank != nil) != (e.Rerank != nil) || (h.Fused != nil) != (e.Fusion != nil) {
		return "it has too much or too little"
	}
	var sum float64
	if byLexical {
		for _, share := range e.Lexical.Terms {
			sum += share.Contribution
			if tf := float64(share.Frequency); !near(share.Contribution, share.Weight*share.IDF*tf/(tf+share.Norm)) {
				return "the contribution of term " + share.Term
			}
		}
		if e.Lexical.Changed || !near(sum, lexical.Score) || e.Lexical.Score != lexical.Score {
			return fmt.Sprintf("the terms add up to %v, the score is %v", sum, lexical.Score)
		}
		seen["lexical"]++
	}
	if bySparse {
		sum = 0
		for _, share := range e.Sparse.Tokens {
			sum += share.Contribution
			if share.Token == "" || !near(share.Contribution, float64(share.Query)*float64(share.Document)) {
				return "the contribution of token " + share.Token
			}
		}
		if e.Sparse.Changed || !near(sum, sparse.Score) || e.Sparse.Score != sparse.Score {
			return fmt.Sprintf("the tokens add up to %v, the score is %v", sum, sparse.Score)
		}
		seen["sparse"]++
	}
	if h.Fused != nil {
		sum = 0
		for _, v := range e.Fusion {
			sum += v.Contribution
			found, weight := h.Branches[v.Branch], answer.Fusion.Weights[v.Branch]
			if v.Variant > 0 || v.Hypothetical {
				at := slices.IndexFunc(h.Variants, func(f search.VariantFound) bool {
					return f.Branch == v.Branch && f.Variant == v.Variant && f.Hypothetical == v.Hypothetical
				})
				found, weight = h.Variants[at].Found, weight**answer.VariantWeight
				seen["variants"]++
			}
			if v.Rank != found.Rank || v.Score != found.Score || v.Contribution != *found.Contribution || v.Weight != weight {
				return fmt.Sprintf("the vote of %s is %+v", v.Branch, v)
			}
			want := v.Weight / float64(60+v.Rank)
			if answer.Fusion.Method != fusion.RRF {
				want = v.Weight * *v.Scaled
			}
			if !near(v.Contribution, want) {
				return fmt.Sprintf("%s contributes %v, by the formula %v", v.Branch, v.Contribution, want)
			}
		}
		if len(e.Fusion) != len(h.Branches)+len(h.Variants) || !near(sum, h.Fused.Score) {
			return fmt.Sprintf("%d votes add up to %v, the fused score is %v", len(e.Fusion), sum, h.Fused.Score)
		}
		seen["votes"]++
	}
	if r := e.Rerank; r != nil {
		want := h.Rerank.Probability
		if r.Weight < 1 {
			want = r.Weight**r.ScaledLogit + (1-r.Weight)**r.ScaledFirst
		}
		if r.Score != h.Score || !near(r.Score, want) || r.Logit != h.Rerank.Logit || r.Weight != *answer.RerankWeight {
			return fmt.Sprintf("the reranked score is %v, by the formula %v", r.Score, want)
		}
		if h.Fused != nil && r.First != h.Fused.Score {
			return fmt.Sprintf("the first score is %v, the fused one %v", r.First, h.Fused.Score)
		}
		seen[string(h.ScoreType)]++
	}
	return ""
}

func TestExplainTheQuery(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	filter := parseFilter(t, `{"must_not":[{"field":"kind","match":"error"}]}`)
	answer := ask(t, s, search.Request{Query: "the leaking seal", Explain: true, Filter: filter})
	q := answer.Explain
	if len(q.Terms) != 3 || q.Terms[0] != (search.LexicalTerm{Term: "leak", Weight: 1, Start: 4, End: 11}) || q.Terms[1].Term != "leaking" || q.Terms[2].Term != "seal" || !slices.Equal(q.Dropped, []string{"the"}) {
		t.Errorf("terms %+v, dropped %q", q.Terms, q.Dropped)
	}
	if q.Filter != filter {
		t.Errorf("filter %+v", q.Filter)
	}
	if len(q.Tokens) == 0 || len(q.Tokens) > search.MaxShownTokens || q.TokensInAll < len(q.Tokens) ||
		!slices.IsSortedFunc(q.Tokens, func(a, b search.WeightedToken) int { return int(math.Copysign(1, float64(b.Weight-a.Weight))) }) ||
		!slices.ContainsFunc(q.Tokens, func(w search.WeightedToken) bool { return w.Token == "seal" }) {
		t.Errorf("%d tokens of %d: %v", len(q.Tokens), q.TokensInAll, q.Tokens)
	}
	if plain := ask(t, s, search.Request{Query: "the leaking seal"}); plain.Explain != nil || plain.Hits[0].Explain != nil || plain.Timings.Explain != 0 {
		t.Error("explained without being asked")
	}
	dense := ask(t, s, search.Request{Query: "the leaking seal", Mode: search.ModeDense, Explain: true})
	if e := dense.Hits[0].Explain; dense.Explain.Terms != nil || dense.Explain.Tokens != nil || e.Lexical != nil || e.Sparse != nil || e.Fusion != nil {
		t.Errorf("mode dense: %+v, %+v", dense.Explain, e)
	}
	_, err := s.Search(t.Context(), "t", search.Request{Query: "seal", Explain: true, Limit: ptr(search.MaxExplained + 1)})
	if e := (*braid.Error)(nil); !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != "explain" {
		t.Errorf("too many hits: %v", err)
	}
}

// TestExplainHidesTheScope asks as a caller who is limited to a filter.
func TestExplainHidesTheScope(t *testing.T) {
	_, a, _ := tenants(t)
	answer := ask(t, a, search.Request{Query: "pump", Mode: search.ModeLexical, Explain: true})
	if len(answer.Hits) == 0 || answer.Explain.Filter != nil {
		t.Errorf("%d hits, filter %+v", len(answer.Hits), answer.Explain.Filter)
	}
}

// TestChangedDocumentsAreNotExplained writes a document between the moment it is
// found and the moment it is explained.
func TestChangedDocumentsAreNotExplained(t *testing.T) {
	real := engine(t, t.TempDir())
	s := search.New(real, heads, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, pumps...)
	changed := pumps[1]
	changed.Text += " Pressure, pressure and more inlet."
	meddler := search.New(meddling{real, func(index.Collection) { ingest(t, s, changed) }}, heads, nil)
	answer := ask(t, meddler, search.Request{Query: "inlet pressure", Explain: true, Rerank: ptr(false)})
	if len(answer.Hits) == 0 || answer.Hits[0].ID != changed.ID {
		t.Fatalf("hits %v", ids(answer.Hits))
	}
	e := answer.Hits[0].Explain
	if !e.Lexical.Changed || len(e.Lexical.Terms) != 0 || !e.Sparse.Changed || len(e.Sparse.Tokens) != 0 {
		t.Errorf("a document that changed is explained: %+v, %+v", e.Lexical, e.Sparse)
	}
	if e.Fusion == nil || e.Lexical.Score != answer.Hits[0].Branches[braid.Lexical].Score {
		t.Errorf("what is known is missing: %+v", e)
	}
}
