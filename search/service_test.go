package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/search"
)

// heads are the real models, opened once for all tests of the package.
var heads search.Models

func TestMain(m *testing.M) {
	runtime, set, err := testenv.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	heads = set.Search()
	code := m.Run()
	if err := runtime.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func engine(t *testing.T, dir string) index.Engine {
	t.Helper()
	e, err := embedded.Open(t.Context(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// service returns a service with an empty collection "t".
func service(t *testing.T, models search.Models) *search.Service {
	t.Helper()
	s := search.New(engine(t, t.TempDir()), models, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	return s
}

func ingest(t *testing.T, s *search.Service, docs ...braid.Document) search.IngestResult {
	t.Helper()
	result, err := s.Ingest(t.Context(), "t", docs)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func ask(t *testing.T, s *search.Service, req search.Request) *search.Response {
	t.Helper()
	answer, err := s.Search(t.Context(), "t", req)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func ids(hits []search.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func ptr[T any](v T) *T { return &v }

var pumps = []braid.Document{
	{ID: "seal", Title: "Shaft seal", Text: "Replace the shaft seal when water drips from below the motor.", Payload: json.RawMessage(`{"kind":"how-to","page":12345678901234567890}`)},
	{ID: "err-104", Text: "ERR-104 means the inlet pressure is too low."},
	{ID: "err-105", Text: "ERR-105 means the outlet pressure is too high."},
	{ID: "prime", Text: "Fill the casing with water before you start the machine for the first time."},
	{ID: "invoice", Text: "Invoices are sent by e-mail on the first working day of the month."},
}

func TestEveryModeFindsItsOwnKind(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	for _, tc := range []struct {
		mode  search.Mode
		query string
		first string
	}{
		{search.ModeLexical, "ERR-105", "err-105"},
		{search.ModeDense, "when do I get the bill", "invoice"},
		{search.ModeSparse, "leaking seal", "seal"},
		{search.ModeHybrid, "what does ERR-104 mean", "err-104"},
	} {
		for _, rerank := range []bool{false, true} {
			answer := ask(t, s, search.Request{Query: tc.query, Mode: tc.mode, Rerank: &rerank})
			if len(answer.Hits) == 0 || answer.Hits[0].ID != tc.first {
				t.Errorf("%s, rerank %v: %q found %v, want %s first", tc.mode, rerank, tc.query, ids(answer.Hits), tc.first)
			}
			if answer.Degraded != nil {
				t.Errorf("%s: degraded %v", tc.mode, answer.Degraded)
			}
		}
	}
}

func TestAnswerExplainsItself(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	answer := ask(t, s, search.Request{Query: "inlet pressure too low", Limit: ptr(3)})
	if answer.Mode != search.ModeHybrid || answer.Reranked != len(pumps) || len(answer.Hits) != 3 {
		t.Fatalf("mode %s, %d reranked, %d hits", answer.Mode, answer.Reranked, len(answer.Hits))
	}
	for i, h := range answer.Hits {
		var sum float64
		for _, f := range h.Branches {
			sum += *f.Contribution
		}
		if d := sum - h.Fused.Score; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: contributions add up to %v, fused score is %v", h.ID, sum, h.Fused.Score)
		}
		if h.Rank != i+1 || h.Rerank == nil || h.Rerank.After != h.Rank || h.Rerank.Before != h.Fused.Rank {
			t.Errorf("%s: rank %d, fused %+v, rerank %+v", h.ID, h.Rank, h.Fused, h.Rerank)
		}
		if h.ScoreType != search.ScoreBlended || h.Score < 0 || h.Score > 1 {
			t.Errorf("%s: score %v (%s), rerank %+v", h.ID, h.Score, h.ScoreType, h.Rerank)
		}
	}
	if !slices.IsSortedFunc(answer.Hits, func(a, b search.Hit) int {
		return int(b.Rerank.Logit - a.Rerank.Logit)
	}) {
		t.Error("hits are not in the order of their logits")
	}
	tm := answer.Timings
	for stage, ms := range map[string]float64{"tokenise": tm.Tokenise, "dense_encode": tm.DenseEncode, "sparse_encode": tm.SparseEncode,
		"dense_search": tm.DenseSearch, "sparse_search": tm.SparseSearch, "lexical_search": tm.LexicalSearch, "fuse": tm.Fuse, "fetch": tm.Fetch, "rerank": tm.Rerank, "first_stage": tm.FirstStage} {
		if ms <= 0 || ms > tm.Total {
			t.Errorf("stage %s took %v ms of %v", stage, ms, tm.Total)
		}
	}
}

func TestBudgetsAreSeparate(t *testing.T) {
	s := service(t, heads)
	var docs []braid.Document
	for i := range 30 {
		docs = append(docs, braid.Document{ID: fmt.Sprintf("d%02d", i), Text: fmt.Sprintf("valve %d closes slowly", i)})
	}
	ingest(t, s, docs...)
	answer := ask(t, s, search.Request{Query: "valve closes", Candidates: ptr(12), RerankDepth: ptr(4), Limit: ptr(7)})
	if answer.Reranked != 4 || len(answer.Hits) != 7 {
		t.Errorf("%d reranked, %d hits", answer.Reranked, len(answer.Hits))
	}
	for _, b := range braid.Branches() {
		if answer.Candidates[b] != 12 {
			t.Errorf("%s brought %d candidates, want 12", b, answer.Candidates[b])
		}
	}
	for i, h := range answer.Hits {
		want := search.ScoreBlended
		if i >= 4 {
			want = search.ScoreFused
		}
		if h.ScoreType != want || (h.Rerank != nil) != (i < 4) {
			t.Errorf("hit %d: score type %s, rerank %v", i, h.ScoreType, h.Rerank)
		}
	}
}

func TestMinScoreComparesTheShownScore(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	all := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(true)})
	bound := all.Hits[1].Score
	some := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(true), MinScore: &bound})
	if got, want := ids(some.Hits), ids(all.Hits[:2]); !slices.Equal(got, want) {
		t.Errorf("min_score %v kept %v, want %v", bound, got, want)
	}
	if some.Reranked != all.Reranked {
		t.Errorf("min_score changed the number of reranked candidates: %d, %d", some.Reranked, all.Reranked)
	}
	if zero := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(true), MinScore: ptr(0.0)}); len(zero.Hits) != len(all.Hits) {
		t.Errorf("min_score 0 kept %d of %d", len(zero.Hits), len(all.Hits))
	}
}

func TestNoLexicalHitIsNoVote(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	answer := ask(t, s, search.Request{Query: "qzxvw plmkt"})
	if len(answer.Hits) == 0 || answer.Candidates[braid.Lexical] != 0 || answer.Degraded != nil {
		t.Fatalf("%d hits, candidates %v, degraded %v", len(answer.Hits), answer.Candidates, answer.Degraded)
	}
	for _, h := range answer.Hits {
		if _, voted := h.Branches[braid.Lexical]; voted {
			t.Errorf("%s has a lexical rank", h.ID)
		}
	}
}

func TestEmptyAnswersHaveTheUsualShape(t *testing.T) {
	s := service(t, heads)
	for _, mode := range search.Modes() {
		answer := ask(t, s, search.Request{Query: "anything", Mode: mode, Rerank: ptr(true)})
		if answer.Hits == nil || len(answer.Hits) != 0 || answer.Reranked != 0 || answer.Degraded != nil {
			t.Errorf("%s on an empty collection: %+v", mode, answer)
		}
	}
	ingest(t, s, pumps...)
	answer := ask(t, s, search.Request{Query: "qzxvw", Mode: search.ModeLexical, Rerank: ptr(true)})
	if answer.Hits == nil || len(answer.Hits) != 0 || answer.Degraded != nil {
		t.Errorf("lexical without a hit: %+v", answer)
	}
}

func TestEqualTextsComeByIDWithTheirOwnPayload(t *testing.T) {
	s := service(t, heads)
	twin := func(id string) braid.Document {
		return braid.Document{ID: id, Text: "replace the pump seal", Payload: json.RawMessage(`{"src":"` + id + `"}`)}
	}
	check := func(when string) {
		t.Helper()
		for _, rerank := range []bool{false, true} {
			answer := ask(t, s, search.Request{Query: "pump seal", Limit: ptr(3), Rerank: &rerank, Fusion: &search.Fusion{}})
			if !slices.Equal(ids(answer.Hits), []string{"a", "b", "c"}) {
				t.Fatalf("%s: got %v", when, ids(answer.Hits))
			}
			for i, h := range answer.Hits {
				if string(h.Payload) != `{"src":"`+h.ID+`"}` {
					t.Errorf("%s: %s has payload %s", when, h.ID, h.Payload)
				}
				for _, b := range braid.Branches() {
					if h.Branches[b].Rank != i+1 {
						t.Errorf("%s: %s is %d in %s, want %d", when, h.ID, h.Branches[b].Rank, b, i+1)
					}
				}
				if want := 3.0 / float64(60+i+1); h.Fused.Score-want > 1e-9 || want-h.Fused.Score > 1e-9 {
					t.Errorf("%s: fused score %v, want %v", when, h.Fused.Score, want)
				}
			}
			if two := ask(t, s, search.Request{Query: "pump seal", Limit: ptr(2), Rerank: &rerank}); !slices.Equal(ids(two.Hits), []string{"a", "b"}) {
				t.Errorf("%s: limit 2 gives %v", when, ids(two.Hits))
			}
		}
	}
	ingest(t, s, twin("b"), twin("a"), twin("c"))
	check("one batch")
	if err := s.Delete(t.Context(), "t", "a"); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, twin("a"))
	check("after putting one back")
}

