package embedded

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
)

// change is what a batch comes to, given what is stored.
type change struct {
	upserts  []index.Entry
	contents []content // of upserts
	deletes  []string  // that exist
	result   index.WriteResult
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
// other's documents, at least one. writes is held.
func (c *collection) nextGroup() []*pending {
	c.queue.Lock()
	defer c.queue.Unlock()
	ids := map[string]bool{}
	n := 0
	for ; n < len(c.waiting); n++ {
		b := c.waiting[n].batch
		if n > 0 && (!groupable(c.waiting[0].batch) || !groupable(b) || len(ids)+len(b.Upserts)+len(b.Deletes) > groupEntries || touches(b, ids)) {
			break
		}
		for _, e := range b.Upserts {
			ids[e.Document.ID] = true
		}
		for _, id := range b.Deletes {
			ids[id] = true
		}
	}
	group := c.waiting[:n:n]
	c.waiting = c.waiting[n:]
	return group
}

// groupable reports whether what a batch comes to depends on nothing but which
// of its documents exist.
func groupable(b index.Batch) bool {
	return len(b.Payloads) == 0 && len(b.Within.Must)+len(b.Within.Should)+len(b.Within.MustNot) == 0
}

// touches reports whether b writes or deletes one of ids.
func touches(b index.Batch, ids map[string]bool) bool {
	for _, e := range b.Upserts {
		if ids[e.Document.ID] {
			return true
		}
	}
	return slices.ContainsFunc(b.Deletes, func(id string) bool { return ids[id] })
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
		all.deletes = append(all.deletes, planned.deletes...)
	}
	var err error
	if len(all.upserts)+len(all.deletes) > 0 {
		err = c.store.Commit(c.recorded.Number, all.upserts, all.deletes)
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
	if err == nil && len(all.upserts)+len(all.deletes) > 0 {
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
	if added := planned.upserts[len(w.contents):]; len(added) > 0 {
		contents, err := c.analyze(added)
		if err != nil {
			return change{}, err
		}
		planned.contents = append(slices.Clip(planned.contents), contents...)
	}
	return planned, nil
}

// afterWrite starts what is due after a write. writes is held.
func (c *collection) afterWrite(done change) {
	if c.changed == nil && c.outdated() {
		c.startCompaction()
	}
	c.vacuumIfDue()
	c.unsaved += len(done.deletes)
	for _, e := range done.upserts {
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
	changed, err := c.changedPayloads(batch.Payloads, within)
	if err != nil {
		return change{}, err
	}
	if len(changed) > 0 {
		planned.upserts = append(planned.upserts[:len(planned.upserts):len(planned.upserts)], changed...)
		planned.result.Changed = len(changed)
	}
	for _, id := range batch.Deletes {
		if ord, ok := c.ords[id]; ok && within.Contains(ord) {
			planned.deletes = append(planned.deletes, id)
		}
	}
	planned.result.Deleted = len(planned.deletes)
	return planned, nil
}

// changedPayloads reads the documents whose payloads change.
func (c *collection) changedPayloads(changes []index.PayloadChange, within *docset.Set) ([]index.Entry, error) {
	entries := make([]index.Entry, len(changes))
	for i, change := range changes {
		ord, ok := c.ords[change.ID]
		if !ok || !within.Contains(ord) || c.slots[ord].fingerprint != change.From {
			return nil, braid.Errorf(braid.Conflict, "document %q was changed meanwhile: read it and try again", change.ID).In("id")
		}
		entry, ok, err := c.store.Get(c.recorded.Number, change.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, braid.Errorf(braid.Corrupt, "document %q is in the index and not in the data folder", change.ID)
		}
		entry.Document.Payload, entry.Fingerprint = change.Payload, change.Fingerprint
		entries[i] = entry
	}
	return entries, nil
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
	for _, e := range done.upserts {
		c.note(e.Document.ID)
	}
}
