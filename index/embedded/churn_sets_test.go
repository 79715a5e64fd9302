package embedded_test

import (
	"context"
	"slices"

	"github.com/braid-search/braid/index"
)

// heldSet is a set of documents that was resolved some writes ago.
type heldSet struct {
	index.Set
	filter churnFilter
	prints map[string]uint64 // of the documents in it then
}

// hold resolves a filter for later.
func (w *churn) hold() {
	w.Helper()
	f := churnFilters[w.random.IntN(len(churnFilters))]
	s, err := w.c.Resolve(context.Background(), w.filter(f))
	if err != nil {
		w.Fatal(err)
	}
	h := heldSet{s, f, map[string]uint64{}}
	for id, d := range w.m {
		if f.passes(d) {
			h.prints[id] = d.print
		}
	}
	w.held = append(w.held, h)
	if len(w.held) > 8 {
		w.held = w.held[1:]
	}
}

// searchHeld asks for what is in a set that was resolved before other writes. Each
// document that is found passes the filter now, and one that was not written since
// is found still.
func (w *churn) searchHeld() {
	w.Helper()
	if len(w.held) == 0 {
		return
	}
	ctx := context.Background()
	h := w.held[w.random.IntN(len(w.held))]
	ids, err := w.c.IDs(ctx, "", churnIDs, h.Set)
	if err != nil {
		w.Fatal(err)
	}
	passes := func(id string) bool { return w.has(id) && h.filter.passes(w.m[id]) }
	for _, id := range ids {
		if !passes(id) {
			w.Fatalf("%s: %q is in a set that was resolved before, and does not pass now", h.filter.json, id)
		}
	}
	for id, print := range h.prints {
		if _, found := slices.BinarySearch(ids, id); !found && w.m[id].print == print {
			w.Fatalf("%s: %q is not in a set that was resolved before, and was not written since", h.filter.json, id)
		}
	}
	q := index.Query{K: churnAll, Allowed: h.Set}
	dense, err := w.c.SearchDense(ctx, w.drawDense(), q)
	if err != nil {
		w.Fatal(err)
	}
	sparse, err := w.c.SearchSparse(ctx, sparseOf(w.drawSparse(40)), q)
	if err != nil {
		w.Fatal(err)
	}
	lexical, err := w.c.SearchLexical(ctx, churnWords[0]+" "+churnWords[1], q)
	if err != nil {
		w.Fatal(err)
	}
	for _, hit := range slices.Concat(dense, sparse, lexical) {
		if !passes(hit.ID) {
			w.Fatalf("%s: %v was found in a set that was resolved before, and does not pass now", h.filter.json, hit)
		}
	}
}
