package search_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

func TestHighlight(t *testing.T) {
	s := service(t, heads)
	const title, text = "Größere Pumpen", "The automobile – a cafe\u0301 racer – leaked oil. Leaks are 修理 err_104 👩‍🔧."
	ingest(t, s, braid.Document{ID: "d", Title: title, Text: text}, braid.Document{ID: "other", Text: "Invoices are sent by e-mail."})
	answer := ask(t, s, search.Request{Query: "car café leaking ERR-104 修理 grossere", Highlight: &search.Highlight{}})
	h := answer.Hits[0].Highlights
	shown := func(text string, matches []search.Match) []string {
		var list []string
		for _, m := range matches {
			list = append(list, text[m.Start:m.End])
		}
		return list
	}
	if got := shown(text, h.Text); answer.Hits[0].ID != "d" || !slices.Equal(got, []string{"cafe\u0301", "leaked", "Leaks", "修理", "err_104"}) {
		t.Errorf("%s: text matches at %q", answer.Hits[0].ID, got)
	}
	if got := shown(title, h.Title); !slices.Equal(got, []string{"Größere"}) {
		t.Errorf("title matches at %q", got)
	}
	if len(h.Fragments) != 2 || h.Fragments[0].Field != "title" || h.Fragments[1].Field != "text" || len(h.Fragments[1].Parts) < 9 {
		t.Errorf("fragments %+v", h.Fragments)
	}
	// The model adds the car to the document, and the leak to query and document.
	for token, want := range map[string]struct {
		inQuery bool
		at      string
	}{"car": {true, ""}, "leak": {false, ""}, "cafe": {true, "cafe\u0301"}, "104": {true, "104"}} {
		at := slices.IndexFunc(h.Tokens, func(m search.MatchedToken) bool { return m.Token == token })
		if at < 0 {
			t.Errorf("%q is not among %+v", token, h.Tokens)
			continue
		}
		m, got := h.Tokens[at], ""
		for _, s := range m.Text {
			got += text[s.Start:s.End]
		}
		if m.InQuery != want.inQuery || got != want.at || m.Title != nil || !(m.Contribution > 0) {
			t.Errorf("%q at %q, want %q: %+v", token, got, want.at, m)
		}
	}
}

// TestHighlightWithoutWords asks for what no document says in these words: what is
// marked is what the sparse model read the query as.
func TestHighlightWithoutWords(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, braid.Document{ID: "d", Text: "An engine needs petrol."})
	h := ask(t, s, search.Request{Query: "car", Mode: search.ModeHybrid, Highlight: &search.Highlight{}}).Hits[0].Highlights
	if len(h.Text) != 0 || len(h.Fragments) != 1 || !slices.Contains(h.Fragments[0].Parts, search.Part{Text: "engine", Match: true}) {
		t.Errorf("%+v", h)
	}
}

// TestHighlightsOfRandomDocuments asserts that places are between characters and
// hold what they are said to hold, and that each term is found as often as it was
// counted.
func TestHighlightsOfRandomDocuments(t *testing.T) {
	s := service(t, heads)
	random := rand.New(rand.NewPCG(81, 82))
	pieces := append(slices.Clone(explainWords), "cafe\u0301", "a\u0308\u0323b", "👩‍🔧", "👍🏽", "☎\ufe0f", "한국어", "คน", "İstanbul", "ﬁsh", "\u200d", "Straße.")
	words := func(n int) string {
		var text strings.Builder
		for range n {
			text.WriteString(pieces[random.IntN(len(pieces))])
			text.WriteString([]string{" ", "", "-", ", "}[random.IntN(4)])
		}
		return text.String()
	}
	var docs []braid.Document
	for i := range 40 {
		docs = append(docs, braid.Document{ID: fmt.Sprint(i), Title: words(random.IntN(4)), Text: "x" + words(1+random.IntN(60))})
	}
	ingest(t, s, docs...)
	located := 0
	for range 25 {
		answer := ask(t, s, search.Request{Query: "x" + words(1+random.IntN(4)), Explain: true, Rerank: ptr(false),
			Highlight: &search.Highlight{Fragments: ptr(random.IntN(4)), Length: ptr(20 + random.IntN(100))}})
		if answer.Degraded != nil {
			t.Fatalf("degraded: %v", answer.Degraded)
		}
		for _, h := range answer.Hits {
			if fault := highlightFault(h); fault != "" {
				t.Fatalf("%v in %q, %q: %s", answer.Explain.Terms, h.Title, h.Text, fault)
			}
			if h.Explain.Lexical == nil {
				continue
			}
			var of []string
			for _, m := range slices.Concat(h.Highlights.Title, h.Highlights.Text) {
				of = append(of, m.Terms...)
			}
			for _, share := range h.Explain.Lexical.Terms {
				if located++; !slices.Contains(of, share.Term) {
					t.Fatalf("%q counts in %q, %q, and is not marked", share.Term, h.Title, h.Text)
				}
			}
		}
	}
	if located < 100 {
		t.Errorf("%d terms: the test asks too little", located)
	}
}

