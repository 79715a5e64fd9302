package search_test

import (
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

func TestPhrasesAndExcludedWords(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	ingest(t, s, braid.Document{ID: "wd", Title: "WD-40", Text: "A state-of-the-art spray; the pressure of the inlet does not matter at -40 degrees."})
	for query, want := range map[string][]string{
		`"inlet pressure"`:           {"err-104"},
		`"Inlet, pressure" too low`:  {"err-104"},
		`"pressure is too" -outlet`:  {"err-104"},
		`"the inlet"`:                {"err-104", "wd"},
		`pressure -err`:              {"invoice", "prime", "seal", "wd"},
		`pressure -ERR-104`:          {"err-105", "invoice", "prime", "seal", "wd"},
		`pressure -"inlet pressure"`: {"err-105", "invoice", "prime", "seal", "wd"},
		`water -motors`:              {"err-104", "err-105", "invoice", "prime", "wd"},
		`"state of the art" spray`:   {"wd"},
		`"wd-40"`:                    {"wd"},
		`"no such thing"`:            {},
		`WD-40`:                      {"err-104", "err-105", "invoice", "prime", "seal", "wd"},
		`at -40 degrees`:             {"err-104", "err-105", "invoice", "prime", "seal", "wd"},
		`5" pipe`:                    {"err-104", "err-105", "invoice", "prime", "seal", "wd"},
	} {
		for _, rerank := range []bool{false, true} {
			answer := ask(t, s, search.Request{Query: query, Rerank: &rerank})
			got := ids(answer.Hits)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, rerank %v: found %v, want %v", query, rerank, got, want)
			}
			if said := answer.Query.Matching; (said != nil) != (len(want) < 6) || said != nil && *said != len(want) {
				t.Errorf("%s: %+v", query, answer.Query)
			}
		}
	}
}

func TestWhatWasUnderstood(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	const query = `"inlet pressure" -outlet -"dry run" ERR-104`
	answer := ask(t, s, search.Request{Query: query, Explain: true, Filter: parseFilter(t, `{"must_not":[{"field":"kind","match":"how-to"}]}`)})
	q := answer.Query
	if q.Text != "inlet pressure ERR-104" || !slices.Equal(q.Phrases, []string{"inlet pressure"}) || !slices.Equal(q.Excluded, []string{"outlet", "dry run"}) || q.Matching == nil || *q.Matching != 1 || *answer.Allowed != 4 {
		t.Errorf("understood %+v, allowed %d", q, *answer.Allowed)
	}
	if answer.Routing.Kind != search.KindIdentifier || !slices.Equal(answer.Routing.Identifiers, []string{"ERR-104"}) {
		t.Errorf("routing %+v", answer.Routing)
	}
	for _, term := range answer.Explain.Terms {
		if term.Term == "outlet" || term.End > len(q.Text) {
			t.Errorf("looked for %+v", term)
		}
	}
	// Excluded identifiers make no identifier of a query.
	if other := ask(t, s, search.Request{Query: "pressure -ERR-105"}); other.Routing.Kind != search.KindOther {
		t.Errorf("routing %+v", other.Routing)
	}
	off := ask(t, s, search.Request{Query: query, Syntax: ptr(false)})
	if q := off.Query; q.Text != "" || q.Phrases != nil || q.Matching != nil || len(off.Hits) != len(pumps) {
		t.Errorf("switched off: %+v, %d hits", q, len(off.Hits))
	}
	if _, err := s.SetProfile(t.Context(), "t", search.Profile{Syntax: ptr(false)}); err != nil {
		t.Fatal(err)
	}
	if q := ask(t, s, search.Request{Query: query, Mode: search.ModeLexical}).Query; q.Phrases != nil {
		t.Errorf("the profile switches it off: %+v", q)
	}
	if q := ask(t, s, search.Request{Query: query, Syntax: ptr(true)}).Query; len(q.Phrases) != 1 {
		t.Errorf("the request switches it on: %+v", q)
	}
}

// TestWordsStayInTheScope asks as a caller who is limited to a filter.
func TestWordsStayInTheScope(t *testing.T) {
	_, a, _ := tenants(t)
	answer := ask(t, a, search.Request{Query: `"pump of"`})
	if len(answer.Hits) != 3 || *answer.Query.Matching != 3 {
		t.Errorf("%d hits of %d", len(answer.Hits), *answer.Query.Matching)
	}
	if answer := ask(t, a, search.Request{Query: `"pump of b"`}); len(answer.Hits) != 0 || *answer.Query.Matching != 0 {
		t.Errorf("%d hits of %d", len(answer.Hits), *answer.Query.Matching)
	}
}

// A minus before a word that most documents have with one, or with a slash, is part of
// a name. Documents that the caller may not see do not count.
func TestOptionsAreNotExcluded(t *testing.T) {
	s := service(t, heads)
	ingest(t, s,
		braid.Document{ID: "warnings", Text: "Compile with -Wall to see the warnings.", Payload: []byte(`{"kind":"how-to"}`)},
		braid.Document{ID: "extensions", Text: "Warnings of extensions (/Wall) stay.", Payload: []byte(`{"kind":"how-to"}`)},
		braid.Document{ID: "brick", Text: "A wall without warnings.", Payload: []byte(`{"kind":"house"}`)})
	for _, c := range []struct {
		query, filter string
		syntax        *bool
		text          string
		excluded      []string
	}{
		{"warnings with -Wall", "", nil, "", nil},
		{"warnings with -Wall", "", new(true), "warnings with", []string{"Wall"}},
		{"warnings -extensions", "", nil, "warnings", []string{"extensions"}},
		{"warnings -Wall -brick", "", nil, "warnings -Wall", []string{"brick"}},
		{"warnings -Wall", `{"must":[{"field":"kind","match":"house"}]}`, nil, "warnings", []string{"Wall"}},
	} {
		req := search.Request{Query: c.query, Syntax: c.syntax}
		if c.filter != "" {
			req.Filter = parseFilter(t, c.filter)
		}
		q := ask(t, s, req).Query
		if !slices.Equal(q.Excluded, c.excluded) || q.Text != c.text {
			t.Errorf("%s, filter %s: excluded %q, looked for %q", c.query, c.filter, q.Excluded, q.Text)
		}
	}
}

// What a text quotes is no condition, unless it is asked for.
func TestTextsAreNotConditions(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	const text = `the pump says "inlet pressure" and nobody here knows what is meant`
	for _, c := range []struct {
		query    string
		syntax   *bool
		matching int // -1: not read
	}{
		{text, nil, 1},
		{text + " by", nil, -1},
		{text + " by", new(true), 1},
		{text, new(false), -1},
	} {
		q := ask(t, s, search.Request{Query: c.query, Syntax: c.syntax}).Query
		if read := q.Matching != nil; read != (c.matching >= 0) || read && *q.Matching != c.matching {
			t.Errorf("%s, %v: %+v", c.query, c.syntax, q)
		}
	}
}