func TestUnchangedDocumentsAreNotEncodedAgain(t *testing.T) {
	s := service(t, heads)
	if got := ingest(t, s, pumps...); got.Created != len(pumps) || got.Tokens == 0 {
		t.Fatalf("first time: %+v", got)
	}
	if got := ingest(t, s, pumps...); got != (search.IngestResult{Unchanged: len(pumps)}) {
		t.Errorf("second time: %+v", got)
	}
	spaced := slices.Clone(pumps)
	spaced[0].Payload = json.RawMessage("{ \"kind\": \"how-to\",\n \"page\": 12345678901234567890 }")
	if got := ingest(t, s, spaced...); got.Unchanged != len(pumps) {
		t.Errorf("white space in a payload: %+v", got)
	}
	changed := slices.Clone(pumps)
	changed[1].Text += " Check the strainer."
	changed[0].Payload = json.RawMessage(`{"kind":"manual"}`)
	got := ingest(t, s, changed...)
	if got.Replaced != 2 || got.Unchanged != len(pumps)-2 {
		t.Errorf("two changed: %+v", got)
	}
	d, err := s.Document(t.Context(), "t", "seal")
	if err != nil || string(d.Payload) != `{"kind":"manual"}` {
		t.Errorf("document is %+v, %v", d, err)
	}
	if answer := ask(t, s, search.Request{Query: "strainer", Mode: search.ModeLexical}); len(answer.Hits) != 1 {
		t.Errorf("new text found %v", ids(answer.Hits))
	}
}

