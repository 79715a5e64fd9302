package search_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search"
)

func parseFilter(t testing.TB, text string) *braid.Filter {
	t.Helper()
	var f braid.Filter
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func not(f *braid.Filter) *braid.Filter { return &braid.Filter{MustNot: []braid.Clause{*f}} }

// TestFilterTable asks for each filter in dense and hybrid mode, with and
// without the reranker, and for its negation.
func TestFilterTable(t *testing.T) {
	s := service(t, heads)
	for id, payload := range map[string]string{"1": `{"n":1}`, "2": `{"n":5}`, "3": `{"n":null}`, "4": `{"n":[1,null]}`, "5": `{}`, "6": `{"n":[]}`} {
		ingest(t, s, braid.Document{ID: id, Text: "Replace the pump seal.", Payload: json.RawMessage(payload)})
	}
	for text, want := range map[string]string{
		`{"must":[{"field":"n","match":1}]}`:     "1 4",
		`{"must_not":[{"field":"n","match":1}]}`: "2 3 5 6",
		`{"must":[{"field":"n","in":[]}]}`:       "",
		`{"must_not":[{"field":"n","in":[]}]}`:   "1 2 3 4 5 6",
		`{"should":[]}`:                          "1 2 3 4 5 6",
		`{}`:                                     "1 2 3 4 5 6",
		`{"must":[{"field":"n","exists":true}]}`: "1 2 4",
		`{"must":[{"should":[{"field":"n","match":5},{"field":"n","exists":true}]},{"must_not":[{"field":"n","match":1}]}]}`: "2",
	} {
		f := parseFilter(t, text)
		for _, mode := range []search.Mode{search.ModeDense, search.ModeHybrid} {
			for _, rerank := range []bool{false, true} {
				ask := func(f *braid.Filter) []string {
					found := ids(ask(t, s, search.Request{Query: "pump seal", Mode: mode, Rerank: &rerank, Limit: ptr(10), Filter: f}).Hits)
					slices.Sort(found)
					return found
				}
				passed, rest := ask(f), ask(not(f))
				if got := strings.Join(passed, " "); got != want {
					t.Errorf("%s, %s, rerank %v: found %q, want %q", text, mode, rerank, got, want)
				}
				if all := slices.Sorted(slices.Values(slices.Concat(passed, rest))); strings.Join(all, "") != "123456" {
					t.Errorf("%s, %s: with its negation it finds %v", text, mode, all)
				}
			}
		}
	}
}

// TestNothingAllowed is a search in no documents: as any other, and empty.
func TestNothingAllowed(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	for _, mode := range search.Modes() {
		answer := ask(t, s, search.Request{Query: "inlet pressure", Mode: mode, Rerank: ptr(true), Filter: parseFilter(t, `{"must":[{"field":"n","in":[]}]}`)})
		if answer.Hits == nil || len(answer.Hits) != 0 || answer.Reranked != 0 || answer.Degraded != nil || answer.Allowed == nil || *answer.Allowed != 0 {
			t.Errorf("%s: %+v", mode, answer)
		}
		for branch, n := range answer.Candidates {
			if n != 0 {
				t.Errorf("%s: %d candidates of %s", mode, n, branch)
			}
		}
	}
	if answer := ask(t, s, search.Request{Query: "inlet pressure"}); answer.Allowed != nil {
		t.Errorf("%d documents are allowed without a filter", *answer.Allowed)
	}
}

// TestFilteredHybridEqualsBruteForce fuses the whole ranking of each branch,
// without the documents that do not pass.
func TestFilteredHybridEqualsBruteForce(t *testing.T) {
	s := service(t, heads)
	random := rand.New(rand.NewPCG(61, 62))
	words := strings.Fields("pump seal inlet outlet pressure valve motor casing water leak invoice month error gasket bolt torque")
	payloads := map[string]json.RawMessage{}
	var docs []braid.Document
	for i := range 80 {
		var text []string
		for range 3 + random.IntN(8) {
			text = append(text, words[random.IntN(len(words))])
		}
		d := braid.Document{ID: fmt.Sprintf("d%02d", i), Text: strings.Join(text, " "), Payload: fmt.Appendf(nil, `{"n":%d,"kind":%q}`, random.IntN(10), words[random.IntN(4)])}
		docs, payloads[d.ID] = append(docs, d), d.Payload
	}
	ingest(t, s, docs...)
	everything := ptr(len(docs))
	for _, text := range []string{
		`{"must":[{"field":"n","range":{"gte":5}}]}`,
		`{"must":[{"field":"kind","match":"pump"}],"must_not":[{"field":"n","match":3}]}`,
		`{"should":[{"field":"kind","in":["seal","inlet"]},{"field":"n","match":9}]}`,
	} {
		for _, f := range []*braid.Filter{parseFilter(t, text), not(parseFilter(t, text))} {
			query := words[random.IntN(len(words))] + " " + words[random.IntN(len(words))]
			var rankings []fusion.Ranking
			for _, branch := range braid.Branches() {
				full := ask(t, s, search.Request{Query: query, Mode: search.Mode(branch), Limit: everything, Rerank: ptr(false)})
				ranking := fusion.Ranking{Branch: branch, Weight: 1}
				for _, h := range full.Hits {
					if fields, err := braid.FieldsOf(payloads[h.ID]); err != nil || !f.Passes(fields) {
						continue
					}
					ranking.Hits = append(ranking.Hits, braid.Hit{ID: h.ID, Score: h.Score})
				}
				rankings = append(rankings, ranking)
				filtered := ask(t, s, search.Request{Query: query, Mode: search.Mode(branch), Limit: everything, Rerank: ptr(false), Filter: f})
				for i, h := range filtered.Hits {
					if i >= len(ranking.Hits) || h.ID != ranking.Hits[i].ID || h.Score != ranking.Hits[i].Score {
						t.Fatalf("%s, %q in %s: found %v, want %v", text, query, branch, ids(filtered.Hits), ranking.Hits)
					}
				}
				if len(filtered.Hits) != len(ranking.Hits) {
					t.Fatalf("%s, %q in %s: found %d, want %d", text, query, branch, len(filtered.Hits), len(ranking.Hits))
				}
			}
			want, err := fusion.Fuse(rankings, fusion.Options{Method: fusion.MinMax})
			if err != nil {
				t.Fatal(err)
			}
			got := ask(t, s, search.Request{Query: query, Limit: everything, Rerank: ptr(false), Filter: f, Fusion: &search.Fusion{Method: fusion.MinMax}})
			if !slices.EqualFunc(got.Hits, want, func(h search.Hit, w fusion.Result) bool { return h.ID == w.ID && h.Score == w.Score }) {
				t.Errorf("%s, %q: found %v, want %d others", text, query, ids(got.Hits), len(want))
			}
		}
	}
}

// meddling is an engine whose documents change just before they are read.
type meddling struct {
	index.Engine
	before func(index.Collection)
}

type meddled struct {
	index.Collection
	before func(index.Collection)
}

func (e meddling) Open(ctx context.Context, name string) (index.Collection, error) {
	c, err := e.Engine.Open(ctx, name)
	return meddled{c, e.before}, err
}

func (c meddled) Get(ctx context.Context, ids []string) ([]index.Stored, error) {
	c.before(c.Collection)
	return c.Collection.Get(ctx, ids)
}

// TestDocumentsThatLeaveTheFilterAreNoHits moves a document out of the filter
// when it has been retrieved and not yet been read.
func TestDocumentsThatLeaveTheFilterAreNoHits(t *testing.T) {
	real := engine(t, t.TempDir())
	write := func(c index.Collection, id, payload string) {
		_, err := c.Write(context.WithoutCancel(t.Context()), index.Batch{Upserts: []index.Entry{index.Whole(braid.Document{ID: id, Text: "pump seal", Payload: json.RawMessage(payload)}, [32]byte{})}})
		if err != nil {
			t.Error(err)
		}
	}
	s := search.New(meddling{real, func(c index.Collection) { write(c, "b", `{"of":"others","secret":1}`) }}, search.Models{}, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	mine := s.Within(search.Scope{Filter: *parseFilter(t, `{"must":[{"field":"of","match":"me"}]}`)})
	c, err := real.Open(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	for _, read := range map[string]func() []string{
		"search": func() []string { return ids(ask(t, mine, search.Request{Query: "seal", Limit: ptr(2)}).Hits) },
		"page": func() []string {
			page, err := mine.Page(t.Context(), "t", search.PageRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, d := range page.Documents {
				found = append(found, d.ID)
			}
			return found
		},
	} {
		for _, id := range []string{"a", "b", "c"} {
			write(c, id, `{"of":"me"}`)
		}
		if got := read(); !slices.Equal(got, []string{"a", "c"}) {
			t.Errorf("found %v, want a and c", got)
		}
	}
	write(c, "b", `{"of":"me"}`)
	if d, err := mine.Document(t.Context(), "t", "b"); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("got %+v, error %v", d, err)
	}
}

func TestCountPageAndDeleteWhere(t *testing.T) {
	s := service(t, search.Models{})
	var docs []braid.Document
	for i := range 250 {
		docs = append(docs, braid.Document{ID: fmt.Sprintf("d%03d", i), Text: "pump", Payload: fmt.Appendf(nil, `{"n":%d}`, i%10)})
	}
	ingest(t, s, docs...)
	low := parseFilter(t, `{"must":[{"field":"n","range":{"lt":3}}]}`)
	count := func(f *braid.Filter) int {
		n, err := s.Count(t.Context(), "t", *f)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if count(low) != 75 || count(not(low)) != 175 || count(&braid.Filter{}) != 250 {
		t.Errorf("counted %d, %d and %d", count(low), count(not(low)), count(&braid.Filter{}))
	}
	for _, limit := range []*int{nil, ptr(1), ptr(7), ptr(75), ptr(1000)} {
		var seen []string
		req := search.PageRequest{Limit: limit, Filter: low}
		for {
			page, err := s.Page(t.Context(), "t", req)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range page.Documents {
				seen = append(seen, d.ID)
			}
			if page.Next == "" {
				break
			}
			req.After = page.Next
		}
		if len(seen) != 75 || !slices.IsSorted(seen) || len(slices.Compact(seen)) != 75 {
			t.Errorf("limit %v: saw %d documents, %v", limit, len(seen), seen)
		}
	}
	if n, err := s.DeleteWhere(t.Context(), "t", *low); err != nil || n != 75 {
		t.Errorf("deleted %d, error %v", n, err)
	}
	if count(low) != 0 || count(&braid.Filter{}) != 175 {
		t.Errorf("%d and %d are left", count(low), count(&braid.Filter{}))
	}
	for _, limit := range []int{0, -1, search.MaxPage + 1} {
		if _, err := s.Page(t.Context(), "t", search.PageRequest{Limit: &limit}); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("limit %d: %v", limit, err)
		}
	}
	if _, err := s.DeleteWhere(t.Context(), "t", braid.Filter{}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("an empty filter: %v", err)
	}
	if n, err := s.DeleteWhere(t.Context(), "t", *parseFilter(t, `{"must":[{}]}`)); err != nil || n != 175 {
		t.Errorf("deleted %d of all, error %v", n, err)
	}
}

// TestPagesAreBounded has more text than a page may hold.
func TestPagesAreBounded(t *testing.T) {
	s := service(t, search.Models{})
	large := strings.Repeat("word ", braid.MaxTextBytes/5)
	for i := range 20 {
		ingest(t, s, braid.Document{ID: fmt.Sprintf("d%02d", i), Text: large})
	}
	var sizes []int
	req := search.PageRequest{}
	for {
		page, err := s.Page(t.Context(), "t", req)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(page.Documents))
		if req.After = page.Next; page.Next == "" {
			break
		}
	}
	if len(sizes) != 2 || sizes[0]+sizes[1] != 20 || sizes[0] > search.MaxPageBytes/len(large)+1 {
		t.Errorf("pages of %v documents", sizes)
	}
}

// TestLimitOfDeletion deletes more documents than go in one step.
func TestDeleteWhereGoesInSteps(t *testing.T) {
	e := engine(t, t.TempDir())
	s := search.New(e, search.Models{}, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	c, err := e.Open(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	var batch index.Batch
	for i := range 2500 {
		batch.Upserts = append(batch.Upserts, index.Whole(braid.Document{ID: fmt.Sprint(i), Text: "x", Payload: fmt.Appendf(nil, `{"n":%d}`, cmp.Compare(i, 2400))}, [32]byte{}))
	}
	if _, err := c.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if n, err := s.DeleteWhere(t.Context(), "t", *parseFilter(t, `{"must":[{"field":"n","match":-1}]}`)); err != nil || n != 2400 {
		t.Errorf("deleted %d, error %v", n, err)
	}
	if n := c.Info().Documents; n != 100 {
		t.Errorf("%d are left", n)
	}
}
