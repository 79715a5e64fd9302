package search_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/search"
)

// What a profile says is as if the request had said it, and the request wins.
func TestProfileSpeaksWhereTheRequestIsSilent(t *testing.T) {
	dir := t.TempDir()
	e := engine(t, dir)
	s := search.New(e, heads, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, pumps...)
	fused := &search.Fusion{Method: fusion.RRF, K: ptr(1), Weights: search.Weights{braid.Dense: 0, braid.Sparse: 0}}
	said := search.Request{Query: "pressure", Candidates: ptr(2), Rerank: ptr(false), Fusion: fused}
	want := ask(t, s, said)
	plain := ask(t, s, search.Request{Query: "pressure", Rerank: ptr(false), Fusion: &search.Fusion{}})
	if plain.ProfileVersion != 0 || plain.Hits[0].Score == want.Hits[0].Score {
		t.Fatalf("without a profile: version %d, the same score", plain.ProfileVersion)
	}
	kept, err := s.SetProfile(t.Context(), "t", search.Profile{Candidates: ptr(2), Rerank: ptr(false), Fusion: fused})
	if err != nil || kept.Version != 1 {
		t.Fatalf("set: %+v, error %v", kept, err)
	}
	same := func(what string, got, want *search.Response) {
		t.Helper()
		a, errA := json.Marshal(got.Hits)
		b, errB := json.Marshal(want.Hits)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s: hits\n%s\nwant\n%s", what, a, b)
		}
	}
	got := ask(t, s, search.Request{Query: "pressure"})
	same("silent request", got, want)
	if got.ProfileVersion != 1 {
		t.Errorf("profile version %d, want 1", got.ProfileVersion)
	}
	got = ask(t, s, search.Request{Query: "pressure", Candidates: ptr(search.DefaultCandidates), Fusion: &search.Fusion{}})
	same("request that says fusion", got, plain)
	// A mode of one branch has neither fusion nor, unasked, a rerank.
	if got := ask(t, s, search.Request{Query: "pressure", Mode: search.ModeLexical}); got.Candidates[braid.Lexical] != 2 || got.Reranked != 0 {
		t.Errorf("mode lexical: candidates %v, reranked %d", got.Candidates, got.Reranked)
	}
	if _, err := s.Search(t.Context(), "t", search.Request{Query: " "}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("bad request: %v", err)
	}
	if kept, err = s.ClearProfile(t.Context(), "t"); err != nil || kept.Version != 2 || kept.Profile.Candidates != nil {
		t.Errorf("clear: %+v, error %v", kept, err)
	}
	same("cleared", ask(t, s, search.Request{Query: "pressure", Rerank: ptr(false), Fusion: &search.Fusion{}}), plain)
}

func TestBadProfiles(t *testing.T) {
	s := service(t, search.Models{})
	for name, tc := range map[string]struct {
		p     search.Profile
		field string
	}{
		"no candidates":  {search.Profile{Candidates: ptr(0)}, "candidates"},
		"too deep":       {search.Profile{RerankDepth: ptr(search.MaxRerankDepth + 1)}, "rerank_depth"},
		"unknown method": {search.Profile{Fusion: &search.Fusion{Method: "sum"}}, "fusion.method"},
		"negative":       {search.Profile{Fusion: &search.Fusion{Weights: search.Weights{braid.Dense: -1}}}, "fusion.weights.dense"},
	} {
		_, err := s.SetProfile(t.Context(), "t", tc.p)
		if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), strings.Split(tc.field, ".")[0]) {
			t.Errorf("%s: error %v, want one about %s", name, err, tc.field)
		}
	}
	for _, text := range []string{``, `[]`, `{"k":1}`, `{"rerank":1}`, `{"rerank":true,"rerank":false}`, `{"query":"x"}`} {
		if _, err := search.ParseProfile([]byte(text)); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if v, err := s.Profile(t.Context(), "t"); err != nil || v.Version != 0 {
		t.Errorf("after refusals: %+v, error %v", v, err)
	}
	if _, err := s.Profile(t.Context(), "absent"); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("absent collection: %v", err)
	}
}

// A profile of a later version of the program stops searches instead of being
// half understood.
func TestProfileOfALaterVersion(t *testing.T) {
	e := engine(t, t.TempDir())
	s := search.New(e, search.Models{}, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	c, err := e.Open(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetProfile(t.Context(), json.RawMessage(`{"sorcery":1}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), "t", search.Request{Query: "x"}); braid.CodeOf(err) != braid.Conflict || !strings.Contains(err.Error(), "sorcery") {
		t.Errorf("search: %v", err)
	}
	if _, err := s.ClearProfile(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ask(t, s, search.Request{Query: "x"})
}
