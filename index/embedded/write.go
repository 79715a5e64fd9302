package embedded

import (
	"context"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
)

// change is what a batch comes to, given what is stored.
type change struct {
	upserts []index.Entry
	deletes []string // that exist
	result  index.WriteResult
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
	planned, err := c.plan(batch)
	if err != nil || planned.result == (index.WriteResult{}) {
		return index.WriteResult{}, err
	}
	contents, err := c.analyze(planned.upserts) // before the lock: it takes longest
	if err != nil {
		return index.WriteResult{}, err
	}
	if err := c.store.Commit(c.recorded.Number, planned.upserts, planned.deletes); err != nil {
		return index.WriteResult{}, err
	}
	c.apply(planned, contents)
	if c.changed == nil && c.wasteful() {
		c.startCompaction()
	}
	c.unsaved += len(planned.upserts) + len(planned.deletes)
	c.saveIfDue()
	return planned.result, nil
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
func (c *collection) apply(done change, contents []content) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range done.deletes {
		c.remove(id)
		c.note(id)
	}
	for i, e := range done.upserts {
		c.put(e, contents[i])
		c.note(e.Document.ID)
	}
}
