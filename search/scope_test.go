package search_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// tenants are two callers of one collection, and one that sees all of it.
func tenants(t *testing.T) (all, a, b *search.Service) {
	t.Helper()
	all = service(t, search.Models{})
	scope := func(name string) search.Scope {
		return search.Scope{Caller: name, Filter: *parseFilter(t, fmt.Sprintf(`{"must":[{"field":"tenant","match":%q}]}`, name))}
	}
	a, b = all.Within(scope("a")), all.Within(scope("b"))
	for name, s := range map[string]*search.Service{"a": a, "b": b} {
		for i := range 3 {
			ingest(t, s, braid.Document{ID: fmt.Sprint(name, i), Text: "The pump of " + name, Payload: fmt.Appendf(nil, `{"tenant":%q,"n":%d}`, name, i)})
		}
	}
	return all, a, b
}

func TestTenantsDoNotMeet(t *testing.T) {
	all, a, b := tenants(t)
	ctx := t.Context()
	wantCode := func(what string, err error, code braid.Code) {
		t.Helper()
		if err == nil || braid.CodeOf(err) != code {
			t.Errorf("%s: error %v, want %s", what, err, code)
		}
	}
	answer := ask(t, a, search.Request{Query: "pump of b"})
	found := ids(answer.Hits)
	if slices.Sort(found); !slices.Equal(found, []string{"a0", "a1", "a2"}) || *answer.Allowed != 3 || answer.Candidates[braid.Lexical] != 3 {
		t.Errorf("a finds %v of %d, candidates %v", found, *answer.Allowed, answer.Candidates)
	}
	// A filter of the request narrows the scope and never widens it.
	widest := &braid.Filter{Should: []braid.Clause{braid.Filter{}, *parseFilter(t, `{"must":[{"field":"tenant","match":"b"}]}`)}}
	for _, f := range []*braid.Filter{{}, widest} {
		if answer := ask(t, a, search.Request{Query: "pump", Filter: f}); *answer.Allowed != 3 {
			t.Errorf("a searches in %d documents", *answer.Allowed)
		}
		if n, err := a.Count(ctx, "t", *f); err != nil || n != 3 {
			t.Errorf("a counts %d, error %v", n, err)
		}
	}
	page, err := a.Page(ctx, "t", search.PageRequest{})
	if err != nil || len(page.Documents) != 3 || page.Next != "" {
		t.Errorf("a lists %+v, error %v", page, err)
	}
	info, err := a.Info(ctx, "t")
	if err != nil || info.Documents != 3 || len(info.MemoryBytes) != 0 || info.FilterBytes != 0 {
		t.Errorf("a is told %+v, error %v", info, err)
	}
	if list, err := a.List(ctx); err != nil || len(list) != 1 || list[0].Documents != 3 {
		t.Errorf("a is told %+v, error %v", list, err)
	}

	// What is not there for a is not there in the very same words.
	_, other := a.Document(ctx, "t", "b0")
	_, absent := a.Document(ctx, "t", "c0")
	wantCode("get b0", other, braid.NotFound)
	if strings.ReplaceAll(other.Error(), "b0", "c0") != absent.Error() {
		t.Errorf("b0 is missing as %q, c0 as %q", other, absent)
	}
	wantCode("delete b0", a.Delete(ctx, "t", "b0"), braid.NotFound)
	_, err = a.UpdatePayload(ctx, "t", "b0", json.RawMessage(`{"tenant":"a"}`))
	wantCode("patch b0", err, braid.NotFound)
	if n, err := a.DeleteWhere(ctx, "t", *parseFilter(t, `{"must":[{"field":"n","match":0}]}`)); err != nil || n != 1 {
		t.Errorf("a deletes %d with n = 0, error %v", n, err)
	}

	// What a writes is a's and touches nothing of b.
	_, err = a.Ingest(ctx, "t", []braid.Document{{ID: "a9", Text: "x", Payload: json.RawMessage(`{"tenant":"a"}`)}, {ID: "a8", Text: "x", Payload: json.RawMessage(`{"tenant":"b"}`)}})
	wantCode("store for b", err, braid.Forbidden)
	if field := braid.Public(err).Field; field != "documents[1].payload" || !strings.Contains(err.Error(), `the API key "a"`) {
		t.Errorf("error %q in %q", err, field)
	}
	_, err = a.Document(ctx, "t", "a9")
	wantCode("what was sent with it", err, braid.NotFound)
	for _, besides := range []string{`{"tenant":["a","b"]}`, `{"tenant":"a","tenant":"b"}`, `{"tenant":[["a"],[null,1]]}`} {
		_, err = a.Ingest(ctx, "t", []braid.Document{{ID: "a8", Text: "x", Payload: json.RawMessage(besides)}})
		wantCode("store for b, too, as "+besides, err, braid.Forbidden)
	}
	if _, err = a.Ingest(ctx, "t", []braid.Document{{ID: "a7", Text: "x", Payload: json.RawMessage(`{"tenant":["a",null,"a"],"n":[1,2]}`)}}); err != nil {
		t.Error(err)
	}
	if err := a.Delete(ctx, "t", "a7"); err != nil {
		t.Error(err)
	}
	_, err = a.UpdatePayload(ctx, "t", "a1", json.RawMessage(`{"tenant":["a","b"]}`))
	wantCode("share a1 with b", err, braid.Forbidden)
	_, err = a.Ingest(ctx, "t", []braid.Document{{ID: "a8", Text: "x"}})
	wantCode("store without a payload", err, braid.Forbidden)
	_, err = a.Ingest(ctx, "t", []braid.Document{{ID: "b1", Text: "mine now", Payload: json.RawMessage(`{"tenant":"a"}`)}})
	wantCode("replace b1", err, braid.Conflict)
	_, err = a.UpdatePayload(ctx, "t", "a1", json.RawMessage(`{"tenant":"b"}`))
	wantCode("give a1 to b", err, braid.Forbidden)
	wantCode("drop", a.Drop(ctx, "t"), braid.Forbidden)
	_, _, err = a.Create(ctx, "u")
	wantCode("create", err, braid.Forbidden)
	if info, created, err := a.Create(ctx, "t"); err != nil || created || info.Documents != 2 {
		t.Errorf("create what is there: %+v, created %v, error %v", info, created, err)
	}
	if n, err := b.Count(ctx, "t", braid.Filter{}); err != nil || n != 3 {
		t.Errorf("b has %d documents left, error %v", n, err)
	}
	if d, err := all.Document(ctx, "t", "b1"); err != nil || d.Text != "The pump of b" {
		t.Errorf("b1 is %+v, error %v", d, err)
	}
}

