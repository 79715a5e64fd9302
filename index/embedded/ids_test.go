package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// fillWords makes a collection without vectors of n documents, of which one in
// a hundred is rare and half are frequent.
func fillWords(t testing.TB, e *embedded.Engine, n int) index.Collection {
	t.Helper()
	c, err := e.Create(context.Background(), "words", index.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	order := rand.New(rand.NewPCG(71, 72)).Perm(n)
	for len(order) > 0 {
		next := order[:min(5000, len(order))]
		order = order[len(next):]
		var b index.Batch
		for _, i := range next {
			b.Upserts = append(b.Upserts, index.Whole(braid.Document{ID: fmt.Sprintf("doc-%07d", i), Text: "word", Payload: fmt.Appendf(nil, `{"rare":%t,"frequent":%t}`, i%100 == 7, i%2 == 0)}, [32]byte{}))
		}
		if _, err := c.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func matching(t testing.TB, c index.Collection, field string) index.Set {
	t.Helper()
	yes := braid.BooleanOf(true)
	set, err := c.Resolve(context.Background(), braid.Filter{Must: []braid.Clause{braid.Condition{Field: field, Match: &yes}}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestBothWaysOfListing pages through a collection large enough for the ids to
// be walked, and through a set small enough for them to be selected.
func TestBothWaysOfListing(t *testing.T) {
	const n = 20_000
	e := open(t, t.TempDir())
	defer e.Close()
	c := fillWords(t, e, n)
	if _, err := c.Write(context.Background(), index.Batch{Deletes: []string{"doc-0000000", "doc-0000107", "doc-0019999"}}); err != nil {
		t.Fatal(err)
	}
	for field, set := range map[string]index.Set{"": nil, "frequent": matching(t, c, "frequent"), "rare": matching(t, c, "rare")} {
		for _, limit := range []int{3, 100, 1000} {
			var got, want []string
			for i := 1; i < n-1; i++ {
				if i != 107 && (field == "" || field == "frequent" && i%2 == 0 || field == "rare" && i%100 == 7) {
					want = append(want, fmt.Sprintf("doc-%07d", i))
				}
			}
			for after := ""; ; after = got[len(got)-1] {
				ids, err := c.IDs(context.Background(), after, limit, set)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, ids...)
				if len(ids) < limit {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q, %d at a time: %d ids, want %d", field, limit, len(got), len(want))
			}
		}
	}
}

// BenchmarkIDs lists a page of a hundred from the middle of 200,000 documents.
func BenchmarkIDs(b *testing.B) {
	e := open(b, b.TempDir())
	defer e.Close()
	c := fillWords(b, e, 200_000)
	for _, set := range []struct {
		name string
		set  index.Set
	}{{"all", nil}, {"half", matching(b, c, "frequent")}, {"hundredth", matching(b, c, "rare")}} {
		b.Run(set.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.IDs(context.Background(), "doc-0100000", 100, set.set); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
