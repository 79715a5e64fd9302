package search_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// prefixed is a dense model as another one: it puts words before what it reads.
type prefixed struct {
	search.DenseEncoder
	prefix string
	read   *atomic.Int64 // passages
}

func (p prefixed) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	req.Texts = slices.Clone(req.Texts)
	for i := range req.Texts {
		req.Texts[i] = p.prefix + req.Texts[i]
	}
	if req.Role == inference.RolePassage {
		p.read.Add(int64(len(req.Texts)))
	}
	return p.DenseEncoder.Embed(ctx, req)
}

// countedSparse counts what a sparse model reads.
type countedSparse struct {
	search.SparseEncoder
	read *atomic.Int64
}

func (c countedSparse) Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	if req.Role == inference.RolePassage {
		c.read.Add(int64(len(req.Texts)))
	}
	return c.SparseEncoder.Expand(ctx, req)
}

var weekly = braid.Document{ID: "long", Title: "Manual", Text: strings.Repeat("The pump is cleaned once a week with warm water and a soft brush. ", 120)}

// TestReindex moves a collection to another dense model, then to shorter passages,
// and back, and compares it each time with one that was made so.
func TestReindex(t *testing.T) {
	ctx := t.Context()
	var first, second, sparse atomic.Int64
	old, fresh := heads, heads
	old.Dense = prefixed{heads.Dense, "", &first}
	old.Sparse = countedSparse{heads.Sparse, &sparse}
	fresh.Dense, fresh.DenseRef = prefixed{heads.Dense, "other words ", &second}, index.ModelRef{Name: "other", Digest: "other"}
	fresh.Sparse = old.Sparse
	fresh.Further = search.Further{Dense: []search.FurtherDense{{Model: old.Dense, Ref: old.DenseRef, Dimensions: old.Dimensions}}}

	e := engine(t, t.TempDir())
	before, after := search.New(e, old, nil), search.New(e, fresh, nil)
	if _, _, err := before.Create(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	docs := append(slices.Clone(pumps), weekly)
	ingest(t, before, docs...)

	// A server of the new model answers and writes with the old one, where it is
	// loaded; where it is not, it says what to do.
	if answer := ask(t, after, search.Request{Query: "water drips"}); len(answer.Degraded) > 0 || !slices.Equal(ids(answer.Hits), ids(ask(t, before, search.Request{Query: "water drips"}).Hits)) {
		t.Errorf("with both models the answer is %+v", answer)
	}
	ingest(t, after, braid.Document{ID: "new", Text: "A new one is in the store."})
	if second.Load() != 0 {
		t.Errorf("the new model read %d passages for the old collection", second.Load())
	}
	alone := fresh
	alone.Further = search.Further{}
	if answer := ask(t, search.New(e, alone, nil), search.Request{Query: "water drips"}); len(answer.Degraded) != 1 || !strings.Contains(answer.Degraded[0].Message, "braid reindex") {
		t.Errorf("without the old model the answer is degraded by %+v", answer.Degraded)
	}
	if info, created, err := after.Create(ctx, "t"); err != nil || created || info.Schema.Dense != old.DenseRef {
		t.Errorf("making it again with both models: %+v, %v, error %v", info, created, err)
	}
	_, _, err := search.New(e, alone, nil).Create(ctx, "t")
	if braid.CodeOf(err) != braid.Conflict || !strings.Contains(err.Error(), "braid reindex") {
		t.Errorf("making it again without the old model: %v", err)
	}

	docs = append(docs, braid.Document{ID: "new", Text: "A new one is in the store."})
	sparse.Store(0)
	got, err := after.Reindex(ctx, "t", search.Settings{}, nil)
	if err != nil || got.Documents != len(docs) || got.Remade != len(docs) || got.Kept != 0 || got.Unchanged {
		t.Fatalf("reindexed %+v, error %v", got, err)
	}
	if int(second.Load()) != got.Passages || sparse.Load() != 0 {
		t.Errorf("the new dense model read %d of %d passages, the sparse one that stays %d", second.Load(), got.Passages, sparse.Load())
	}
	sameAsNew(t, after, search.Settings{}, docs)
	if got := ingest(t, after, docs...); got.Unchanged != len(docs) {
		t.Errorf("what was reindexed is stored again: %+v", got)
	}
	if got, err := after.Reindex(ctx, "t", search.Settings{}, nil); err != nil || !got.Unchanged {
		t.Errorf("reindexed once more: %+v, error %v", got, err)
	}

	// Other passages: those that read the same are not read again.
	second.Store(0)
	sparse.Store(0)
	settings := search.Settings{Passages: &search.PassageSettings{Tokens: ptr(64)}}
	split, err := after.Reindex(ctx, "t", settings, nil)
	if err != nil || split.Passages <= got.Passages {
		t.Fatalf("split into %+v from %+v, error %v", split, got, err)
	}
	if short := len(docs) - 1; int(second.Load()) != split.Passages-short || sparse.Load() != second.Load() {
		t.Errorf("the models read %d and %d of %d passages, want all but %d", second.Load(), sparse.Load(), split.Passages, short)
	}
	sameAsNew(t, after, settings, docs)
	_, err = after.Reindex(ctx, "t", search.Settings{Passages: &search.PassageSettings{Tokens: ptr(1)}}, nil)
	if braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("passages of one token: %v", err)
	}
}