func TestScopeOfCollections(t *testing.T) {
	ctx := t.Context()
	all := service(t, search.Models{})
	if _, _, err := all.Create(ctx, "u"); err != nil {
		t.Fatal(err)
	}
	ingest(t, all, braid.Document{ID: "1", Text: "pump"})
	s := all.Within(search.Scope{Caller: "k", Collections: []string{"u", "v"}})
	_, there := s.Search(ctx, "t", search.Request{Query: "pump"})
	_, absent := all.Search(ctx, "x", search.Request{Query: "pump"})
	if braid.CodeOf(there) != braid.NotFound || strings.ReplaceAll(there.Error(), `"t"`, `"x"`) != absent.Error() {
		t.Errorf("a collection outside is missing as %q, none as %q", there, absent)
	}
	for what, err := range map[string]error{
		"info":   second(s.Info(ctx, "t")),
		"get":    second(s.Document(ctx, "t", "1")),
		"count":  second(s.Count(ctx, "t", braid.Filter{})),
		"page":   second(s.Page(ctx, "t", search.PageRequest{})),
		"ingest": second(s.Ingest(ctx, "t", []braid.Document{{ID: "2", Text: "x"}})),
		"patch":  second(s.UpdatePayload(ctx, "t", "1", json.RawMessage(`{}`))),
		"where":  second(s.DeleteWhere(ctx, "t", *parseFilter(t, `{"must":[{}]}`))),
		"delete": s.Delete(ctx, "t", "1"),
		"drop":   s.Drop(ctx, "t"),
	} {
		if braid.CodeOf(err) != braid.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	if list, err := s.List(ctx); err != nil || len(list) != 1 || list[0].Name != "u" {
		t.Errorf("list %+v, error %v", list, err)
	}
	if _, _, err := s.Create(ctx, "w"); braid.CodeOf(err) != braid.Forbidden {
		t.Errorf("create another: %v", err)
	}
	if _, created, err := s.Create(ctx, "v"); err != nil || !created {
		t.Errorf("create one of its own: %v", err)
	}
	if err := s.Drop(ctx, "v"); err != nil {
		t.Error(err)
	}
}

// TestWhatAScopeStores has filters that ask about more than one field, or for
// what is not there.
func TestWhatAScopeStores(t *testing.T) {
	all := service(t, search.Models{})
	for _, tc := range []struct {
		filter, payload string
		ok              bool
	}{
		{`{"should":[{"field":"public","match":true},{"field":"group","in":["x","y"]}]}`, `{"group":["x","y"]}`, true},
		{`{"should":[{"field":"public","match":true},{"field":"group","in":["x","y"]}]}`, `{"group":["x","z"]}`, false},
		{`{"should":[{"field":"public","match":true},{"field":"group","in":["x","y"]}]}`, `{"group":["x","z"],"public":true}`, true},
		{`{"should":[{"field":"public","match":true},{"field":"group","in":["x","y"]}]}`, `{"public":[true,false]}`, false},
		{`{"must_not":[{"field":"level","range":{"gt":3}}]}`, `{"level":[1,2,3]}`, true},
		{`{"must_not":[{"field":"level","range":{"gt":3}}]}`, `{"level":[1,4]}`, false},
		{`{"must_not":[{"field":"secret","exists":true}]}`, `{}`, true},
		{`{"must_not":[{"field":"secret","exists":true}]}`, `{"secret":[]}`, true},
		{`{"must_not":[{"field":"secret","exists":true}]}`, `{"secret":{"a":1}}`, false},
		{`{"must":[{"field":"owner","exists":true}]}`, `{"owner":["a","b"]}`, true},
		{`{"must":[{"must":[{"field":"a.b","match":1}]},{"field":"c","exists":false}]}`, `{"a":{"b":1}}`, true},
		{`{"must":[{"must":[{"field":"a.b","match":1}]},{"field":"c","exists":false}]}`, `{"a":{"b":1},"a.b":2}`, false},
	} {
		s := all.Within(search.Scope{Filter: *parseFilter(t, tc.filter)})
		_, err := s.Ingest(t.Context(), "t", []braid.Document{{ID: "d", Text: "x", Payload: json.RawMessage(tc.payload)}})
		if (err == nil) != tc.ok || err != nil && braid.CodeOf(err) != braid.Forbidden {
			t.Errorf("%s stores %s: %v", tc.filter, tc.payload, err)
		}
		if _, err := all.DeleteWhere(t.Context(), "t", *parseFilter(t, `{"must":[{}]}`)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	ctx := t.Context()
	all := service(t, search.Models{})
	ingest(t, all, braid.Document{ID: "1", Text: "pump"})
	s := all.Within(search.Scope{Caller: "k", ReadOnly: true})
	for what, err := range map[string]error{
		"ingest": second(s.Ingest(ctx, "t", []braid.Document{{ID: "2", Text: "x"}})),
		"patch":  second(s.UpdatePayload(ctx, "t", "1", json.RawMessage(`{}`))),
		"where":  second(s.DeleteWhere(ctx, "t", *parseFilter(t, `{"must":[{}]}`))),
		"delete": s.Delete(ctx, "t", "1"),
		"drop":   s.Drop(ctx, "t"),
	} {
		if braid.CodeOf(err) != braid.Forbidden || !strings.Contains(err.Error(), "only read") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, _, err := s.Create(ctx, "u"); braid.CodeOf(err) != braid.Forbidden {
		t.Errorf("create: %v", err)
	}
	if answer := ask(t, s, search.Request{Query: "pump"}); len(answer.Hits) != 1 {
		t.Errorf("found %v", ids(answer.Hits))
	}
}

func second[T any](_ T, err error) error { return err }
