package embedded_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// TestWhatIsNotReadIsLeftOut asks for a phrase whose words are in more documents than
// are read. Every third holds the phrase.
func TestWhatIsNotReadIsLeftOut(t *testing.T) {
	ctx := context.Background()
	e, err := embedded.Open(ctx, t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	c, err := e.Create(ctx, "t", index.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	const documents = index.MaxVerified + 250
	var batch index.Batch
	for i := range documents {
		d := braid.Document{ID: fmt.Sprintf("d%05d", i), Text: []string{"alfa bravo", "bravo alfa", "alfa or bravo"}[i%3]}
		batch.Upserts = append(batch.Upserts, index.Entry{Document: d, Passages: []index.Passage{{}}})
	}
	if _, err := c.Write(ctx, batch); err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]index.Words{"with": {Phrases: []string{"alfa bravo"}}, "without": {NoPhrases: []string{"alfa bravo"}}} {
		matched, err := c.Matching(ctx, words, nil)
		if err != nil || matched.Unread != documents-index.MaxVerified {
			t.Fatalf("%s: %d unread, want %d, error %v", name, matched.Unread, documents-index.MaxVerified, err)
		}
		ids, err := c.IDs(ctx, "", documents, matched)
		if err != nil || len(ids) == 0 || len(ids) != matched.Len() {
			t.Fatalf("%s: %d of %d, error %v", name, len(ids), matched.Len(), err)
		}
		for _, id := range ids {
			stored, err := c.Get(ctx, []string{id})
			if err != nil || !c.Holds(words, stored[0].Document.Text) {
				t.Fatalf("%s: found %v, error %v", name, stored, err)
			}
		}
	}
}