// sameAsNew compares the collection with one that the documents are ingested into.
func sameAsNew(t *testing.T, s *search.Service, settings search.Settings, docs []braid.Document) {
	t.Helper()
	ctx := t.Context()
	if _, _, err := s.CreateWith(ctx, "fresh", settings); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ingest(ctx, "fresh", docs); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []search.Mode{search.ModeDense, search.ModeSparse, search.ModeLexical, search.ModeHybrid} {
		for _, query := range []string{"water drips", "clean the pump with a brush", "ERR-104", "store"} {
			got, err := s.Search(ctx, "t", search.Request{Query: query, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			want, err := s.Search(ctx, "fresh", search.Request{Query: query, Mode: mode})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Degraded) > 0 || !slices.EqualFunc(got.Hits, want.Hits, func(a, b search.Hit) bool { return a.ID == b.ID && a.Score == b.Score && a.Text == b.Text }) {
				t.Errorf("%s %q: got %+v, want %+v", mode, query, got.Hits, want.Hits)
			}
		}
	}
	if err := s.Drop(ctx, "fresh"); err != nil {
		t.Fatal(err)
	}
}

// TestIngestWhileReindexed stores documents in one call during which the collection
// changes over.
func TestIngestWhileReindexed(t *testing.T) {
	ctx := t.Context()
	var read atomic.Int64
	fresh := heads
	fresh.Dense, fresh.DenseRef = prefixed{heads.Dense, "other words ", &read}, index.ModelRef{Name: "other", Digest: "other"}
	fresh.Further = search.Further{Dense: []search.FurtherDense{{Model: heads.Dense, Ref: heads.DenseRef, Dimensions: heads.Dimensions}}}
	e := engine(t, t.TempDir())
	before, after := search.New(e, heads, nil), search.New(e, fresh, nil)
	if _, _, err := before.Create(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	ingest(t, before, pumps...)
	// When the first step is encoded the collection is still the old one.
	swapping := after
	entered := fresh
	var once atomic.Bool
	entered.Further = search.Further{Dense: []search.FurtherDense{{Model: hooked{heads.Dense, func() {
		if once.CompareAndSwap(false, true) {
			if _, err := swapping.Reindex(ctx, "t", search.Settings{}, nil); err != nil {
				t.Error(err)
			}
		}
	}}, Ref: heads.DenseRef, Dimensions: heads.Dimensions}}}
	var docs []braid.Document
	for i := range 2*search.IngestBatch + 1 {
		docs = append(docs, braid.Document{ID: string(rune('a'+i%26)) + string(rune('a'+i/26)), Text: "Valve number " + string(rune('a'+i%26)) + "."})
	}
	got, err := search.New(e, entered, nil).Ingest(ctx, "t", docs)
	if err != nil || got.Created != len(docs) || got.Replaced != 0 || got.Unchanged != 0 {
		t.Errorf("ingested %+v, error %v", got, err)
	}
	info, err := after.Info(ctx, "t")
	if err != nil || info.Documents != len(docs)+len(pumps) || info.Schema.Dense != fresh.DenseRef {
		t.Errorf("there are %+v, error %v", info, err)
	}
	answer := ask(t, after, search.Request{Query: "Valve number c.", Mode: search.ModeDense})
	if len(answer.Degraded) > 0 || answer.Hits[0].Score < 0.5 {
		t.Errorf("found %+v", answer)
	}
}

// hooked calls a function before it embeds.
type hooked struct {
	search.DenseEncoder
	before func()
}

func (h hooked) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	h.before()
	return h.DenseEncoder.Embed(ctx, req)
}
