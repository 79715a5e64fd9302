package contract

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

func testWriteAndGet(t *testing.T, h *harness) {
	c := h.create("t")
	bare := index.Whole(braid.Document{ID: "bare", Title: "only a title"}, [32]byte{})
	bare.Passages[0].Dense = encodeDense("x")
	odd := entry("ä/1 ☃", "délta\tx")
	odd.Document.Title = "a title"
	odd.Document.Payload = []byte("{\"b\":1.50,\n \"a\":\"<&>\"}")
	odd.Passages[0].Tokens = []uint32{}
	long := entry(strings.Repeat("k", braid.MaxIDBytes), strings.Repeat("lima ", braid.MaxTextBytes/5))
	long.Passages[0].Tokens = make([]uint32, 512)
	parts := split("parts", "alfa", "bravo echo", "délta", "alfa")
	parts.Document.Title = "a title"
	parts.Passages[2].Text = "not in the text of the document"
	parts.Passages[3].Start = 0
	html := entry("html", "<p>golf</p>")
	html.Document.Format = braid.FormatHTML
	if got, want := write(t, c, index.Batch{Upserts: []index.Entry{bare, odd, long, parts, html}}), (index.WriteResult{Created: 5}); got != want {
		t.Errorf("result %+v, want %+v", got, want)
	}
	want := model{bare.Document.ID: bare, odd.Document.ID: odd, long.Document.ID: long, "parts": parts, "html": html}
	want.check(t, c)

	replaced := split("bare", "now with a text", "and another")
	got := write(t, c, index.Batch{Upserts: []index.Entry{replaced, entry("new", "echo")}, Deletes: []string{odd.Document.ID, "never was"}})
	if want := (index.WriteResult{Created: 1, Replaced: 1, Deleted: 1}); got != want {
		t.Errorf("result %+v, want %+v", got, want)
	}
	if got := write(t, c, index.Batch{Deletes: []string{"never was"}}); got != (index.WriteResult{}) {
		t.Errorf("deleting nothing: %+v", got)
	}
	if got := write(t, c, index.Batch{}); got != (index.WriteResult{}) {
		t.Errorf("empty batch: %+v", got)
	}
	delete(want, odd.Document.ID)
	want["bare"], want["new"] = replaced, entry("new", "echo")
	want.check(t, c)
	want.check(t, h.reopen("t"))
}

func testFingerprints(t *testing.T, h *harness) {
	c := h.create("t")
	write(t, c, index.Batch{Upserts: []index.Entry{entry("1", "alfa"), entry("2", "bravo")}})
	write(t, c, index.Batch{Upserts: []index.Entry{entry("2", "echo")}, Deletes: []string{"1"}})
	got, err := c.Fingerprints(context.Background(), []string{"2", "1", "3", "2"})
	two := index.Fingerprint{Sum: entry("2", "echo").Fingerprint, OK: true}
	if want := []index.Fingerprint{two, {}, {}, two}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, want %v, error %v", got, want, err)
	}
}

