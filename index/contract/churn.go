package contract

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// testEmptyAndRefill deletes the only document and adds it again.
func testEmptyAndRefill(t *testing.T, h *harness) {
	c := h.create("t")
	only := model{"1": entry("1", "alfa bravo")}
	for range 50 {
		write(t, c, index.Batch{Upserts: []index.Entry{only["1"]}})
		only.check(t, c, "alfa bravo", "echo")
		write(t, c, index.Batch{Deletes: []string{"1"}})
		model{}.check(t, c, "alfa bravo")
	}
	var memory int64
	for _, bytes := range c.Info().MemoryBytes {
		memory += bytes
	}
	if memory > 4<<20 {
		t.Errorf("an empty collection holds %d bytes after 50 rounds", memory)
	}
}

// testRandomSteps upserts with the same and with other texts, deletes the
// current best hit, and puts documents back, comparing with a plain map.
func testRandomSteps(t *testing.T, h *harness) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(21, 22))
	c, m := h.create("t"), model{}
	var deleted []string
	upsert := func(e index.Entry) {
		m[e.Document.ID] = e
		write(t, c, index.Batch{Upserts: []index.Entry{e}})
	}
	for i := range 8 {
		upsert(randomEntry(random, fmt.Sprint("doc-", i)))
	}
	for step := range 500 {
		ids := slices.Sorted(maps.Keys(m))
		switch random.IntN(4) {
		case 0:
			if len(ids) > 0 {
				upsert(m[ids[random.IntN(len(ids))]])
			}
		case 1:
			upsert(randomEntry(random, fmt.Sprint("doc-", random.IntN(8))))
		case 2:
			hits, err := c.SearchDense(ctx, encodeDense(randomText(random)), index.Query{K: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(hits) == 0 {
				break
			}
			deleted = append(deleted, hits[0].ID)
			delete(m, hits[0].ID)
			write(t, c, index.Batch{Deletes: []string{hits[0].ID}})
		case 3:
			if n := len(deleted); n > 0 {
				upsert(randomEntry(random, deleted[n-1]))
				deleted = deleted[:n-1]
			}
		}
		texts := []string{randomText(random)}
		for _, e := range m {
			texts = append(texts, e.Read(random.IntN(len(e.Passages))))
		}
		m.check(t, c, texts...)
		if step%100 == 99 {
			c = h.reopen("t")
			m.check(t, c, texts...)
		}
	}
}

func testReopen(t *testing.T, h *harness) {
	random := rand.New(rand.NewPCG(31, 32))
	c, m := h.create("t"), model{}
	for range 5 {
		var batch index.Batch
		for range 100 {
			e := randomEntry(random, fmt.Sprintf("%x", random.Uint64()))
			m[e.Document.ID] = e
			batch.Upserts = append(batch.Upserts, e)
		}
		for _, id := range slices.Sorted(maps.Keys(m)) {
			if random.IntN(10) == 0 && !slices.ContainsFunc(batch.Upserts, func(e index.Entry) bool { return e.Document.ID == id }) {
				delete(m, id)
				batch.Deletes = append(batch.Deletes, id)
			}
		}
		write(t, c, batch)
		before, err := c.SearchLexical(context.Background(), "alfa bravo delta", index.Query{K: 1000})
		if err != nil {
			t.Fatal(err)
		}
		info := c.Info()
		c = h.reopen("t")
		after, err := c.SearchLexical(context.Background(), "alfa bravo delta", index.Query{K: 1000})
		if err != nil || !slices.Equal(before, after) {
			t.Fatalf("lexical ranking after reopening is %v, before %v, error %v", after, before, err)
		}
		if got := c.Info(); !got.Created.Equal(info.Created) || got.Schema != info.Schema || got.Documents != info.Documents {
			t.Fatalf("info after reopening is %+v, before %+v", got, info)
		}
		m.check(t, c, randomText(random), randomText(random))
	}
}

func testCollectionsAreSeparate(t *testing.T, h *harness) {
	a, b := h.create("a"), h.create("b")
	inA, inB := model{"1": entry("1", "alfa bravo")}, model{"1": entry("1", "lima"), "2": entry("2", "alfa")}
	write(t, a, index.Batch{Upserts: []index.Entry{inA["1"]}})
	write(t, b, index.Batch{Upserts: []index.Entry{inB["1"], inB["2"]}})
	inA.check(t, a, "alfa bravo", "lima")
	inB.check(t, b, "alfa bravo", "lima")
	write(t, b, index.Batch{Deletes: []string{"1"}})
	delete(inB, "1")
	inA.check(t, h.reopen("a"), "alfa bravo", "lima")
	if err := h.engine.Drop(context.Background(), "a"); err != nil {
		t.Fatal(err)
	}
	inB.check(t, h.reopen("b"), "alfa bravo", "lima")
}

// testBatchIsNotKept spoils a batch after it was written.
func testBatchIsNotKept(t *testing.T, h *harness) {
	c, m := h.create("t"), model{"1": entry("1", "alfa bravo")}
	batch := index.Batch{Upserts: []index.Entry{entry("1", "alfa bravo")}}
	write(t, c, batch)
	e := &batch.Upserts[0]
	p := &e.Passages[0]
	clear(p.Dense)
	clear(p.Sparse.Indices)
	clear(p.Sparse.Values)
	clear(p.Tokens)
	clear(e.Passages)
	clear(e.Document.Payload)
	*e = index.Entry{}
	m.check(t, c, "alfa bravo")
}

// testConcurrency writes from some goroutines and searches from others. A
// batch holds one document of each of a writer's ids with one common word, so
// that any answer that shows half a batch is seen.
func testConcurrency(t *testing.T, h *harness) {
	const writers, searchers, rounds, group = 3, 3, 20, 4
	ctx := context.Background()
	c := h.create("t")
	var writing, searching sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for round := range rounds {
				batch := index.Batch{}
				for i := range group {
					id := fmt.Sprintf("%d-%d", w, i)
					if round%3 == 2 {
						batch.Deletes = append(batch.Deletes, id)
					} else {
						batch.Upserts = append(batch.Upserts, split(id, words[w], "zulu"))
					}
				}
				if _, err := c.Write(ctx, batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range searchers {
		searching.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for w := range writers {
					wantWholeGroup(t, c, words[w], group)
				}
				if _, err := h.engine.List(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	searching.Wait()
	m := model{}
	for w := range writers {
		for i := range group {
			id := fmt.Sprintf("%d-%d", w, i)
			m[id] = split(id, words[w], "zulu")
		}
	}
	m.check(t, c, words[0], words[1], words[2])
	m.check(t, h.reopen("t"), words[0], words[1], words[2])
}

// wantWholeGroup asserts that each branch finds all or none of the documents
// that hold word.
func wantWholeGroup(t *testing.T, c index.Collection, word string, group int) {
	ctx, q := context.Background(), index.Query{K: 1000}
	dense, err := c.SearchDense(ctx, encodeDense(word), q)
	if err != nil {
		t.Error(err)
	}
	dense = slices.DeleteFunc(dense, func(hit braid.Hit) bool { return hit.Score != 1 })
	sparse, err := c.SearchSparse(ctx, encodeSparse(word), q)
	if err != nil {
		t.Error(err)
	}
	lexical, err := c.SearchLexical(ctx, word, q)
	if err != nil {
		t.Error(err)
	}
	for branch, hits := range map[braid.Branch][]braid.Hit{braid.Dense: dense, braid.Sparse: sparse, braid.Lexical: lexical} {
		if len(hits) != 0 && len(hits) != group {
			t.Errorf("%s finds %d of a batch of %d", branch, len(hits), group)
		}
	}
	if _, err := c.Get(ctx, []string{"0-0", "1-1"}); err != nil {
		t.Error(err)
	}
}