func TestTruncationIsReported(t *testing.T) {
	s := splitService(t, heads, 0, 0)
	long := "pump "
	for len(long) < 8000 {
		long += "valve seal gasket "
	}
	if got := ingest(t, s, braid.Document{ID: "long", Text: long}, pumps[0]); got.Truncated != 1 {
		t.Errorf("ingestion reported %+v", got)
	}
	if answer := ask(t, s, search.Request{Query: long[:4000]}); !answer.Query.Truncated || answer.Query.Tokens < 600 {
		t.Errorf("query usage %+v", answer.Query)
	}
	for _, h := range ask(t, s, search.Request{Query: "pump seal", RerankWindow: ptr(0)}).Hits {
		if h.Rerank.Truncated != (h.ID == "long") {
			t.Errorf("%s: reranked truncated = %v", h.ID, h.Rerank.Truncated)
		}
	}
}

func TestIngestRefusesTheWholeCall(t *testing.T) {
	s := service(t, heads)
	for name, docs := range map[string][]braid.Document{
		"empty text": {pumps[0], {ID: "x"}},
		"twice":      {pumps[0], pumps[1], pumps[0]},
		"no id":      {pumps[0], {Text: "x"}},
	} {
		if _, err := s.Ingest(t.Context(), "t", docs); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := s.Info(t.Context(), "t"); err != nil || info.Documents != 0 {
		t.Errorf("%d documents were stored (%v)", info.Documents, err)
	}
	if _, err := s.Ingest(t.Context(), "absent", pumps); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("unknown collection: %v", err)
	}
}