// testBadBatches asserts that one bad entry keeps the whole batch out, and that
// the error names it.
func testBadBatches(t *testing.T, h *harness) {
	c := h.create("t")
	kept := model{"old": entry("old", "alfa bravo")}
	write(t, c, index.Batch{Upserts: []index.Entry{kept["old"]}})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, test := range []struct {
		what  string
		code  braid.Code
		spoil func(*index.Entry)
	}{
		{"empty id", braid.InvalidArgument, func(e *index.Entry) { e.Document.ID = "" }},
		{"control character in id", braid.InvalidArgument, func(e *index.Entry) { e.Document.ID = "a\nb" }},
		{"no text", braid.InvalidArgument, func(e *index.Entry) { e.Document.Text = " " }},
		{"text too long", braid.TooLarge, func(e *index.Entry) { e.Document.Text = strings.Repeat("x", braid.MaxTextBytes+1) }},
		{"broken utf-8", braid.InvalidArgument, func(e *index.Entry) { e.Document.Text = "a\xff" }},
		{"payload no object", braid.InvalidArgument, func(e *index.Entry) { e.Document.Payload = []byte("[1]") }},
		{"no vector", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Dense = nil }},
		{"short vector", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Dense = e.Passages[1].Dense[1:] }},
		{"NaN", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Dense[3] = nan }},
		{"infinity", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Dense[3] = inf }},
		{"zero vector", braid.InvalidArgument, func(e *index.Entry) { clear(e.Passages[1].Dense) }},
		{"not of length 1", braid.InvalidArgument, func(e *index.Entry) {
			for i := range e.Passages[1].Dense {
				e.Passages[1].Dense[i] *= 1.01
			}
		}},
		{"sparse lengths differ", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Sparse.Values = e.Passages[1].Sparse.Values[1:] }},
		{"sparse index twice", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Sparse.Indices[1] = e.Passages[1].Sparse.Indices[0] }},
		{"sparse NaN", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Sparse.Values[0] = nan }},
		{"sparse infinity", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Sparse.Values[0] = inf }},
		{"sparse zero", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Sparse.Values[0] = 0 }},
		{"no passage", braid.InvalidArgument, func(e *index.Entry) { e.Passages = nil }},
		{"too many passages", braid.TooLarge, func(e *index.Entry) {
			e.Passages = slices.Repeat(e.Passages, index.MaxPassages/2+1)
		}},
		{"passage without text", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Text = "" }},
		{"blank passage", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Text = " \n" }},
		{"passage too long", braid.TooLarge, func(e *index.Entry) { e.Passages[1].Text = strings.Repeat("x", index.MaxPassageBytes+1) }},
		{"passage of broken utf-8", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Text = "a\xff" }},
		{"section too long", braid.TooLarge, func(e *index.Entry) { e.Passages[1].Section = strings.Repeat("x", braid.MaxTitleBytes+1) }},
		{"passage behind the text", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].End = len(e.Document.Text) + 1 }},
		{"passage before the text", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].Start = -1 }},
		{"passage that ends before it begins", braid.InvalidArgument, func(e *index.Entry) { e.Passages[1].End = e.Passages[1].Start - 1 }},
		{"place of a document that is not split", braid.InvalidArgument, func(e *index.Entry) {
			e.Passages = e.Passages[:1]
			e.Passages[0].Text = ""
		}},
		{"format that is not known", braid.InvalidArgument, func(e *index.Entry) { e.Document.Format = "pdf" }},
		{"id twice", braid.InvalidArgument, func(e *index.Entry) { e.Document.ID = "good" }},
		{"id that is deleted too", braid.InvalidArgument, func(e *index.Entry) { e.Document.ID = "old" }},
	} {
		bad := split("culprit", "golf", "delta echo")
		test.spoil(&bad)
		_, err := c.Write(context.Background(), index.Batch{
			Upserts: []index.Entry{entry("good", "lima"), bad},
			Deletes: []string{"old"},
		})
		wantCode(t, test.what, err, test.code)
		if id := bad.Document.ID; err != nil && test.what != "empty id" && test.what != "control character in id" && !strings.Contains(err.Error(), id) {
			t.Errorf("%s: error %q does not name document %q", test.what, err, id)
		}
	}
	_, err := c.Write(context.Background(), index.Batch{Deletes: []string{"old", "old"}})
	wantCode(t, "delete twice", err, braid.InvalidArgument)
	kept.check(t, c, "alfa bravo", "lima delta echo")
	kept.check(t, h.reopen("t"), "alfa bravo", "lima delta echo")
}

