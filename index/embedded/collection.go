package embedded

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/store"
)

// collection is an index.Collection.
type collection struct {
	dir      string // the data folder
	store    *store.Store
	recorded store.Collection
	log      *slog.Logger
	options  dense.Options
	profile  atomic.Pointer[index.Profile] // never nil; to change it, writes is held
	analyzer *lexical.Analyzer             // of queries; as those of the branches are

	queue   sync.Mutex // guards waiting; taken after writes, or without it
	waiting []*pending // writes, by arrival

	// writes is held by one write, or by one for all that wait, from its look at what exists to its last
	// change in memory.
	writes  sync.Mutex
	changed map[string]bool // ids written since a compaction began; nil when none runs
	// followed are the ids written since a Reindex last looked; nil when none runs.
	followed map[string]bool
	moved    error  // why there are no more writes though it can be read, or nil
	unsaved  int    // passages written since the branches were saved
	saving   bool   // whether they are about to be saved in the background
	unread   bool   // whether it was opened without a look at its records
	vacuum   func() // ends the vacuum of a graph that runs in the background; nil when none does

	background sync.WaitGroup // a compaction, a vacuum and a save
	stop       context.CancelFunc
	stopped    context.Context

	mu   sync.RWMutex // guards the fields below; to change them, writes is held too
	gone error        // why the collection is no longer usable, or nil
	*branches
}

func newCollection(e *Engine, recorded store.Collection) *collection {
	c := &collection{dir: e.store.Dir(), store: e.store, recorded: recorded, log: e.log, options: e.dense, analyzer: lexical.NewAnalyzer()}
	c.profile.Store(&recorded.Profile)
	c.branches = newBranches(recorded.Schema, recorded.Passages, c.options)
	c.stopped, c.stop = context.WithCancel(context.Background())
	return c
}

// Info implements index.Collection.
func (c *collection) Info() index.Info {
	c.mu.RLock()
	defer c.mu.RUnlock()
	info := index.Info{
		Name:        c.recorded.Name,
		Schema:      c.recorded.Schema,
		Created:     c.recorded.Created,
		Documents:   len(c.ords),
		Passages:    c.passages,
		MemoryBytes: map[braid.Branch]int64{},
	}
	if c.gone != nil {
		return info
	}
	info.FilterBytes = c.filter.MemoryBytes()
	info.MemoryBytes[braid.Lexical] = c.lexical.MemoryBytes()
	if c.dense != nil {
		info.MemoryBytes[braid.Dense] = c.dense.MemoryBytes()
	}
	if c.sparse != nil {
		info.MemoryBytes[braid.Sparse] = c.sparse.MemoryBytes()
	}
	return info
}

// memoryBytes is what all branches hold in memory.
func (b *branches) memoryBytes() int64 {
	total := b.filter.MemoryBytes() + b.lexical.MemoryBytes()
	if b.dense != nil {
		total += b.dense.MemoryBytes()
	}
	if b.sparse != nil {
		total += b.sparse.MemoryBytes()
	}
	return total
}

// Get implements index.Collection.
func (c *collection) Get(ctx context.Context, ids []string) ([]index.Stored, error) {
	return read(ctx, c, ids, c.store.GetStored)
}

// Encoded implements index.Collection.
func (c *collection) Encoded(ctx context.Context, ids []string) ([]index.Entry, error) {
	return read(ctx, c, ids, c.store.Get)
}

// read gets the documents with the given ids that are there.
func read[T any](ctx context.Context, c *collection, ids []string, get func(number uint32, id string) (T, bool, error)) ([]T, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	found := make([]T, 0, len(ids))
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, braid.Errorf(braid.CodeOf(err), "get documents of collection %q: %w", c.recorded.Name, err)
		}
		if _, ok := c.ords[id]; !ok {
			continue
		}
		document, ok, err := get(c.recorded.Number, id)
		if err != nil {
			return nil, err
		}
		// A write that has reached the disk and not yet the branches may have
		// deleted it.
		if ok {
			found = append(found, document)
		}
	}
	return found, nil
}

// Fingerprints implements index.Collection.
func (c *collection) Fingerprints(ctx context.Context, ids []string) ([]index.Fingerprint, error) {
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "fingerprints of collection %q: %w", c.recorded.Name, err)
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	prints := make([]index.Fingerprint, len(ids))
	for i, id := range ids {
		if ord, ok := c.ords[id]; ok {
			prints[i] = index.Fingerprint{Sum: c.slots[ord].fingerprint, OK: true}
		}
	}
	return prints, nil
}

// drop deletes the collection from the store and retires it.
func (c *collection) drop() error {
	c.writes.Lock()
	defer c.writes.Unlock()
	if err := c.store.Drop(c.recorded); err != nil {
		return err
	}
	c.retireLocked(errNotFound(c.recorded.Name))
	removeSaved(c.dir, c.recorded.Number, nothing)
	return nil
}

// retire makes calls fail with why and waits for what runs in the background.
func (c *collection) retire(why error) {
	c.writes.Lock()
	c.retireLocked(why)
	c.writes.Unlock()
	c.background.Wait()
}

// close waits for calls under way, saves the branches and makes later calls
// fail.
func (c *collection) close() {
	c.writes.Lock()
	c.stop() // a save waits for a vacuum
	if c.unsaved > max(worthSaving, c.passages/100) {
		c.save()
	}
	c.retireLocked(errClosed())
	c.writes.Unlock()
	c.background.Wait()
}

// retireLocked makes calls fail with why and tells what runs in the background
// to stop. It lets the memory go. writes is held.
func (c *collection) retireLocked(why error) {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = why
	c.branches = &branches{}
}
