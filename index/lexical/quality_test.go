package lexical_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/topk"
	"github.com/braid-search/braid/internal/eval"
)

// dataDir holds evaluation sets in BEIR's layout, where they are present.
const dataDir = "../../../shared/data"

// The floors are what plain BM25 with the same parameters reaches on prose, and
// what exact identifiers must not fall below.
func TestRankingQuality(t *testing.T) {
	for _, tc := range []struct {
		set, qrels string
		floor      float64
	}{
		{"scifact", "test", 0.6683},
		{"nq-utd", "test", 0.796},
		{"cppdocs-errors", "test", 0.97},
		{"cppdocs-errors", "messages", 0.95},
		{"rustsec-ids", "test", 0.97},
	} {
		t.Run(tc.set+"/"+tc.qrels, func(t *testing.T) {
			c := loadCollection(t, tc.set, tc.qrels)
			results := c.data.Results()
			if err := c.data.Score(results, "lexical", c.rank(100), eval.DefaultMetrics()); err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", results.Report().Modes)
			if mean := results.Mean("lexical", "nDCG@10"); mean < tc.floor {
				t.Errorf("nDCG@10 is %.4f, the floor is %.4f", mean, tc.floor)
			}
		})
	}
}

// collection is an indexed evaluation set.
type collection struct {
	data  *eval.Dataset
	ids   []string
	texts []string
	index *lexical.Index
}

func loadCollection(tb testing.TB, set, qrels string) *collection {
	tb.Helper()
	dir := filepath.Join(dataDir, set)
	if _, err := os.Stat(dir); err != nil {
		tb.Skipf("skipped: no data: %v", err)
	}
	data, err := eval.Open(dir, qrels)
	if err != nil {
		tb.Fatal(err)
	}
	c := &collection{data: data, index: lexical.New(lexical.Options{})}
	for doc, err := range data.Corpus() {
		if err != nil {
			tb.Fatal(err)
		}
		c.index.Add(uint32(len(c.ids)), doc.Passage())
		c.ids, c.texts = append(c.ids, doc.ID), append(c.texts, doc.Passage())
	}
	return c
}

// rank answers every query with its first k ids.
func (c *collection) rank(k int) eval.Run {
	run := eval.Run{}
	scan := topk.Scan{K: k, Before: func(a, b uint32) bool { return c.ids[a] < c.ids[b] }}
	for _, query := range c.data.Queries {
		for _, m := range best(c.index, query.Text, scan) {
			run[query.ID] = append(run[query.ID], c.ids[m.Ord])
		}
	}
	return run
}
