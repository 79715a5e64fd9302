package eval_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

// The demo's files agree with each other: every document can be stored, the
// judgments are those of queries.jsonl and judge documents that exist.
func TestDemo(t *testing.T) {
	dir := filepath.Join("..", "..", "demo")
	d, err := eval.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	docs := map[string]braid.Document{}
	for doc, err := range d.Corpus() {
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Validate(); err != nil {
			t.Error(err)
		}
		if doc.Title == "" || doc.Payload == nil {
			t.Errorf("%s has no title or no payload", doc.ID)
		}
		docs[doc.ID] = doc
	}
	if len(docs) < 100 || len(d.Queries) < 12 {
		t.Errorf("%d documents and %d queries, want about 100 and a dozen", len(docs), len(d.Queries))
	}
	remarks := queriesWithRemarks(t, filepath.Join(dir, "queries.jsonl"))
	for _, q := range d.Queries {
		if judged := slices.Sorted(maps.Keys(q.Judgments)); !slices.Equal(judged, slices.Sorted(slices.Values(remarks[q.ID]))) {
			t.Errorf("%s: qrels judge %q, queries.jsonl has %q", q.ID, judged, remarks[q.ID])
		}
		for id := range q.Judgments {
			if _, ok := docs[id]; !ok {
				t.Errorf("%s: judged document %q does not exist", q.ID, id)
			}
		}
	}
	if len(remarks) != len(d.Queries) {
		t.Errorf("queries.jsonl has %d queries, %d are judged", len(remarks), len(d.Queries))
	}
}

// queriesWithRemarks returns the relevant ids that queries.jsonl names, by
// query, and sees that each query says what it shows.
func queriesWithRemarks(t *testing.T, path string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	relevant := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		var q struct {
			ID, Text, Shows string
			Relevant        []string
		}
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			t.Fatal(err)
		}
		if q.Shows == "" {
			t.Errorf("query %s does not say what it shows", q.ID)
		}
		relevant[q.ID] = q.Relevant
	}
	return relevant
}
