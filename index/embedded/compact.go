package embedded

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/store"
)

// note records that id was written, for a compaction under way.
func (c *collection) note(id string) {
	if c.changed != nil {
		c.changed[id] = true
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
	c.background.Go(func() { c.compact(view) })
}

// compact reads view, which it closes, catches up with the writes since, and
// puts the new branches in the old ones' place.
func (c *collection) compact(view *store.View) {
	started := time.Now()
	fresh := newBranches(c.recorded.Schema)
	err := fresh.rebuild(c.stopped, view, nil)
	if closeErr := view.Close(); err == nil {
		err = closeErr
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
}

// stored returns the document called id as it is stored now.
func (c *collection) stored(id string) (index.Entry, bool, error) {
	return c.store.Get(c.recorded.Number, id)
}

// replay brings branches to where get reads from: ids are those that may differ.
func (b *branches) replay(ctx context.Context, ids map[string]bool, get func(id string) (index.Entry, bool, error)) error {
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if err := ctx.Err(); err != nil {
			return braid.Errorf(braid.CodeOf(err), "catch up: %w", err)
		}
		entry, ok, err := get(id)
		switch {
		case err != nil:
			return err
		case ok:
			contents, err := b.analyze([]index.Entry{entry})
			if err != nil {
				return err
			}
			b.put(entry, contents[0])
		default:
			b.remove(id)
		}
	}
	return nil
}
