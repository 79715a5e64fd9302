package search_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// split makes a collection "t" of passages of so many tokens.
func splitService(t *testing.T, models search.Models, tokens, overlap int) *search.Service {
	t.Helper()
	s := search.New(engine(t, t.TempDir()), models, nil)
	if _, _, err := s.CreateWith(t.Context(), "t", search.Settings{Passages: &search.PassageSettings{Tokens: &tokens, Overlap: &overlap}}); err != nil {
		t.Fatal(err)
	}
	return s
}

// manual is a Markdown document with a section for each subject.
func manual(subjects ...string) braid.Document {
	var text strings.Builder
	text.WriteString("# Manual\n\n")
	for _, s := range subjects {
		fmt.Fprintf(&text, "## The %s\n\nThe %s is cleaned on Mondays. It is kept in the cellar with the other tools of the house.\n\n", s, s)
	}
	return braid.Document{ID: "manual", Text: text.String(), Format: braid.FormatMarkdown}
}

// A hit is a document, and shows the best of its passages.
func TestHitShowsPassage(t *testing.T) {
	s := splitService(t, heads, 64, 0)
	doc := manual("mop", "ladder", "telescope", "kettle")
	result := ingest(t, s, doc, braid.Document{ID: "short", Text: "A kettle is not a pot."})
	if result.Encoded != 5 || result.Reused != 0 || result.Truncated != 0 {
		t.Errorf("ingested %+v", result)
	}
	for _, mode := range search.Modes() {
		answer := ask(t, s, search.Request{Query: "telescope", Mode: mode})
		h := answer.Hits[0]
		if h.ID != "manual" || h.Passage == nil {
			t.Fatalf("%s: first hit is %+v", mode, h)
		}
		want := search.Passage{Number: 2, Of: 4, Start: strings.Index(doc.Text, "The telescope is"), Section: "Manual > The telescope"}
		want.End = want.Start + len(h.Text)
		if *h.Passage != want || h.Text != doc.Text[want.Start:want.End] || !strings.HasPrefix(h.Text, "The telescope is cleaned") || !strings.HasSuffix(h.Text, "house.") {
			t.Errorf("%s: passage %+v, text %q, want %+v", mode, *h.Passage, h.Text, want)
		}
		seen := map[string]bool{}
		for i, h := range answer.Hits {
			if seen[h.ID] || h.Rank != i+1 {
				t.Errorf("%s: hit %d is %s, rank %d", mode, i, h.ID, h.Rank)
			}
			seen[h.ID] = true
		}
	}
	h := ask(t, s, search.Request{Query: "pot"}).Hits[0]
	if h.ID != "short" || h.Passage != nil || h.Text != "A kettle is not a pot." {
		t.Errorf("a document of one passage is shown as %+v", h)
	}
	if d, err := s.Document(t.Context(), "t", "manual"); err != nil || d.Text != doc.Text || d.Format != braid.FormatMarkdown {
		t.Errorf("the document is %+v, %v", d, err)
	}
}

func TestGroupByPassage(t *testing.T) {
	s := splitService(t, heads, 64, 0)
	ingest(t, s, manual("mop", "ladder", "telescope", "kettle"))
	for _, mode := range search.Modes() {
		answer := ask(t, s, search.Request{Query: "cleaned on Mondays", Mode: mode, GroupBy: search.GroupPassage, Limit: ptr(3), Explain: true})
		var numbers []int
		for _, h := range answer.Hits {
			numbers = append(numbers, h.Passage.Number)
			if !strings.Contains(h.Text, []string{"mop", "ladder", "telescope", "kettle"}[h.Passage.Number]) {
				t.Errorf("%s: passage %d is %q", mode, h.Passage.Number, h.Text)
			}
			if e := h.Explain.Lexical; e != nil && (e.Changed || len(e.Terms) == 0) {
				t.Errorf("%s: passage %d is explained by %+v", mode, h.Passage.Number, e)
			}
		}
		slices.Sort(numbers)
		if len(slices.Compact(numbers)) != 3 {
			t.Errorf("%s: passages %v", mode, numbers)
		}
	}
	_, err := s.Search(t.Context(), "t", search.Request{Query: "x", GroupBy: "word"})
	var e *braid.Error
	if !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != "group_by" {
		t.Errorf("an unknown group: %v", err)
	}
}

// A long document does not take the places of others.
func TestLimitCountsDocuments(t *testing.T) {
	s := splitService(t, search.Models{}, 16, 0)
	docs := []braid.Document{{ID: "long", Text: strings.Repeat("Needles and more needles are in every haystack of the long field today.\n\n", 30)}}
	for i := range 9 {
		docs = append(docs, braid.Document{ID: fmt.Sprint(i), Text: "One needle in much hay, which is stacked high."})
	}
	ingest(t, s, docs...)
	for _, limit := range []int{5, 10} {
		answer := ask(t, s, search.Request{Query: "needles", Limit: &limit})
		ids := map[string]bool{}
		for _, h := range answer.Hits {
			ids[h.ID] = true
		}
		if len(answer.Hits) != limit || len(ids) != limit {
			t.Errorf("limit %d: %d hits of %d documents", limit, len(answer.Hits), len(ids))
		}
	}
	if got := ask(t, s, search.Request{Query: "needles", GroupBy: search.GroupPassage, Limit: ptr(20)}).Hits; len(got) != 20 {
		t.Errorf("%d passages", len(got))
	}
}

// reading counts the passages a model reads.
type reading struct {
	search.DenseEncoder
	texts []string
}

func (r *reading) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	if req.Role == inference.RolePassage {
		r.texts = append(r.texts, req.Texts...)
	}
	return r.DenseEncoder.Embed(ctx, req)
}