func TestRequestsAreChecked(t *testing.T) {
	s := service(t, heads)
	long := make([]byte, search.MaxQueryBytes+1)
	for i := range long {
		long[i] = 'x'
	}
	for name, tc := range map[string]struct {
		req   search.Request
		code  braid.Code
		field string
	}{
		"empty":            {search.Request{}, braid.InvalidArgument, "query"},
		"blank":            {search.Request{Query: " \n"}, braid.InvalidArgument, "query"},
		"not UTF-8":        {search.Request{Query: "caf\xe9"}, braid.InvalidArgument, "query"},
		"too long":         {search.Request{Query: string(long)}, braid.TooLarge, "query"},
		"mode":             {search.Request{Query: "x", Mode: "fuzzy"}, braid.InvalidArgument, "mode"},
		"limit 0":          {search.Request{Query: "x", Limit: ptr(0)}, braid.InvalidArgument, "limit"},
		"limit huge":       {search.Request{Query: "x", Limit: ptr(search.MaxLimit + 1)}, braid.InvalidArgument, "limit"},
		"candidates":       {search.Request{Query: "x", Candidates: ptr(-1)}, braid.InvalidArgument, "candidates"},
		"rerank depth":     {search.Request{Query: "x", RerankDepth: ptr(0)}, braid.InvalidArgument, "rerank_depth"},
		"k 0":              {search.Request{Query: "x", Fusion: &search.Fusion{K: ptr(0)}}, braid.InvalidArgument, "fusion.k"},
		"method":           {search.Request{Query: "x", Fusion: &search.Fusion{Method: "sum"}}, braid.InvalidArgument, "fusion.method"},
		"weight":           {search.Request{Query: "x", Fusion: &search.Fusion{Weights: map[braid.Branch]float64{"dense": -1}}}, braid.InvalidArgument, "fusion.weights.dense"},
		"branch":           {search.Request{Query: "x", Fusion: &search.Fusion{Weights: map[braid.Branch]float64{"bm25": 1}}}, braid.InvalidArgument, "fusion.weights"},
		"no weight":        {search.Request{Query: "x", Fusion: &search.Fusion{Weights: map[braid.Branch]float64{"dense": 0, "sparse": 0, "lexical": 0}}}, braid.InvalidArgument, "fusion.weights"},
		"fusion elsewhere": {search.Request{Query: "x", Mode: search.ModeDense, Fusion: &search.Fusion{}}, braid.InvalidArgument, "fusion"},
	} {
		_, err := s.Search(t.Context(), "t", tc.req)
		if shown := braid.Public(err); shown.Code != tc.code || shown.Field != tc.field {
			t.Errorf("%s: %s in %q (%v), want %s in %q", name, shown.Code, shown.Field, err, tc.code, tc.field)
		}
	}
}

func TestNullWeightIsAbsent(t *testing.T) {
	var f search.Fusion
	if err := json.Unmarshal([]byte(`{"weights":{"dense":null,"lexical":2}}`), &f); err != nil {
		t.Fatal(err)
	}
	if _, given := f.Weights[braid.Dense]; given || len(f.Weights) != 1 || f.Weights[braid.Lexical] != 2 {
		t.Errorf("weights %v", f.Weights)
	}
	for _, bad := range []string{`{"weights":[1]}`, `{"weights":{"dense":"x"}}`} {
		if err := json.Unmarshal([]byte(bad), &f); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), "fusion.weights") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWeightsChangeTheOrder(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	only := func(b braid.Branch) *search.Fusion {
		w := map[braid.Branch]float64{"dense": 0, "sparse": 0, "lexical": 0}
		w[b] = 1
		return &search.Fusion{Weights: w}
	}
	for _, b := range braid.Branches() {
		alone := ask(t, s, search.Request{Query: "water pressure", Mode: search.Mode(b)})
		fused := ask(t, s, search.Request{Query: "water pressure", Fusion: only(b), Rerank: ptr(false)})
		if !slices.Equal(ids(alone.Hits), ids(fused.Hits)) {
			t.Errorf("%s: alone %v, as the only voter %v", b, ids(alone.Hits), ids(fused.Hits))
		}
	}
}

func TestSameRequestSameAnswer(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	render := func() string {
		answer, err := s.Search(context.Background(), "t", search.Request{Query: "water in the machine"})
		if err != nil {
			return err.Error()
		}
		answer.Timings = search.Timings{}
		data, err := json.Marshal(answer)
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	want := render()
	results := make(chan string, 8)
	for range cap(results) {
		go func() {
			for range 10 {
				if got := render(); got != want {
					results <- got
					return
				}
			}
			results <- want
		}()
	}
	for range cap(results) {
		if got := <-results; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
