package contract

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// testExplanations asserts that the contributions of every hit add up to the
// score of its ranking, over random documents that come, change and go, in all
// documents and in some of them.
func testExplanations(t *testing.T, h *harness) {
	random := rand.New(rand.NewPCG(21, 22))
	c, m := h.create("t"), model{}
	for range 12 {
		var batch index.Batch
		seen := map[string]bool{}
		for range 60 {
			id := fmt.Sprintf("doc-%d", random.IntN(250))
			if seen[id] {
				continue
			}
			seen[id] = true
			if random.IntN(4) == 0 {
				batch.Deletes = append(batch.Deletes, id)
				delete(m, id)
				continue
			}
			e := randomEntry(random, id)
			m[id] = e
			batch.Upserts = append(batch.Upserts, e)
		}
		write(t, c, batch)
		half := []string{"no such document"}
		for id := range m {
			if random.IntN(2) == 0 {
				half = append(half, id)
			}
		}
		for range 6 {
			text := randomText(random)
			checkExplained(t, c, text, query{k: m.passages() + 1}.in(t, c))
			checkExplained(t, c, text, query{k: 7, filter: only(half...)}.in(t, c))
		}
	}
	c = h.reopen("t")
	checkExplained(t, c, "alfa the bravo zulu zulu", index.Query{K: 2000})

	gone := []braid.Hit{{ID: "no such document"}, {ID: slices.Collect(maps.Keys(m))[0], Passage: 5}, {ID: slices.Collect(maps.Keys(m))[0], Passage: -1}}
	if shares, err := c.ExplainLexical(context.Background(), "alfa", gone); err != nil || len(shares) != len(gone) || len(slices.Concat(shares...)) != 0 {
		t.Errorf("lexical explanation of passages that are not there: %v, error %v", shares, err)
	}
	if shares, err := c.ExplainSparse(context.Background(), encodeSparse("alfa"), gone); err != nil || len(shares) != len(gone) || len(slices.Concat(shares...)) != 0 {
		t.Errorf("sparse explanation of passages that are not there: %v, error %v", shares, err)
	}
	_, err := c.ExplainSparse(context.Background(), braid.SparseVector{Indices: []uint32{2, 1}, Values: []float32{1, 1}}, nil)
	wantCode(t, "explain a vector out of order", err, braid.InvalidArgument)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = c.ExplainLexical(canceled, "alfa", gone)
	wantCode(t, "explain after the caller went away", err, braid.Canceled)
}

func checkExplained(t *testing.T, c index.Collection, text string, q index.Query) {
	t.Helper()
	ctx := context.Background()
	hits, err := c.SearchLexical(ctx, text, q)
	if err != nil {
		t.Fatal(err)
	}
	lexical, err := c.ExplainLexical(ctx, text, hits)
	if err != nil || len(lexical) != len(hits) {
		t.Fatalf("lexical %q: %d explanations of %d hits, error %v", text, len(lexical), len(hits), err)
	}
	for i, h := range hits {
		var sum float64
		for _, s := range lexical[i] {
			formula := s.Weight * s.IDF * float64(s.Frequency) / (float64(s.Frequency) + s.Norm)
			if !(s.Contribution > 0) || !near(formula, s.Contribution) {
				t.Fatalf("lexical %q, document %q: %+v, by the formula %v", text, h.ID, s, formula)
			}
			sum += s.Contribution
			checkLocated(t, c, h, s)
		}
		if !near(sum, h.Score) {
			t.Fatalf("lexical %q, document %q: contributions add up to %v, the score is %v", text, h.ID, sum, h.Score)
		}
	}

	vector := encodeSparse(text)
	if hits, err = c.SearchSparse(ctx, vector, q); err != nil {
		t.Fatal(err)
	}
	sparse, err := c.ExplainSparse(ctx, vector, hits)
	if err != nil || len(sparse) != len(hits) {
		t.Fatalf("sparse %q: %d explanations of %d hits, error %v", text, len(sparse), len(hits), err)
	}
	for i, h := range hits {
		var sum float64
		for _, s := range sparse[i] {
			if product := float64(s.Query) * float64(s.Document); !(product > 0) || !near(product, s.Contribution) {
				t.Fatalf("sparse %q, document %q: %+v", text, h.ID, s)
			}
			sum += s.Contribution
		}
		if !near(sum, h.Score) {
			t.Fatalf("sparse %q, document %q: contributions add up to %v, the score is %v", text, h.ID, sum, h.Score)
		}
	}
}

// near reports whether two scores are one but for the order of additions.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// checkLocated asserts that a term is found in what was read of a passage as often
// as it was counted.
func checkLocated(t *testing.T, c index.Collection, h braid.Hit, share index.LexicalShare) {
	t.Helper()
	stored, err := c.Get(context.Background(), []string{h.ID})
	if err != nil || len(stored) != 1 {
		t.Fatalf("get %q: %v, error %v", h.ID, stored, err)
	}
	text := stored[0].Read(h.Passage)
	places := c.Locate(text, []string{share.Term, "no such term"})
	if len(places) != share.Frequency {
		t.Fatalf("%q is at %v of %q, counted %d times", share.Term, places, text, share.Frequency)
	}
	for i, p := range places {
		if p.Term != share.Term || p.Start >= p.End || i > 0 && p.Start < places[i-1].Start {
			t.Fatalf("%q is at %+v of %q", share.Term, places, text)
		}
		if again := c.Locate(text[p.Start:p.End], []string{share.Term}); len(again) == 0 {
			t.Fatalf("%q is not in %q", share.Term, text[p.Start:p.End])
		}
	}
}
