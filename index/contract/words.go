package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// testWords compares the documents that hold phrases and words with a look at each
// text, over random documents that come, change and go.
func testWords(t *testing.T, h *harness) {
	random := rand.New(rand.NewPCG(31, 32))
	c, m := h.create("t"), model{}
	found := 0
	for range 8 {
		var batch index.Batch
		for i := range 40 {
			id := fmt.Sprintf("doc-%d", i*5+random.IntN(5))
			if random.IntN(4) == 0 {
				batch.Deletes = append(batch.Deletes, id)
				delete(m, id)
				continue
			}
			m[id] = randomEntry(random, id)
			batch.Upserts = append(batch.Upserts, m[id])
		}
		write(t, c, batch)
		half := []string{"no such document"}
		for id := range m {
			if random.IntN(2) == 0 {
				half = append(half, id)
			}
		}
		for range 10 {
			asked := randomWords(random)
			found += checkWords(t, c, m, asked, nil)
			found += checkWords(t, c, m, asked, half)
		}
	}
	if found == 0 {
		t.Error("nothing was ever found: the test asks too much")
	}
	if c.HasWords(" – ,. ") || !c.HasWords("alfa") || !c.HasWords("水") {
		t.Error("punctuation is taken for words, or words for punctuation")
	}

	// A set is good for searches after writes, and other sets are made within it.
	all, err := c.Resolve(context.Background(), braid.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	outer, err := c.Matching(context.Background(), index.Words{NoWords: []string{"alfa"}}, all)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := c.Matching(context.Background(), index.Words{Phrases: []string{"bravo"}}, outer)
	if err != nil || inner.Len() > outer.Len() || inner.Len() == 0 {
		t.Fatalf("%d documents within %d, error %v", inner.Len(), outer.Len(), err)
	}
	for round := range 40 { // enough to let an engine clear up what is no more
		var batch index.Batch
		for i := range 20 {
			e := entry(fmt.Sprint("later-", i), []string{"golf bravo", "alfa bravo", "golf"}[(round+i)%3])
			m[e.Document.ID] = e
			batch.Upserts = append(batch.Upserts, e)
		}
		write(t, c, batch)
		hits, err := c.SearchLexical(context.Background(), "bravo alfa golf", index.Query{K: 2000, Allowed: inner})
		if err != nil || len(hits) == 0 {
			t.Fatalf("%d hits, error %v", len(hits), err)
		}
		for _, hit := range hits {
			if text := m[hit.ID].Document.Passage(); strings.Contains(text, "alfa") || !strings.Contains(text, "bravo") {
				t.Fatalf("found %q", text)
			}
		}
	}

	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = c.Matching(canceled, index.Words{Phrases: []string{"bravo"}}, nil)
	wantCode(t, "match words after the caller went away", err, braid.Canceled)
}

// randomWords asks for what some random text can hold.
func randomWords(random *rand.Rand) index.Words {
	phrase := func() string {
		text := make([]string, 1+random.IntN(3))
		for i := range text {
			text[i] = words[random.IntN(len(words))]
		}
		return strings.Join(text, []string{" ", "-", ", "}[random.IntN(3)])
	}
	var w index.Words
	for range random.IntN(3) {
		w.Phrases = append(w.Phrases, phrase())
	}
	if random.IntN(2) == 0 {
		w.NoPhrases = append(w.NoPhrases, phrase())
	}
	if random.IntN(3) == 0 {
		w.NoWords = append(w.NoWords, words[random.IntN(len(words))])
	}
	return w
}

// checkWords returns how many documents were found, all or those of half.
func checkWords(t *testing.T, c index.Collection, m model, asked index.Words, half []string) int {
	t.Helper()
	var within index.Set
	if half != nil {
		var err error
		if within, err = c.Resolve(context.Background(), *only(half...)); err != nil {
			t.Fatal(err)
		}
	}
	matched, err := c.Matching(context.Background(), asked, within)
	if err != nil || matched.Unread != 0 {
		t.Fatalf("%+v: %d unread, error %v", asked, matched.Unread, err)
	}
	got, err := c.IDs(context.Background(), "", len(m)+1, matched)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for id, e := range m {
		holds := holdsWords(e.Document.Passage(), asked)
		if c.Holds(asked, e.Document.Passage()) != holds {
			t.Fatalf("%q holds %+v: %v, want %v", e.Document.Passage(), asked, !holds, holds)
		}
		if holds && (half == nil || slices.Contains(half, id)) {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) || matched.Len() != len(want) {
		t.Fatalf("%+v within %v: %d documents, %v, want %v", asked, half != nil, matched.Len(), got, want)
	}
	return len(got)
}

// holdsWords compares by words between spaces, which is what random texts have.
func holdsWords(text string, asked index.Words) bool {
	text = " " + strings.Join(strings.Fields(text), " ") + " "
	holds := func(phrase string) bool {
		return strings.Contains(text, " "+strings.NewReplacer("-", " ", ", ", " ").Replace(phrase)+" ")
	}
	return !slices.ContainsFunc(asked.Phrases, func(p string) bool { return !holds(p) }) &&
		!slices.ContainsFunc(asked.NoPhrases, holds) && !slices.ContainsFunc(asked.NoWords, holds)
}
