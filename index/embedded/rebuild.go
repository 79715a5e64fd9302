package embedded

import (
	"context"
	"runtime"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/lexical"
)

// rebuildChunk is how many entries go to the branches at a time, and
// rebuildQueue how many chunks may wait for a branch: enough to keep them busy,
// a few MB at most.
const (
	rebuildChunk = 128
	rebuildQueue = 4
)

// placed is an entry with its ordinal and its words.
type placed struct {
	ord   uint32
	entry index.Entry
	words lexical.Analysis
}

// rebuild fills the branches of a new collection from its records: one
// goroutine reads, one a processor analyses texts, which takes longest, and one
// a branch adds. Chunks may overtake each other.
func (c *collection) rebuild(ctx context.Context, progress func(Progress)) error {
	adders := []func(placed){func(p placed) { c.lexical.AddAnalysis(p.ord, p.words) }}
	if c.dense != nil {
		adders = append(adders, func(p placed) { c.dense.Put(p.ord, p.entry.Dense) })
	}
	if c.sparse != nil {
		adders = append(adders, func(p placed) { c.sparse.Add(p.ord, p.entry.Sparse) })
	}
	feed, wait := fanOut(adders)
	chunks := make(chan []placed, rebuildQueue)
	var analysing sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		analysing.Go(func() {
			for chunk := range chunks {
				for i := range chunk {
					chunk[i].words = c.lexical.Analyze(chunk[i].entry.Document.Passage())
				}
				feed(chunk)
			}
		})
	}
	err := c.read(ctx, progress, chunks)
	close(chunks)
	analysing.Wait()
	wait()
	return err
}

// fanOut starts a goroutine for each adder. Chunks given to feed reach each of
// them; wait ends them.
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

// read gives every record an ordinal and sends it on.
func (c *collection) read(ctx context.Context, progress func(Progress), chunks chan<- []placed) error {
	var chunk []placed
	flush := func() {
		chunks <- chunk
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
