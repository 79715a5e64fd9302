package embedded

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/store"
)

// note records that id was written, for a compaction and a Reindex under way.
func (c *collection) note(id string) {
	if c.changed != nil {
		c.changed[id] = true
	}
	if c.followed != nil {
		c.followed[id] = true
	}
}

// startCompaction builds the branches anew in the background from what is
// stored now, while writes and searches go on with the old ones. writes is
// held.
func (c *collection) startCompaction() {
	view, err := c.store.View(c.recorded)
	if err != nil {
		c.log.Warn("index: compaction is put off", "collection", c.recorded.Name, "error", err)
		return
	}
	c.changed = map[string]bool{}
	if c.vacuum != nil {
		c.vacuum() // of a graph that has had its day
	}
	c.background.Go(func() { c.compact(view) })
}

// fewLeft is how many documents a compaction catches up with while writes wait.
const fewLeft = 256

// compact reads view, which it closes, catches up with the writes since, and
// puts the new branches in the old ones' place.
func (c *collection) compact(view *store.View) {
	started := time.Now()
	fresh := newBranches(c.recorded.Schema, view.Collection().Passages, c.options)
	err := errors.Join(fresh.rebuild(c.stopped, view, nil), view.Close())
	for err == nil {
		var ids map[string]bool
		if ids, view, err = c.behind(); ids == nil || err != nil {
			break
		}
		err = errors.Join(fresh.replay(c.stopped, ids, view.Get), view.Close())
	}
	c.writes.Lock()
	defer c.writes.Unlock()
	if err == nil {
		err = fresh.replay(c.stopped, c.changed, c.stored)
	}
	c.changed = nil
	if err != nil {
		// The old branches are as good; a later write tries again.
		if braid.CodeOf(err) != braid.Canceled {
			c.log.Warn("index: compaction failed", "collection", c.recorded.Name, "error", err)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone != nil {
		return
	}
	c.log.Debug("index: compacted", "collection", c.recorded.Name, "documents", len(fresh.ords),
		"ordinals_before", len(c.slots), "seconds", time.Since(started).Seconds())
	c.branches = fresh
	// What is saved is of the old ones: opened, it would be built anew again.
	c.unsaved = fresh.passages
	c.saveIfDue()
	c.vacuumIfDue() // of what was removed while the new ones were built
}

// behind returns the ids that were written since it was last called, and a view
// of what is stored; nil when they are few.
func (c *collection) behind() (map[string]bool, *store.View, error) {
	c.writes.Lock()
	defer c.writes.Unlock()
	if len(c.changed) <= fewLeft {
		return nil, nil, nil
	}
	view, err := c.store.View(c.recorded)
	ids := c.changed
	c.changed = map[string]bool{}
	return ids, view, err
}

// stored returns the document called id as it is stored now.
func (c *collection) stored(id string) (index.Entry, bool, error) {
	return c.store.Get(c.recorded.Number, id)
}

// replay brings branches to where get reads from: ids are those that may differ.
func (b *branches) replay(ctx context.Context, ids map[string]bool, get func(id string) (index.Entry, bool, error)) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(ids)), rebuildChunk) {
		if err := ctx.Err(); err != nil {
			return braid.Errorf(braid.CodeOf(err), "catch up: %w", err)
		}
		var entries []index.Entry
		for _, id := range some {
			entry, ok, err := get(id)
			switch {
			case err != nil:
				return err
			case ok:
				entries = append(entries, entry)
			default:
				b.remove(id)
			}
		}
		contents, err := b.analyze(entries)
		if err != nil {
			return err
		}
		b.put(entries, contents)
	}
	return nil
}
