package embedded

import (
	"context"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/store"
)

// collection is an index.Collection.
type collection struct {
	store    *store.Store
	recorded store.Collection

	// writes is held by one write from its look at what exists to its last
	// change in memory.
	writes sync.Mutex

	mu   sync.RWMutex // guards the fields below; to change them, writes is held too
	gone error        // why the collection is no longer usable, or nil
	branches
}

// branches are the documents of a collection in memory.
type branches struct {
	ords  map[string]uint32 // by document id
	slots []slot            // by ordinal
	free  []uint32          // ordinals without a document

	dense   *dense.Exact     // nil in a collection without dense vectors
	sparse  *sparse.Postings // nil in a collection without sparse vectors
	lexical *lexical.Index
}

// slot is what is known of the document under one ordinal; its zero value is
// none.
type slot struct {
	id          string
	fingerprint [32]byte
}

func newCollection(s *store.Store, recorded store.Collection) *collection {
	c := &collection{store: s, recorded: recorded}
	c.ords = map[string]uint32{}
	c.lexical = lexical.New(lexical.Options{})
	if recorded.Schema.Dense != (index.ModelRef{}) {
		c.dense = dense.New(recorded.Schema.Dimensions)
	}
	if recorded.Schema.Sparse != (index.ModelRef{}) {
		c.sparse = sparse.New()
	}
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
		MemoryBytes: map[braid.Branch]int64{},
	}
	if c.gone != nil {
		return info
	}
	info.MemoryBytes[braid.Lexical] = c.lexical.MemoryBytes()
	if c.dense != nil {
		info.MemoryBytes[braid.Dense] = c.dense.MemoryBytes()
	}
	if c.sparse != nil {
		info.MemoryBytes[braid.Sparse] = c.sparse.MemoryBytes()
	}
	return info
}

// Write implements index.Collection.
func (c *collection) Write(ctx context.Context, batch index.Batch) (index.WriteResult, error) {
	if err := batch.Validate(c.recorded.Schema); err != nil {
		return index.WriteResult{}, err
	}
	c.writes.Lock()
	defer c.writes.Unlock()
	if c.gone != nil {
		return index.WriteResult{}, c.gone
	}
	if err := ctx.Err(); err != nil {
		return index.WriteResult{}, braid.Errorf(braid.CodeOf(err), "write to collection %q: %w", c.recorded.Name, err)
	}
	result, deletes := c.plan(batch)
	if result == (index.WriteResult{}) {
		return result, nil
	}
	words := c.analyze(batch.Upserts) // before the lock: it takes longest
	if err := c.store.Commit(c.recorded.Number, batch.Upserts, deletes); err != nil {
		return index.WriteResult{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range deletes {
		c.remove(id)
	}
	for i, e := range batch.Upserts {
		c.put(e, words[i])
	}
	return result, nil
}

// analyze takes the texts of entries apart. It needs no lock.
func (b *branches) analyze(entries []index.Entry) []lexical.Analysis {
	words := make([]lexical.Analysis, len(entries))
	for i, e := range entries {
		words[i] = b.lexical.Analyze(e.Document.Passage())
	}
	return words
}

// plan counts what batch would change and returns its deletes that exist.
func (b *branches) plan(batch index.Batch) (result index.WriteResult, deletes []string) {
	for _, e := range batch.Upserts {
		if _, ok := b.ords[e.Document.ID]; ok {
			result.Replaced++
		} else {
			result.Created++
		}
	}
	for _, id := range batch.Deletes {
		if _, ok := b.ords[id]; ok {
			deletes = append(deletes, id)
		}
	}
	result.Deleted = len(deletes)
	return result, deletes
}

// put makes e, whose text has the given words, visible in place of the document
// of its id.
func (b *branches) put(e index.Entry, words lexical.Analysis) {
	ord, exists := b.ords[e.Document.ID]
	if !exists {
		ord = b.place(e)
	}
	b.slots[ord].fingerprint = e.Fingerprint
	b.lexical.AddAnalysis(ord, words)
	if b.dense != nil {
		b.dense.Put(ord, e.Dense)
	}
	if b.sparse != nil {
		b.sparse.Remove(ord)
		b.sparse.Add(ord, e.Sparse)
	}
}

// place gives a new document an ordinal.
func (b *branches) place(e index.Entry) uint32 {
	ord := uint32(len(b.slots))
	if n := len(b.free); n > 0 {
		ord, b.free = b.free[n-1], b.free[:n-1]
	} else {
		b.slots = append(b.slots, slot{})
	}
	b.slots[ord] = slot{id: e.Document.ID, fingerprint: e.Fingerprint}
	b.ords[e.Document.ID] = ord
	return ord
}

// remove hides the document called id, which exists.
func (b *branches) remove(id string) {
	ord := b.ords[id]
	b.lexical.Remove(ord)
	if b.dense != nil {
		b.dense.Remove(ord)
	}
	if b.sparse != nil {
		b.sparse.Remove(ord)
	}
	delete(b.ords, id)
	b.slots[ord] = slot{}
	b.free = append(b.free, ord)
}

// Get implements index.Collection.
func (c *collection) Get(ctx context.Context, ids []string) ([]index.Stored, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return nil, c.gone
	}
	found := make([]index.Stored, 0, len(ids))
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return nil, braid.Errorf(braid.CodeOf(err), "get documents of collection %q: %w", c.recorded.Name, err)
		}
		if _, ok := c.ords[id]; !ok {
			continue
		}
		entry, ok, err := c.store.Get(c.recorded.Number, id)
		if err != nil {
			return nil, err
		}
		// A write that has reached the disk and not yet the branches may have
		// deleted it.
		if ok {
			found = append(found, index.Stored{Document: entry.Document, Tokens: entry.Tokens})
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
	return nil
}

// retire waits for calls under way and makes later ones fail with why.
func (c *collection) retire(why error) {
	c.writes.Lock()
	defer c.writes.Unlock()
	c.retireLocked(why)
}

// retireLocked is retire with writes held. It lets the memory go.
func (c *collection) retireLocked(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = why
	c.branches = branches{}
}
