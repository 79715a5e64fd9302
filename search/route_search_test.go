package search_test

import (
	"math"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/search"
)

// TestAnswerSaysHowItWasWeighed: the defaults depend on the kind of the query, and
// the answer holds all that its scores were made with.
func TestAnswerSaysHowItWasWeighed(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	kinds := map[search.Kind]string{search.KindIdentifier: "ERR-104", search.KindQuestion: "what does ERR-104 on the pump mean?", search.KindOther: "inlet pressure"}
	for kind, query := range kinds {
		answer := ask(t, s, search.Request{Query: query})
		if answer.Routing == nil || answer.Routing.Kind != kind || answer.Fusion == nil || answer.Fusion.Method != fusion.MinMax || answer.RerankWeight == nil {
			t.Fatalf("%q: routing %+v, fusion %+v, rerank weight %v", query, answer.Routing, answer.Fusion, answer.RerankWeight)
		}
		for i, h := range answer.Hits {
			var sum float64
			for _, f := range h.Branches {
				sum += *f.Contribution
			}
			if math.Abs(sum-h.Fused.Score) > 1e-12 {
				t.Errorf("%q: %s: contributions add up to %v, fused score is %v", query, h.ID, sum, h.Fused.Score)
			}
			if i > 0 && h.Score > answer.Hits[i-1].Score {
				t.Errorf("%q: hit %d scores more than the one before", query, i+1)
			}
		}
		// The same, said in the request, with the query not looked at.
		again := ask(t, s, search.Request{Query: query, Routing: ptr(false), Fusion: answer.Fusion, RerankWeight: answer.RerankWeight})
		if again.Routing != nil || !slices.EqualFunc(again.Hits, answer.Hits, func(a, b search.Hit) bool { return a.ID == b.ID && a.Score == b.Score }) {
			t.Errorf("%q: asked with what was shown: %v, want %v", query, ids(again.Hits), ids(answer.Hits))
		}
	}
	if hit := ask(t, s, search.Request{Query: "ERR-104"}).Hits[0]; hit.ID != "err-104" {
		t.Errorf("ERR-104 finds %s first", hit.ID)
	}
	alone := ask(t, s, search.Request{Query: "inlet pressure", RerankWeight: ptr(1.0)})
	for _, h := range alone.Hits {
		if h.ScoreType != search.ScoreProbability || h.Score != h.Rerank.Probability {
			t.Errorf("weight 1: %s: score %v (%s), rerank %+v", h.ID, h.Score, h.ScoreType, h.Rerank)
		}
	}
	for _, weight := range []float64{-1, 1.5, math.NaN()} {
		if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", RerankWeight: &weight}); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("rerank_weight %v: error %v", weight, err)
		}
	}
}

// TestUnknownIdentifier: a name is forced upon the answer only where a document that
// may be searched holds it.
func TestUnknownIdentifier(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	howTo := parseFilter(t, `{"must":[{"field":"kind","match":"how-to"}]}`)
	for _, c := range []struct {
		req     search.Request
		unknown []string
		lexical float64 // weight over dense's
	}{
		{search.Request{Query: "ERR-104"}, nil, 5},
		{search.Request{Query: "err-104"}, nil, 5},
		{search.Request{Query: "ERR-999"}, []string{"ERR-999"}, 1},
		{search.Request{Query: "ERR-104 ERR-999"}, []string{"ERR-999"}, 1},
		{search.Request{Query: "ERR-104", Filter: howTo}, []string{"ERR-104"}, 1},
		{search.Request{Query: "XQ-7"}, []string{"XQ-7"}, 1},
	} {
		answer := ask(t, s, c.req)
		if !slices.Equal(answer.Routing.Unknown, c.unknown) {
			t.Errorf("%q (filter %v): unknown %q, want %q", c.req.Query, c.req.Filter != nil, answer.Routing.Unknown, c.unknown)
		}
		if w := answer.Fusion.Weights; w[braid.Lexical] != c.lexical*w[braid.Dense] {
			t.Errorf("%q (filter %v): weights %v, want lexical %v times dense", c.req.Query, c.req.Filter != nil, w, c.lexical)
		}
	}
	said := search.Request{Query: "ERR-999", Fusion: &search.Fusion{}, RerankWeight: ptr(1.0)}
	if answer := ask(t, s, said); answer.Routing.Unknown != nil || answer.Fusion.Method != fusion.RRF || *answer.RerankWeight != 1 {
		t.Errorf("all said: routing %+v, fusion %+v, rerank weight %v", answer.Routing, answer.Fusion, *answer.RerankWeight)
	}
}
