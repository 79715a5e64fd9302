package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

func testEmptyCollection(t *testing.T, h *harness) {
	c := h.create("t")
	model{}.check(t, c, "alfa bravo")
	model{}.check(t, h.reopen("t"), "alfa bravo")
}

// testRanking compares every branch with brute force on random texts, for K
// from 1 to more than there are, in all documents and in sets of them.
func testRanking(t *testing.T, h *harness) {
	random := rand.New(rand.NewPCG(11, 12))
	c, m := h.create("t"), model{}
	var batch index.Batch
	for i := range 400 {
		e := randomEntry(random, fmt.Sprintf("doc-%03d", random.IntN(1_000_000)*1000+i))
		m[e.Document.ID] = e
		batch.Upserts = append(batch.Upserts, e)
	}
	write(t, c, batch)
	third := []string{"no such document"}
	for id := range m {
		if random.IntN(3) == 0 {
			third = append(third, id)
		}
	}
	for _, k := range []int{1, 2, 7, 100, 399, 400, 401, 1 << 40} {
		for range 10 {
			text := randomText(random)
			m.checkRankings(t, c, text, query{k: k})
			m.checkRankings(t, c, text, query{k: k, filter: only(third...)})
			m.checkRankings(t, c, text, query{k: k, filter: only()})
			m.checkRankings(t, c, text, query{k: k, filter: &braid.Filter{}})
		}
	}
	m.check(t, c)
}

// testTies stores equal texts in several orders and asserts that they come by
// id, also where K cuts them.
func testTies(t *testing.T, h *harness) {
	const text = "tango victor"
	ids := []string{"B", "a", "aa", "b", "c", "ä"} // ascending in bytes
	for round, order := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 1, 5, 0, 2, 4}} {
		c := h.create(fmt.Sprintf("t%d", round))
		m := model{"other": entry("other", "tango")}
		write(t, c, index.Batch{Upserts: []index.Entry{m["other"]}})
		for _, i := range order {
			m[ids[i]] = entry(ids[i], text)
			write(t, c, index.Batch{Upserts: []index.Entry{m[ids[i]]}})
		}
		// One goes and comes back in another place.
		write(t, c, index.Batch{Deletes: []string{"aa", "other"}})
		write(t, c, index.Batch{Upserts: []index.Entry{m["other"], m["aa"]}})
		for k := 1; k <= len(m); k++ {
			m.checkRankings(t, c, text, query{k: k})
			wantIDs(t, c, text, query{k: k}, ids[:min(k, len(ids))])
		}
		wantIDs(t, c, text, query{k: 2, filter: only("c", "ä", "b")}, []string{"b", "c"})
		c = h.reopen(fmt.Sprintf("t%d", round))
		wantIDs(t, c, text, query{k: 3}, ids[:3])
	}
}

// wantIDs asserts the first hits of every branch for text.
func wantIDs(t *testing.T, c index.Collection, text string, q query, want []string) {
	t.Helper()
	ctx, in := context.Background(), q.in(t, c)
	dense, err := c.SearchDense(ctx, encodeDense(text), in)
	if err != nil {
		t.Fatal(err)
	}
	sparse, err := c.SearchSparse(ctx, encodeSparse(text), in)
	if err != nil {
		t.Fatal(err)
	}
	lexical, err := c.SearchLexical(ctx, text, in)
	if err != nil {
		t.Fatal(err)
	}
	for branch, hits := range map[braid.Branch][]braid.Hit{braid.Dense: dense, braid.Sparse: sparse, braid.Lexical: lexical} {
		var ids []string
		for _, hit := range hits {
			ids = append(ids, hit.ID)
		}
		if len(ids) < len(want) || !slices.Equal(ids[:len(want)], want) {
			t.Fatalf("%s %q, k %d: got %q, want %q first", branch, text, q.k, ids, want)
		}
	}
}

// testAllowedBoundsRetrieval hides the best documents: what is allowed must be
// found though many others rank above it.
func testAllowedBoundsRetrieval(t *testing.T, h *harness) {
	c := h.create("t")
	var batch index.Batch
	for i := range 200 {
		batch.Upserts = append(batch.Upserts, entry(fmt.Sprintf("top-%03d", i), "papa quebec"))
	}
	batch.Upserts = append(batch.Upserts, entry("low", "papa romeo romeo romeo"))
	write(t, c, batch)
	wantIDs(t, c, "papa quebec", query{k: 1, filter: only("low")}, []string{"low"})
}

func testEqualTexts(t *testing.T, h *harness) {
	c, m := h.create("t"), model{}
	for _, id := range []string{"b", "a", "c"} {
		m[id] = entry(id, "replace the pump seal")
		write(t, c, index.Batch{Upserts: []index.Entry{m[id]}})
	}
	wantIDs(t, c, "replace the pump seal", query{k: 3}, []string{"a", "b", "c"})
	m.check(t, c, "replace the pump seal")
}

// testEmptySparseVector stores a document the sparse model says nothing about.
func testEmptySparseVector(t *testing.T, h *harness) {
	c, m := h.create("t"), model{"1": entry("1", "alfa"), "2": entry("2", "alfa")}
	silent := m["2"]
	silent.Passages = slices.Clone(silent.Passages)
	silent.Passages[0].Sparse = braid.SparseVector{}
	m["2"] = silent
	write(t, c, index.Batch{Upserts: []index.Entry{m["1"], m["2"]}})
	m.check(t, c, "alfa")
	if hits, err := c.SearchSparse(context.Background(), braid.SparseVector{}, index.Query{K: 5}); err != nil || len(hits) != 0 {
		t.Errorf("empty query: hits %v, error %v", hits, err)
	}
	c = h.reopen("t")
	m.check(t, c, "alfa")
	write(t, c, index.Batch{Upserts: []index.Entry{entry("2", "alfa echo")}})
	m["2"] = entry("2", "alfa echo")
	m.check(t, c, "alfa", "echo")
}
