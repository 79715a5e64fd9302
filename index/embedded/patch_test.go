package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// patchedCollection has n documents of two passages with the payload {"of": "a"}.
func patchedCollection(t testing.TB, n int) (*embedded.Engine, index.Collection, string) {
	t.Helper()
	dir := t.TempDir()
	e := open(t, dir)
	t.Cleanup(func() { _ = e.Close() }) // again, if all goes well
	c, err := e.Create(context.Background(), "t", churnSchema)
	if err != nil {
		t.Fatal(err)
	}
	var b index.Batch
	for i := range n {
		p := index.Passage{Text: "quick fox", Start: 0, End: 9, Dense: make([]float32, churnDimensions), Sparse: braid.SparseVector{Indices: []uint32{7}, Values: []float32{1}}}
		p.Dense[i%churnDimensions] = 1
		d := braid.Document{ID: fmt.Sprintf("d%05d", i), Text: "quick fox", Payload: []byte(`{"of":"a"}`)}
		b.Upserts = append(b.Upserts, index.Entry{Document: d, Passages: []index.Passage{p, p}})
	}
	if _, err := c.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return e, c, dir
}

func passedTo(t testing.TB, c index.Collection, who string) index.Set {
	t.Helper()
	v := braid.KeywordOf(who)
	s, err := c.Resolve(context.Background(), braid.Filter{Must: []braid.Clause{braid.Condition{Field: "of", Match: &v}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// findable counts the documents that each way to look at a set finds in it, which
// must be as many.
func findable(t testing.TB, c index.Collection, s index.Set) int {
	t.Helper()
	ctx := context.Background()
	ids, err := c.IDs(ctx, "", 1000, s)
	if err != nil {
		t.Fatal(err)
	}
	q, all := index.Query{K: 2000, Allowed: s}, make([]float32, churnDimensions)
	for i := range all {
		all[i] = 0.25
	}
	for branch, search := range map[braid.Branch]func() ([]braid.Hit, error){
		braid.Dense:   func() ([]braid.Hit, error) { return c.SearchDense(ctx, all, q) },
		braid.Lexical: func() ([]braid.Hit, error) { return c.SearchLexical(ctx, "fox", q) },
		braid.Sparse: func() ([]braid.Hit, error) {
			return c.SearchSparse(ctx, braid.SparseVector{Indices: []uint32{7}, Values: []float32{1}}, q)
		},
	} {
		hits, err := search()
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) != 2*len(ids) {
			t.Errorf("%s finds %d passages of a set with %d documents", branch, len(hits), len(ids))
		}
	}
	matched, err := c.(index.Matcher).Matching(ctx, index.Words{Phrases: []string{"quick fox"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if matched.Len() != len(ids) {
		t.Errorf("a phrase is in %d documents of a set with %d", matched.Len(), len(ids))
	}
	return len(ids)
}

func patchTo(id, payload string) index.PayloadChange {
	change := index.PayloadChange{ID: id}
	if payload != "" {
		change.Payload = json.RawMessage(payload)
	}
	return change
}

// TestPatchedDocumentLeavesItsSets has sets that were resolved before payloads
// changed: nobody finds a document in them that does not pass any more.
func TestPatchedDocumentLeavesItsSets(t *testing.T) {
	e, c, dir := patchedCollection(t, 20)
	ctx := context.Background()
	before := passedTo(t, c, "a")
	phrase, err := c.(index.Matcher).Matching(ctx, index.Words{Phrases: []string{"quick fox"}}, before)
	if err != nil {
		t.Fatal(err)
	}
	if n := findable(t, c, before); n != 20 {
		t.Fatalf("%d documents pass, want 20", n)
	}
	changes := index.Batch{Payloads: []index.PayloadChange{patchTo("d00003", `{"of":"b"}`), patchTo("d00019", `{"of":["b","c"]}`), patchTo("d00000", ``)}}
	if _, err := c.Write(ctx, changes); err != nil {
		t.Fatal(err)
	}
	check := func(what string, s index.Set, want int) {
		t.Helper()
		if n := findable(t, c, s); n != want {
			t.Errorf("%s: %d documents, want %d", what, n, want)
		}
	}
	check("resolved before", before, 17)
	check("matched before", phrase, 17)
	check("a", passedTo(t, c, "a"), 17)
	check("b", passedTo(t, c, "b"), 2)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	defer func() { _ = e.Close() }()
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	check("a, opened again", passedTo(t, c, "a"), 17)
	check("b, opened again", passedTo(t, c, "b"), 2)
}

// TestManyPatches has sets older than the changes that are remembered.
func TestManyPatches(t *testing.T) {
	const n = 700 // of two passages each
	_, c, _ := patchedCollection(t, n)
	ctx := context.Background()
	a, b := passedTo(t, c, "a"), passedTo(t, c, "b")
	for round := range 60 {
		var batch index.Batch
		for i := range n - 1 {
			batch.Payloads = append(batch.Payloads, patchTo(fmt.Sprintf("d%05d", i), `{"of":"b","round":`+fmt.Sprint(round)+`}`))
		}
		if _, err := c.Write(ctx, batch); err != nil {
			t.Fatal(err)
		}
		if n := findable(t, c, a); n != 1 {
			t.Fatalf("round %d: %d documents in the set of a, want 1", round, n)
		}
		// They did not pass when it was resolved; when that is done anew they do.
		if got := findable(t, c, b); got != 0 && got != n-1 {
			t.Fatalf("round %d: %d documents in the set of b, want none or %d", round, got, n-1)
		}
	}
	if got := findable(t, c, b); got != n-1 {
		t.Errorf("%d documents in an old set of b, want it resolved anew: %d", got, n-1)
	}
}

// TestPatchesSideBySide has many writers change payloads within what they may see,
// of documents of their own and of one that they take from each other.
func TestPatchesSideBySide(t *testing.T) {
	const writers, rounds = 8, 25
	_, c, _ := patchedCollection(t, writers+1)
	ctx := context.Background()
	var wg sync.WaitGroup
	var taken [writers]int
	for w := range writers {
		wg.Go(func() {
			own, from := fmt.Sprintf("d%05d", w+1), [32]byte{}
			for round := range rounds {
				change := patchTo(own, fmt.Sprintf(`{"of":"a","round":%d}`, round))
				change.From, change.Fingerprint = from, [32]byte{byte(round + 1)}
				if _, err := c.Write(ctx, index.Batch{Payloads: []index.PayloadChange{change}}); err != nil {
					t.Error(err)
					return
				}
				from = change.Fingerprint
				prints, err := c.Fingerprints(ctx, []string{"d00000"})
				if err != nil {
					t.Error(err)
					return
				}
				change = patchTo("d00000", fmt.Sprintf(`{"of":"a","by":%d}`, w))
				change.From, change.Fingerprint = prints[0].Sum, [32]byte{byte(w), byte(round), 1}
				switch _, err := c.Write(ctx, index.Batch{Payloads: []index.PayloadChange{change}}); {
				case err == nil:
					taken[w]++
				case braid.CodeOf(err) != braid.Conflict:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	v := braid.IntegerOf(rounds - 1)
	s, err := c.Resolve(ctx, braid.Filter{Must: []braid.Clause{braid.Condition{Field: "round", Match: &v}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := findable(t, c, s); n != writers {
		t.Errorf("%d documents have their last payload, want %d", n, writers)
	}
	total := 0
	for _, n := range taken {
		total += n
	}
	if n := findable(t, c, passedTo(t, c, "a")); total == 0 || n != writers+1 {
		t.Errorf("the common document was changed %d times, %d pass, want %d", total, n, writers+1)
	}
}