// What reads as before is not encoded again, wherever it stands now.
func TestReuse(t *testing.T) {
	dense := &reading{DenseEncoder: heads.Dense}
	models := heads
	models.Dense = dense
	s := splitService(t, models, 64, 0)
	ingest(t, s, manual("mop", "ladder", "telescope"))

	for _, step := range []struct {
		name            string
		doc             braid.Document
		encoded, reused int
	}{
		{"nothing changed", manual("mop", "ladder", "telescope"), 0, 0},
		{"a section more in front", manual("kettle", "mop", "ladder", "telescope"), 1, 3},
		{"a section changed", manual("kettle", "mop", "spoon", "telescope"), 1, 3},
		{"a section less", manual("kettle", "spoon"), 0, 2},
	} {
		dense.texts = nil
		result := ingest(t, s, step.doc)
		if result.Encoded != step.encoded || result.Reused != step.reused || len(dense.texts) != step.encoded {
			t.Errorf("%s: %+v, the model read %q", step.name, result, dense.texts)
		}
	}
	payload := manual("kettle", "spoon")
	payload.Payload = []byte(`{"a":1}`)
	if result := ingest(t, s, payload); result.Encoded != 0 || result.Reused != 2 {
		t.Errorf("another payload: %+v", result)
	}

	// The vectors taken over are those of an index made at once.
	fresh := splitService(t, heads, 64, 0)
	ingest(t, fresh, payload)
	for _, mode := range search.Modes() {
		req := search.Request{Query: "where is the spoon?", Mode: mode, GroupBy: search.GroupPassage}
		got, want := ask(t, s, req).Hits, ask(t, fresh, req).Hits
		if len(got) != len(want) {
			t.Fatalf("%s: %d hits, want %d", mode, len(got), len(want))
		}
		for i := range got {
			if got[i].Score != want[i].Score || *got[i].Passage != *want[i].Passage || got[i].Text != want[i].Text {
				t.Errorf("%s: hit %d is %+v, want %+v", mode, i, got[i], want[i])
			}
		}
	}
}

func TestHTMLPassage(t *testing.T) {
	s := splitService(t, search.Models{}, 16, 0)
	text := "<title>Shop</title><h1>Fees</h1><p>The fee is 5&nbsp;&euro; per <b>parcel</b>.</p><h2>Abroad</h2><p>Ask the <i>clerk</i> &amp; wait.</p>"
	ingest(t, s, braid.Document{ID: "page", Title: "Shop", Text: text, Format: braid.FormatHTML})
	h := ask(t, s, search.Request{Query: "clerk"}).Hits[0]
	if h.Text != "Ask the clerk & wait." || h.Passage.Section != "Shop > Fees > Abroad" || text[h.Passage.Start:h.Passage.End] != "Ask the <i>clerk</i> &amp; wait." {
		t.Errorf("hit %+v of %+v", h, h.Passage)
	}
	if hits := ask(t, s, search.Request{Query: "euro"}).Hits; len(hits) != 0 {
		t.Errorf("markup was indexed: %+v", hits)
	}
	_, err := s.Ingest(t.Context(), "t", []braid.Document{{ID: "empty", Text: "<script>x</script>", Format: braid.FormatHTML}})
	var e *braid.Error
	if !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != "documents[0].text" {
		t.Errorf("a page of nothing: %v", err)
	}
}

func TestPassageSettings(t *testing.T) {
	all := func(tokens, overlap *int) search.Settings {
		return search.Settings{Passages: &search.PassageSettings{Tokens: tokens, Overlap: overlap}}
	}
	s := search.New(engine(t, t.TempDir()), heads, nil)
	room, err := heads.Dense.PassageRoom(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		settings search.Settings
		want     index.PassageSize
		field    string
	}{
		"default":      {search.Settings{}, index.PassageSize{Tokens: min(room, search.DefaultPassageTokens), Overlap: 32}, ""},
		"short":        {all(ptr(20), nil), index.PassageSize{Tokens: 20, Overlap: 10}, ""},
		"overlap":      {all(nil, ptr(0)), index.PassageSize{Tokens: min(room, search.DefaultPassageTokens)}, ""},
		"none":         {all(ptr(0), nil), index.PassageSize{}, ""},
		"too short":    {all(ptr(15), nil), index.PassageSize{}, "passages.tokens"},
		"too long":     {all(ptr(room+1), nil), index.PassageSize{}, "passages.tokens"},
		"negative":     {all(ptr(-1), nil), index.PassageSize{}, "passages.tokens"},
		"much overlap": {all(ptr(20), ptr(11)), index.PassageSize{}, "passages.overlap"},
		"of nothing":   {all(ptr(0), ptr(1)), index.PassageSize{}, "passages.overlap"},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		info, created, err := s.CreateWith(t.Context(), id, tt.settings)
		if tt.field != "" {
			var e *braid.Error
			if !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != tt.field {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || !created || info.Schema.Passages != tt.want {
			t.Errorf("%s: %+v, %v", name, info.Schema.Passages, err)
		}
		if _, created, err := s.CreateWith(t.Context(), id, tt.settings); err != nil || created {
			t.Errorf("%s again: %v", name, err)
		}
		if _, _, err := s.Create(t.Context(), id); err != nil {
			t.Errorf("%s again, without settings: %v", name, err)
		}
		if _, _, err := s.CreateWith(t.Context(), id, all(ptr(77), nil)); braid.CodeOf(err) != braid.Conflict {
			t.Errorf("%s with other settings: %v", name, err)
		}
	}
}