func testBadQueries(t *testing.T, h *harness) {
	ctx, one := context.Background(), index.Query{K: 1}
	c := h.create("t")
	write(t, c, index.Batch{Upserts: []index.Entry{entry("1", "alfa")}})
	vector := func(spoil func([]float32) []float32) []float32 { return spoil(encodeDense("alfa")) }
	for what, v := range map[string][]float32{
		"none":            nil,
		"short":           vector(func(v []float32) []float32 { return v[1:] }),
		"long":            vector(func(v []float32) []float32 { return append(v, 0) }),
		"NaN":             vector(func(v []float32) []float32 { v[0] = float32(math.NaN()); return v }),
		"infinity":        vector(func(v []float32) []float32 { v[0] = float32(math.Inf(-1)); return v }),
		"zeros":           make([]float32, dimensions),
		"not of length 1": vector(func(v []float32) []float32 { v[0] += 1e30; return v }),
	} {
		_, err := c.SearchDense(ctx, v, one)
		wantCode(t, "dense query: "+what, err, braid.InvalidArgument)
	}
	for what, v := range map[string]braid.SparseVector{
		"lengths differ": {Indices: []uint32{1}},
		"descending":     {Indices: []uint32{2, 1}, Values: []float32{1, 1}},
		"index twice":    {Indices: []uint32{1, 1}, Values: []float32{1, 1}},
		"negative":       {Indices: []uint32{1}, Values: []float32{-1}},
		"NaN":            {Indices: []uint32{1}, Values: []float32{float32(math.NaN())}},
	} {
		_, err := c.SearchSparse(ctx, v, one)
		wantCode(t, "sparse query: "+what, err, braid.InvalidArgument)
	}
	for _, k := range []int{0, -1, math.MinInt} {
		q := index.Query{K: k}
		_, err := c.SearchDense(ctx, encodeDense("alfa"), q)
		wantCode(t, "dense k", err, braid.InvalidArgument)
		_, err = c.SearchSparse(ctx, encodeSparse("alfa"), q)
		wantCode(t, "sparse k", err, braid.InvalidArgument)
		_, err = c.SearchLexical(ctx, "alfa", q)
		wantCode(t, "lexical k", err, braid.InvalidArgument)
	}
	model{"1": entry("1", "alfa")}.checkRankings(t, c, "alfa", query{k: math.MaxInt})
	for _, text := range []string{"", " ", "\xff\xfe", "?!", strings.Repeat("q", 1<<20), "\x00"} {
		if hits, err := c.SearchLexical(ctx, text, one); err != nil || len(hits) != 0 {
			t.Errorf("lexical %.20q: hits %v, error %v", text, hits, err)
		}
	}
}

// testMissingBranches uses collections made without one model.
func testMissingBranches(t *testing.T, h *harness) {
	ctx, one := context.Background(), index.Query{K: 1}
	schema := fullSchema()
	schema.Dense, schema.Dimensions = index.ModelRef{}, 0
	noDense, err := h.engine.Create(ctx, "no-dense", schema)
	if err != nil {
		t.Fatal(err)
	}
	schema = fullSchema()
	schema.Sparse, schema.Pair = index.ModelRef{}, index.ModelRef{}
	noSparse, err := h.engine.Create(ctx, "no-sparse", schema)
	if err != nil {
		t.Fatal(err)
	}
	full := entry("1", "alfa")
	_, err = noDense.Write(ctx, index.Batch{Upserts: []index.Entry{full}})
	wantCode(t, "dense vector without a dense model", err, braid.InvalidArgument)
	_, err = noSparse.Write(ctx, index.Batch{Upserts: []index.Entry{full}})
	wantCode(t, "sparse vector without a sparse model", err, braid.InvalidArgument)
	without := func(spoil func(*index.Passage)) index.Entry {
		e := full
		e.Passages = slices.Clone(full.Passages)
		spoil(&e.Passages[0])
		return e
	}
	_, err = noSparse.Write(ctx, index.Batch{Upserts: []index.Entry{without(func(p *index.Passage) { p.Sparse = braid.SparseVector{} })}})
	wantCode(t, "tokens without a cross-encoder", err, braid.InvalidArgument)

	write(t, noDense, index.Batch{Upserts: []index.Entry{without(func(p *index.Passage) { p.Dense = nil })}})
	write(t, noSparse, index.Batch{Upserts: []index.Entry{without(func(p *index.Passage) { p.Sparse, p.Tokens = braid.SparseVector{}, nil })}})
	_, err = noDense.SearchDense(ctx, encodeDense("alfa"), one)
	wantCode(t, "dense search", err, braid.InvalidArgument)
	_, err = noSparse.SearchSparse(ctx, encodeSparse("alfa"), one)
	wantCode(t, "sparse search", err, braid.InvalidArgument)
	if hits, err := noDense.SearchSparse(ctx, encodeSparse("alfa"), one); err != nil || len(hits) != 1 {
		t.Errorf("sparse without dense: hits %v, error %v", hits, err)
	}
	if hits, err := noSparse.SearchDense(ctx, encodeDense("alfa"), one); err != nil || len(hits) != 1 {
		t.Errorf("dense without sparse: hits %v, error %v", hits, err)
	}
	for _, name := range []string{"no-dense", "no-sparse"} {
		c := h.reopen(name)
		if hits, err := c.SearchLexical(ctx, "alfa", one); err != nil || len(hits) != 1 {
			t.Errorf("%s: lexical hits %v, error %v", name, hits, err)
		}
	}
}
