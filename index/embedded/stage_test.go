package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// TestGraphShowsBatchesWhole searches while a graph takes batches: a document that
// the graph finds is there in every branch, and so are those of its batch, some of
// which take the place of others.
func TestGraphShowsBatchesWhole(t *testing.T) {
	ctx := context.Background()
	e, err := embedded.Open(ctx, t.TempDir(), embedded.Options{GraphFrom: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	const batches, size = 12, 20
	word := func(batch int) string { return "x" + string(rune('a'+batch)) + "x" }
	entry := func(batch, i int) index.Entry {
		// Half of them replace those of the batch before.
		id := fmt.Sprintf("n%dx%d", batch, i)
		if i%2 == 0 {
			id = fmt.Sprintf("always%d", i)
		}
		return entryOf(id, fmt.Sprintf("text of %s number %d", word(batch), i))
	}
	// The first are built into a graph by a compaction.
	var written atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		random := rand.New(rand.NewPCG(rand.Uint64(), 1))
		wg.Go(func() {
			for {
				done := int(written.Load())
				if done == batches {
					return
				}
				batch, i := min(done, batches-1), 1+2*random.IntN(size/2) // perhaps under way
				want := entry(batch, i)
				dense, err := c.SearchDense(ctx, want.Passages[0].Dense, index.Query{K: 1})
				if err != nil {
					t.Error(err)
					return
				}
				if len(dense) == 0 || dense[0].ID != want.Document.ID {
					if batch < int(written.Load()) && done > batch {
						t.Errorf("batch %d is written and the graph does not find %s", batch, want.Document.ID)
					}
					continue
				}
				words, err := c.SearchLexical(ctx, word(batch), index.Query{K: 2 * size})
				if err != nil || len(words) != size && int(written.Load()) <= batch+1 {
					t.Errorf("the graph shows %s, and %d documents of its batch are there, want %d, error %v", want.Document.ID, len(words), size, err)
				}
			}
		})
	}
	for batch := range batches {
		var b index.Batch
		for i := range size {
			b.Upserts = append(b.Upserts, entry(batch, i))
		}
		if _, err := c.Write(ctx, b); err != nil {
			t.Error(err)
		}
		written.Add(1)
	}
	wg.Wait()
	var method index.Method
	want := entry(batches-1, 1)
	if dense, err := c.SearchDense(ctx, want.Passages[0].Dense, index.Query{K: 1, Method: &method}); err != nil || dense[0].ID != want.Document.ID {
		t.Errorf("found %v by %s, error %v", dense, method, err)
	}
}
