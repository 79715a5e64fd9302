package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/store"
)

const (
	// fewestSaved is how many passages a collection has that is saved: to build
	// fewer takes less than a tenth of a second.
	fewestSaved = 1000
	// mostUnsaved is how many passages may be written to a small collection
	// before it is saved again, or a tenth of its passages: they are what has to
	// be built when the process is killed.
	mostUnsaved = 10_000
	// worthSaving is how many have been written to a small collection, or a
	// hundredth of its passages, that it is saved when it is closed.
	worthSaving = 500
	// nothing is a sequence that no saved form has.
	nothing = 0
)

// saveIfDue has the branches saved soon if much was written since they were. A
// vacuum is not disturbed: a save would wait for it, and writes for the save.
// writes is held, or nobody uses the collection yet.
func (c *collection) saveIfDue() {
	if c.unsaved > max(mostUnsaved, c.passages/10) && !c.saving && c.vacuum == nil {
		c.saving = true
		c.background.Go(c.saveInBackground)
	}
}

// saveInBackground saves once, between writes.
func (c *collection) saveInBackground() {
	c.writes.Lock()
	defer c.writes.Unlock()
	c.saving = false
	if c.gone == nil {
		c.save()
		c.vacuumIfDue()
	}
}

// save writes the branches to the data folder, so that the next opening need
// not build them. writes is held, so that writes wait; searches go on. When it
// fails nothing is lost but time.
func (c *collection) save() {
	if c.passages < fewestSaved {
		return
	}
	started := time.Now()
	version, size, err := c.saveNow()
	if err != nil {
		c.log.Warn("index: not saved, the next start will take longer", "collection", c.recorded.Name, "error", err)
		return
	}
	c.unsaved = 0
	removeSaved(c.dir, c.recorded.Number, version.Sequence)
	if err := c.store.Forget(c.recorded, version); err != nil {
		c.log.Warn("index: changes are kept that nobody needs", "collection", c.recorded.Name, "error", err)
	}
	c.log.Debug("index: saved", "collection", c.recorded.Name, "documents", len(c.ords), "bytes", size, "seconds", time.Since(started).Seconds())
}

func (c *collection) saveNow() (version store.Version, size int64, err error) {
	view, err := c.store.View(c.recorded)
	if err != nil {
		return store.Version{}, 0, err
	}
	version = view.Version()
	if err := view.Close(); err != nil {
		return store.Version{}, 0, err
	}
	if err := c.store.Admit(c.memoryBytes()); err != nil {
		return store.Version{}, 0, err
	}
	size, err = c.branches.save(c.dir, c.recorded.Number, version)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		err = braid.Errorf(braid.StorageFull, "%w: free some space on its disk", err)
	}
	return version, size, err
}

// open makes the branches of a collection that nobody uses yet: what is saved of
// them and what has changed since, or else all from the records.
func (c *collection) open(ctx context.Context, view *store.View, progress func(Progress)) error {
	sequences, err := saved(c.dir, c.recorded.Number)
	if err != nil {
		c.log.Warn("index: cannot look for what is saved", "collection", c.recorded.Name, "error", err)
	}
	slices.Sort(sequences)
	defer func() {
		if c.outdated() {
			c.startCompaction()
		}
		c.vacuumIfDue()
	}()
	for _, sequence := range slices.Backward(sequences) {
		switch ok, err := c.openSaved(ctx, sequence, view); {
		case ctx.Err() != nil:
			return braid.Errorf(braid.CodeOf(ctx.Err()), "open collection %q: %w", c.recorded.Name, ctx.Err())
		case err != nil:
			c.log.Warn("index: what is saved cannot be used, the collection is built from its records", "collection", c.recorded.Name, "error", err)
		case ok:
			c.unread = true
			if progress != nil {
				progress(Progress{Collection: c.recorded.Name, Done: len(c.ords), Total: c.recorded.Documents})
			}
			return nil
		}
	}
	c.branches = newBranches(c.recorded.Schema, c.recorded.Passages, c.options)
	if err := c.rebuild(ctx, view, progress); err != nil {
		return err
	}
	c.unsaved = c.passages
	c.saveIfDue()
	return nil
}

// verifyIfUnread has the records of a collection that was opened without them
// read in the background.
func (c *collection) verifyIfUnread() {
	if c.unread {
		c.background.Go(c.verify)
	}
}

// verify reads the records of a collection that was opened without them. If they
// are not whole the collection is of no more use: searches would find documents
// that cannot be read.
func (c *collection) verify() {
	view, err := c.store.View(c.recorded)
	if err == nil {
		err = errors.Join(view.Verify(c.stopped), view.Close())
	}
	if err == nil || c.stopped.Err() != nil {
		return
	}
	c.log.Error("index: collection is damaged", "collection", c.recorded.Name, "error", err)
	c.writes.Lock()
	defer c.writes.Unlock()
	if c.gone == nil {
		c.retireLocked(braid.Errorf(braid.Corrupt, "%w", err))
	}
}

// openSaved reports false when what is saved is not of this collection's past,
// or of one so long ago that building is faster.
func (c *collection) openSaved(ctx context.Context, sequence uint64, view *store.View) (ok bool, err error) {
	fresh := newBranches(c.recorded.Schema, c.recorded.Passages, c.options)
	version, older, err := fresh.load(ctx, savedPath(c.dir, c.recorded.Number, sequence))
	if err != nil {
		return false, err
	}
	written, patched, known, err := fresh.catchUp(ctx, view, version)
	if err != nil || !known {
		return false, err
	}
	if got, want := len(fresh.ords), view.Collection().Documents; got != want {
		return false, braid.Errorf(braid.Corrupt, "it has %d documents with its changes, want %d", got, want)
	}
	if fresh.dense != nil && fresh.dense.Unwanted() {
		return false, nil
	}
	c.branches, c.unsaved = fresh, written+patched
	if older {
		c.unsaved = c.passages // what it lacks would be made anew at each start
	}
	c.log.Debug("index: opened from what is saved", "collection", c.recorded.Name, "documents", len(fresh.ords), "older_form", older, "patched_since", patched, "changed_since", written+patched)
	c.saveIfDue()
	return true, nil
}

// catchUp brings branches of a past version to what is viewed. It counts the
// documents that were written or deleted since, and those whose payloads alone
// were changed. It reports false when they are not known, or so many that building
// is faster.
func (b *branches) catchUp(ctx context.Context, view *store.View, past store.Version) (written, patched int, ok bool, err error) {
	changes, known, err := view.Changes(ctx, past)
	if err != nil || !known {
		return 0, 0, false, err
	}
	ids, payloads := map[string]bool{}, map[string]json.RawMessage{}
	for id, change := range changes {
		if change.Patched {
			payloads[id] = change.Payload
		} else {
			ids[id] = true
		}
	}
	if len(ids) > view.Collection().Documents/2 {
		return 0, 0, false, nil
	}
	if err := b.replayPatches(ctx, payloads, view.Get); err != nil {
		return 0, 0, false, err
	}
	return len(ids), len(payloads), true, b.replay(ctx, ids, view.Get)
}