func highlightFault(h search.Hit) string {
	fields := map[string]string{"title": h.Title, "text": h.Text}
	check := func(field string, s search.Span) string {
		text := fields[field]
		if s.Start < 0 || s.End > len(text) || s.Start >= s.End || !utf8.ValidString(text[:s.Start]) || !utf8.ValidString(text[s.Start:s.End]) {
			return fmt.Sprintf("%s at %+v", field, s)
		}
		return ""
	}
	for field, matches := range map[string][]search.Match{"title": h.Highlights.Title, "text": h.Highlights.Text} {
		end := 0
		for _, m := range matches {
			if fault := check(field, m.Span); fault != "" || m.Start < end || len(m.Terms) == 0 {
				return fault + fmt.Sprintf(" match %+v behind %d", m, end)
			}
			end = m.End
		}
	}
	for _, m := range h.Highlights.Tokens {
		for field, spans := range map[string][]search.Span{"title": m.Title, "text": m.Text} {
			for _, span := range spans {
				fault := check(field, span)
				if held := fields[field][span.Start:span.End]; fault == "" && isASCII(held) && !strings.EqualFold(held, strings.TrimPrefix(m.Token, "##")) {
					fault = fmt.Sprintf("token %q at %q", m.Token, held)
				}
				if fault != "" {
					return fault
				}
			}
		}
	}
	for _, f := range h.Highlights.Fragments {
		if fault := check(f.Field, f.Span); fault != "" {
			return fault
		}
		var whole strings.Builder
		for _, p := range f.Parts {
			whole.WriteString(p.Text)
		}
		if whole.String() != fields[f.Field][f.Start:f.End] {
			return fmt.Sprintf("fragment %+v", f)
		}
	}
	return ""
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

func TestHighlightIsBounded(t *testing.T) {
	s := service(t, search.Models{})
	ingest(t, s, braid.Document{ID: "long", Text: strings.Repeat("the pump is dry ", 40_000)})
	h := ask(t, s, search.Request{Query: "dry pump", Highlight: &search.Highlight{Fragments: ptr(20), Length: ptr(40)}}).Hits[0].Highlights
	if len(h.Text) != search.MaxMatches || !h.Partial || len(h.Fragments) != 20 || h.Fragments[0].Parts[0].Text != "pump" && len(h.Fragments[0].Parts) < 4 {
		t.Errorf("%d matches, partial %v, %d fragments", len(h.Text), h.Partial, len(h.Fragments))
	}
	ingest(t, s, braid.Document{ID: "none", Text: "  Nothing of it.  "})
	plain := ask(t, s, search.Request{Query: "nothing", Highlight: &search.Highlight{Fragments: ptr(0)}})
	if h := plain.Hits[0].Highlights; h.Fragments != nil || len(h.Text) != 1 || h.Partial {
		t.Errorf("%+v", h)
	}
}

func TestHighlightRequests(t *testing.T) {
	s := service(t, search.Models{})
	ingest(t, s, pumps...)
	for text, field := range map[string]string{
		`true`: "", `{}`: "", `{"fragments":0,"length":20}`: "", `{"fragments":null}`: "",
		`false`: "off", `null`: "off",
		`{"fragments":-1}`: "highlight.fragments", `{"fragments":21}`: "highlight.fragments", `{"length":19}`: "highlight.length", `{"length":2001}`: "highlight.length",
		`{"tags":"<b>"}`: "highlight", `"yes"`: "highlight", `1`: "highlight", `{"fragments":"2"}`: "highlight",
	} {
		req := search.Request{}
		err := json.Unmarshal([]byte(`{"query":"pump seal","highlight":`+text+`}`), &req)
		var answer *search.Response
		if err == nil {
			answer, err = s.Search(t.Context(), "t", req)
		}
		if field != "" && field != "off" {
			if e := (*braid.Error)(nil); !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != field {
				t.Errorf("%s: error %v, want one about %s", text, err, field)
			}
			continue
		}
		if err != nil || (answer.Hits[0].Highlights == nil) != (field == "off") {
			t.Errorf("%s: error %v", text, err)
		}
	}
	if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", Highlight: &search.Highlight{}, Limit: ptr(search.MaxExplained + 1)}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("too many hits: %v", err)
	}
}
