package embedded

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/store"
)

// change is what a batch comes to, given what is stored.
type change struct {
	upserts  []index.Entry
	contents []content // of upserts
	patches  []patch
	deletes  []string // that exist
	result   index.WriteResult
}

// writes reports whether the change is one.
func (c *change) writes() bool { return len(c.upserts)+len(c.patches)+len(c.deletes) > 0 }

// patched returns the patches as the store takes them.
func (c *change) patched() []store.Patch {
	patches := make([]store.Patch, len(c.patches))
	for i, p := range c.patches {
		patches[i] = store.Patch{Entry: p.entry, Payload: p.payload}
	}
	return patches
}

// stored returns the entries that the store keeps from then on.
func (c *change) stored() []index.Entry {
	if len(c.patches) == 0 {
		return c.upserts
	}
	entries := slices.Clone(c.upserts)
	for _, p := range c.patches {
		entries = append(entries, p.entry)
	}
	return entries
}

// pending is a write that waits for its turn.
type pending struct {
	ctx      context.Context
	batch    index.Batch
	contents []content // of batch.Upserts

	// The fields below are set, with writes held, by who commits it.
	done   bool
	result index.WriteResult
	err    error
}

// Write implements index.Collection. Writes that wait for one another's disk are
// committed together.
func (c *collection) Write(ctx context.Context, batch index.Batch) (index.WriteResult, error) {
	if err := batch.Validate(c.recorded.Schema); err != nil {
		return index.WriteResult{}, err
	}
	b, err := c.now()
	if err != nil {
		return index.WriteResult{}, err
	}
	contents, err := b.analyze(batch.Upserts) // before the lock: it takes longest
	if err != nil {
		return index.WriteResult{}, err
	}
	w := &pending{ctx: ctx, batch: batch, contents: contents}
	c.queue.Lock()
	c.waiting = append(c.waiting, w)
	c.queue.Unlock()
	c.writes.Lock()
	defer c.writes.Unlock()
	for !w.done {
		c.commit(c.nextGroup())
	}
	return w.result, w.err
}

// now returns the branches of this moment, for what needs no lock.
func (c *collection) now() (*branches, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.branches, c.gone
}

// groupEntries bounds the writes that are committed together.
const groupEntries = 1024

// nextGroup takes writes from the front of the queue that do not touch each
// other's documents, at least one: what a write comes to depends on no others.
// writes is held.
func (c *collection) nextGroup() []*pending {
	c.queue.Lock()
	defer c.queue.Unlock()
	touched := map[string]bool{}
	n := 0
	for ; n < len(c.waiting); n++ {
		ids := idsOf(c.waiting[n].batch)
		if n > 0 && (len(touched)+len(ids) > groupEntries || slices.ContainsFunc(ids, func(id string) bool { return touched[id] })) {
			break
		}
		for _, id := range ids {
			touched[id] = true
		}
	}
	group := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return group
}

// idsOf returns the ids of the documents that b writes, changes or deletes.
func idsOf(b index.Batch) []string {
	ids := make([]string, 0, len(b.Upserts)+len(b.Payloads)+len(b.Deletes))
	for _, e := range b.Upserts {
		ids = append(ids, e.Document.ID)
	}
	for _, p := range b.Payloads {
		ids = append(ids, p.ID)
	}
	return append(ids, b.Deletes...)
}

// commit makes the writes of a group durable and visible. writes is held.
func (c *collection) commit(group []*pending) {
	var all change
	for _, w := range group {
		planned, err := c.planPending(w)
		if w.err = err; err != nil {
			continue
		}
		w.result = planned.result
		all.upserts = append(all.upserts, planned.upserts...)
		all.contents = append(all.contents, planned.contents...)
		all.patches = append(all.patches, planned.patches...)
		all.deletes = append(all.deletes, planned.deletes...)
	}
	var err error
	if all.writes() {
		err = c.store.Commit(c.recorded.Number, all.upserts, all.deletes, all.patched()...)
	}
	if err != nil && len(group) > 1 {
		// One of them may be at fault.
		for _, w := range group {
			c.commit([]*pending{w})
		}
		return
	}
	for _, w := range group {
		w.done = true
		if err != nil && w.err == nil {
			w.result, w.err = index.WriteResult{}, err
		}
	}
	if err == nil && all.writes() {
		c.apply(all)
		c.afterWrite(all)
	}
}

// planPending is plan for a write whose caller still waits.
func (c *collection) planPending(w *pending) (change, error) {
	if c.gone != nil {
		return change{}, c.gone
	}
	if c.moved != nil {
		return change{}, c.moved
	}
	if err := w.ctx.Err(); err != nil {
		return change{}, braid.Errorf(braid.CodeOf(err), "write to collection %q: %w", c.recorded.Name, err)
	}
	planned, err := c.plan(w.batch)
	if err != nil {
		return change{}, err
	}
	planned.contents = w.contents
	return planned, nil
}

// afterWrite starts what is due after a write. writes is held.
func (c *collection) afterWrite(done change) {
	if c.changed == nil && c.outdated() {
		c.startCompaction()
	}
	c.vacuumIfDue()
	c.unsaved += len(done.deletes)
	for _, e := range done.stored() {
		c.unsaved += len(e.Passages)
	}
	c.saveIfDue()
}

// plan compares batch with what is stored. writes is held.
func (c *collection) plan(batch index.Batch) (change, error) {
	within := c.filter.Resolve(batch.Within)
	planned := change{upserts: batch.Upserts}
	for _, e := range batch.Upserts {
		ord, ok := c.ords[e.Document.ID]
		switch {
		case !ok:
			planned.result.Created++
		case !within.Contains(ord):
			return change{}, braid.Errorf(braid.Conflict, "document id %q is in use: choose another", e.Document.ID).In("id")
		default:
			planned.result.Replaced++
		}
	}
	var err error
	if planned.patches, err = c.patches(batch.Payloads, within); err != nil {
		return change{}, err
	}
	planned.result.Changed = len(planned.patches)
	for _, id := range batch.Deletes {
		if ord, ok := c.ords[id]; ok && within.Contains(ord) {
			planned.deletes = append(planned.deletes, id)
		}
	}
	planned.result.Deleted = len(planned.deletes)
	return planned, nil
}

// apply makes a durable write visible. writes is held.
func (c *collection) apply(done change) {
	c.stage(done.upserts)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range done.deletes {
		c.remove(id)
		c.note(id)
	}
	c.show(done.upserts, done.contents)
	for _, p := range done.patches {
		c.patch(p)
	}
	for _, e := range done.stored() {
		c.note(e.Document.ID)
	}
}
