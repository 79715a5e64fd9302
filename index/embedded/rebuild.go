package embedded

import (
	"context"
	"runtime"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/store"
)

// rebuildChunk is how many passages, or more of one document, go to the branches at a time, and
// rebuildQueue how many chunks may wait for a branch: enough to keep them busy,
// a few MB at most.
const (
	rebuildChunk = 128
	rebuildQueue = 4
)

// chunk is a run of entries in the order of their ordinals.
type chunk struct {
	entries  []index.Entry
	first    uint32 // the ordinal of the first passage of entries[0]
	passages int
	contents []content
	err      error         // why there are no contents, or nil
	analysed chan struct{} // closed when they are there
}

// rebuild fills new branches from the records of view. One goroutine reads, one
// a processor analyses texts, which takes longest, and one a branch adds, by
// ascending ordinals. progress, which may be nil, is called from one goroutine.
func (b *branches) rebuild(ctx context.Context, view *store.View, progress func(Progress)) error {
	var wg sync.WaitGroup
	var failed sync.Once
	var failure error
	toAnalyse := make(chan *chunk, rebuildQueue)
	queues := []chan<- *chunk{toAnalyse}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := range toAnalyse {
				if c.contents, c.err = b.analyze(c.entries); c.err != nil {
					failed.Do(func() { failure = c.err })
				}
				close(c.analysed)
			}
		})
	}
	for _, add := range b.adders() {
		queue := make(chan *chunk, rebuildQueue)
		queues = append(queues, queue)
		wg.Go(func() {
			for c := range queue {
				if <-c.analysed; c.err == nil {
					add(c)
				}
			}
		})
	}
	err := b.read(ctx, view, progress, queues)
	for _, queue := range queues {
		close(queue)
	}
	wg.Wait()
	if err == nil && failure != nil {
		err = braid.Errorf(braid.Corrupt, "collection %q: %w", view.Collection().Name, failure)
	}
	return err
}

// adders returns for each branch what adds a chunk to it.
func (b *branches) adders() []func(*chunk) {
	adders := []func(*chunk){
		func(c *chunk) {
			c.each(func(ord uint32, i, n int) { b.lexical.AddAnalysis(ord, c.contents[i].words[n]) })
		},
		func(c *chunk) {
			c.each(func(ord uint32, i, _ int) { b.filter.Add(ord, c.contents[i].fields) })
		},
	}
	if b.dense != nil {
		adders = append(adders, func(c *chunk) {
			vectors := make([][]float32, 0, c.passages)
			c.each(func(_ uint32, i, n int) { vectors = append(vectors, c.entries[i].Passages[n].Dense) })
			b.dense.Put(c.first, vectors...)
		})
	}
	if b.sparse != nil {
		adders = append(adders, func(c *chunk) {
			c.each(func(ord uint32, i, n int) { b.sparse.Add(ord, c.entries[i].Passages[n].Sparse) })
		})
	}
	return adders
}

// each calls add for passage n of entry i, for all of them, by ascending ordinals.
func (c *chunk) each(add func(ord uint32, i, n int)) {
	ord := c.first
	for i := range c.entries {
		for n := range c.entries[i].Passages {
			add(ord, i, n)
			ord++
		}
	}
}

// read gives every record's passages ordinals and sends it to each of queues.
func (b *branches) read(ctx context.Context, view *store.View, progress func(Progress), queues []chan<- *chunk) error {
	recorded := view.Collection()
	next := func() *chunk { return &chunk{first: uint32(len(b.slots)), analysed: make(chan struct{})} }
	c := next()
	flush := func() {
		for _, queue := range queues {
			queue <- c
		}
		if progress != nil {
			progress(Progress{Collection: recorded.Name, Done: len(b.ords), Total: recorded.Documents})
		}
		c = next()
	}
	err := view.Scan(ctx, func(e index.Entry) error {
		for _, p := range e.Passages {
			if len(p.Dense) != recorded.Schema.Dimensions {
				return braid.Errorf(braid.Corrupt, "document %q of collection %q has a vector of %d dimensions, want %d", e.Document.ID, recorded.Name, len(p.Dense), recorded.Schema.Dimensions)
			}
		}
		b.place(e)
		c.entries = append(c.entries, e)
		if c.passages += len(e.Passages); c.passages >= rebuildChunk {
			flush()
		}
		return nil
	})
	if err == nil {
		flush()
	}
	return err
}
