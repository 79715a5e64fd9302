package embedded

import (
	"context"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// rebuildChunk is how many entries go to the branches at a time, and
// rebuildQueue how many chunks may wait for a branch: enough to keep them busy,
// a few MB at most.
const (
	rebuildChunk = 128
	rebuildQueue = 4
)

// placed is an entry and its ordinal.
type placed struct {
	ord   uint32
	entry index.Entry
}

// rebuild fills the branches of a new collection from its records: one
// goroutine reads, one for each branch adds.
func (c *collection) rebuild(ctx context.Context, progress func(Progress)) error {
	adders := []func(placed){func(p placed) { c.lexical.Add(p.ord, p.entry.Document.Passage()) }}
	if c.dense != nil {
		adders = append(adders, func(p placed) { c.dense.Put(p.ord, p.entry.Dense) })
	}
	if c.sparse != nil {
		adders = append(adders, func(p placed) { c.sparse.Add(p.ord, p.entry.Sparse) })
	}
	feed, wait := fanOut(adders)
	defer wait()
	return c.read(ctx, progress, feed)
}

// fanOut starts a goroutine for each adder. Chunks given to feed reach each of
// them, in order; wait ends them.
func fanOut(adders []func(placed)) (feed func([]placed), wait func()) {
	var wg sync.WaitGroup
	queues := make([]chan []placed, len(adders))
	for i, add := range adders {
		queues[i] = make(chan []placed, rebuildQueue)
		wg.Go(func() {
			for chunk := range queues[i] {
				for _, p := range chunk {
					add(p)
				}
			}
		})
	}
	feed = func(chunk []placed) {
		for _, queue := range queues {
			queue <- chunk
		}
	}
	wait = func() {
		for _, queue := range queues {
			close(queue)
		}
		wg.Wait()
	}
	return feed, wait
}

// read gives every record an ordinal and feeds it on.
func (c *collection) read(ctx context.Context, progress func(Progress), feed func([]placed)) error {
	var chunk []placed
	flush := func() {
		feed(chunk)
		chunk = make([]placed, 0, rebuildChunk)
		if progress != nil {
			progress(Progress{Collection: c.recorded.Name, Done: len(c.ords), Total: c.recorded.Documents})
		}
	}
	err := c.store.Scan(ctx, c.recorded, func(e index.Entry) error {
		if len(e.Dense) != c.recorded.Schema.Dimensions {
			return braid.Errorf(braid.Corrupt, "document %q of collection %q has a vector of %d dimensions, want %d", e.Document.ID, c.recorded.Name, len(e.Dense), c.recorded.Schema.Dimensions)
		}
		chunk = append(chunk, placed{ord: c.place(e), entry: e})
		if len(chunk) == rebuildChunk {
			flush()
		}
		return nil
	})
	if err == nil {
		flush()
	}
	return err
}
