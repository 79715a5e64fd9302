package embedded

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/store"
)

const (
	// remakeChunk is how many documents are remade and written at a time.
	remakeChunk = 64
	// remakeBytes is how much text is remade at a time, or one document.
	remakeBytes = 2 << 20
	// fewFollowed is how many documents are remade while writes wait for the swap.
	fewFollowed = 8
	// catchUps bounds how often a move runs after writes before it lets them wait.
	catchUps = 20
	// retirement is how long a collection that was replaced can be read by those who
	// have it: longer than a search takes.
	retirement = time.Minute
)

// move is a collection that is remade into a shadow.
type move struct {
	engine      *Engine
	name        string
	old, shadow *collection
	remake      index.Remake
	done        index.Reindexed
}

// retired is a collection that was replaced and is dropped by its timer.
type retired struct {
	*collection
	record store.Collection
	timer  *time.Timer
}

// Reindex implements index.Engine.
func (e *Engine) Reindex(ctx context.Context, name string, schema index.Schema, remake index.Remake, progress func(done, total int)) (index.Reindexed, error) {
	if err := schema.Validate(); err != nil {
		return index.Reindexed{}, err
	}
	m, err := e.startMove(ctx, name, schema)
	if err != nil {
		return index.Reindexed{}, err
	}
	m.remake = remake
	defer m.end()
	if err := m.copy(ctx, progress); err != nil {
		return m.done, err
	}
	if err := m.catchUp(ctx); err != nil {
		return m.done, err
	}
	return m.done, m.swap(ctx)
}

// startMove finds or makes the shadow of a collection, and has the collection
// remember what is written from now on.
func (e *Engine) startMove(ctx context.Context, name string, schema index.Schema) (*move, error) {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	old, err := e.find(name)
	if err != nil {
		return nil, err
	}
	if e.shadow(name) != nil {
		return nil, braid.Errorf(braid.Conflict, "collection %q is being reindexed: wait for it", name)
	}
	recorded, ok, err := e.store.Shadow(name)
	if err == nil && ok && (recorded.Replaced || recorded.Schema != schema) {
		err, ok = e.dropShadow(name), false
	}
	if err == nil && !ok {
		recorded, err = e.store.CreateShadow(old.recorded, schema)
	}
	if err != nil {
		return nil, err
	}
	recorded.Name = name // in messages; its place in the store goes by its number
	shadow := newCollection(e, recorded)
	if err := e.read(ctx, shadow, nil); err != nil {
		shadow.retire(err)
		return nil, err
	}
	shadow.verifyIfUnread()
	e.mu.Lock()
	e.shadows[name] = shadow
	e.mu.Unlock()
	old.writes.Lock()
	old.followed = map[string]bool{}
	old.writes.Unlock()
	return &move{engine: e, name: name, old: old, shadow: shadow}, nil
}

// shadow returns the shadow that is being filled, or nil.
func (e *Engine) shadow(name string) *collection {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.shadows[name]
}

// end lets the shadow go, unless it is none any more.
func (m *move) end() {
	m.old.writes.Lock()
	m.old.followed = nil
	m.old.writes.Unlock()
	m.engine.mu.Lock()
	mine := m.engine.shadows[m.name] == m.shadow
	if mine {
		delete(m.engine.shadows, m.name)
	}
	m.engine.mu.Unlock()
	if mine {
		m.shadow.close()
	}
}

// copy brings all documents into the shadow, by ascending ids, and takes out of it
// what is no more.
func (m *move) copy(ctx context.Context, progress func(done, total int)) error {
	ids := m.old.ids()
	done := 0
	for some := range slices.Chunk(ids, remakeChunk) {
		held, err := m.bring(ctx, some)
		if err != nil {
			return err
		}
		m.done.Kept += held
		if done += len(some); progress != nil {
			progress(done, len(ids))
		}
	}
	gone := slices.DeleteFunc(m.shadow.ids(), func(id string) bool {
		_, there := slices.BinarySearch(ids, id)
		return there
	})
	// They may have come since.
	return m.bringAll(ctx, gone)
}

// ids returns those of all documents, in order.
func (c *collection) ids() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.ords))
}

// catchUp brings what was written meanwhile, until that is little.
func (m *move) catchUp(ctx context.Context) error {
	for range catchUps {
		ids := m.old.takeFollowed(fewFollowed)
		if len(ids) == 0 {
			break
		}
		if err := m.bringAll(ctx, ids); err != nil {
			return err
		}
	}
	return nil
}

// takeFollowed returns the ids that were written since it was last called, unless
// they are few, which are left for the next call.
func (c *collection) takeFollowed(few int) []string {
	c.writes.Lock()
	defer c.writes.Unlock()
	if len(c.followed) <= few {
		return nil
	}
	ids := slices.Sorted(maps.Keys(c.followed))
	clear(c.followed)
	return ids
}

// swap brings the rest while writes wait, and puts the shadow in the collection's
// place.
func (m *move) swap(ctx context.Context) error {
	e := m.engine
	e.ddl.Lock()
	defer e.ddl.Unlock()
	switch now, err := e.find(m.name); {
	case err != nil:
		return err
	case now != m.old:
		return errNotFound(m.name) // dropped, and made again
	}
	m.old.writes.Lock()
	defer m.old.writes.Unlock()
	if err := m.bringAll(ctx, slices.Sorted(maps.Keys(m.old.followed))); err != nil {
		return err
	}
	if got, want := m.shadow.Info().Documents, m.old.Info().Documents; got != want {
		return braid.Errorf(braid.Internal, "reindex collection %q: %d documents were remade, want %d", m.name, got, want)
	}
	promoted, replaced, err := e.store.Promote(m.name)
	if err != nil {
		return err
	}
	m.shadow.profile.Store(&promoted.Profile)
	m.old.moved = braid.Errorf(braid.Unavailable, "collection %q has just been reindexed: send the write again", m.name)
	m.old.unsaved = 0 // nobody will read it
	r := &retired{collection: m.old, record: replaced}
	e.mu.Lock()
	e.collections[m.name] = m.shadow
	delete(e.shadows, m.name)
	e.retired[m.name] = r
	r.timer = time.AfterFunc(retirement, func() { e.endRetirement(m.name, r) })
	e.mu.Unlock()
	e.log.Info("index: reindexed", "collection", m.name, "documents", m.shadow.Info().Documents, "remade", m.done.Remade, "kept", m.done.Kept)
	return nil
}

func (m *move) bringAll(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, remakeChunk) {
		if _, err := m.bring(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// bring makes the shadow hold of the documents with these ids what the collection
// does, and returns how many it held.
func (m *move) bring(ctx context.Context, ids []string) (held int, err error) {
	same, err := m.current(ctx, ids)
	if err != nil {
		return 0, err
	}
	var entries []index.Entry
	var deletes []string
	size := 0
	flush := func() error {
		defer func() { entries, deletes, size = entries[:0], deletes[:0], 0 }()
		return m.write(ctx, entries, deletes)
	}
	for _, id := range ids {
		if same[id] {
			continue
		}
		found, err := m.old.Encoded(ctx, []string{id})
		if err != nil {
			return 0, err
		}
		if len(found) == 0 {
			deletes = append(deletes, id)
			continue
		}
		entries = append(entries, found[0])
		if size += len(found[0].Document.Text); size >= remakeBytes {
			if err := flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(same), flush()
}

// write remakes entries into the shadow and deletes others there.
func (m *move) write(ctx context.Context, entries []index.Entry, deletes []string) error {
	batch := index.Batch{Deletes: deletes}
	if len(entries) > 0 {
		var err error
		if batch.Upserts, err = m.remake(ctx, entries); err != nil {
			return err
		}
		if !slices.EqualFunc(batch.Upserts, entries, func(a, b index.Entry) bool { return a.Document.ID == b.Document.ID }) {
			return braid.Errorf(braid.Internal, "reindex collection %q: %d documents were remade into %d, or into others", m.name, len(entries), len(batch.Upserts))
		}
		m.done.Remade += len(entries)
	}
	_, err := m.shadow.Write(ctx, batch)
	return err
}

// current returns which of the documents the shadow has as the collection has them.
func (m *move) current(ctx context.Context, ids []string) (map[string]bool, error) {
	made, err := m.shadow.Get(ctx, ids)
	if err != nil || len(made) == 0 {
		return nil, err
	}
	stored, err := m.old.Get(ctx, ids)
	if err != nil {
		return nil, err
	}
	documents := make(map[string]braid.Document, len(stored))
	for _, s := range stored {
		documents[s.Document.ID] = s.Document
	}
	same := map[string]bool{}
	for _, s := range made {
		is, ok := documents[s.Document.ID]
		if ok && sameDocument(s.Document, is) {
			same[is.ID] = true
		}
	}
	return same, nil
}

func sameDocument(a, b braid.Document) bool {
	return a.Title == b.Title && a.Text == b.Text && a.Format == b.Format && bytes.Equal(a.Payload, b.Payload)
}

// endRetirement drops a collection that was replaced.
func (e *Engine) endRetirement(name string, r *retired) {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	e.mu.Lock()
	due := !e.closed && e.retired[name] == r
	e.mu.Unlock()
	if !due {
		return
	}
	if err := e.dropShadow(name); err != nil {
		e.log.Warn("index: what was replaced is dropped at the next start", "collection", name, "error", err)
	}
}

// dropShadow deletes the shadow of a collection, if it has one, in use or not. ddl
// is held.
func (e *Engine) dropShadow(name string) error {
	e.mu.Lock()
	shadow, r := e.shadows[name], e.retired[name]
	delete(e.shadows, name)
	delete(e.retired, name)
	e.mu.Unlock()
	if r != nil {
		r.timer.Stop()
		shadow = r.collection
	}
	if shadow != nil {
		shadow.retire(errNotFound(name))
	}
	record, ok, err := e.store.Shadow(name)
	if err != nil || !ok {
		return err
	}
	if err := e.store.Drop(record); err != nil {
		return err
	}
	removeSaved(e.store.Dir(), record.Number, nothing)
	return nil
}

// openShadow deals with a shadow that was found in the data folder: one that was
// replaced goes, one that is not whole waits for the next Reindex.
func (e *Engine) openShadow(of string, c store.Collection) {
	if !c.Replaced {
		e.log.Info("index: a reindexing was interrupted; run it again to go on", "collection", of, "documents", c.Documents)
		return
	}
	if err := e.dropShadow(of); err != nil {
		e.log.Warn("index: what was replaced takes up space until the next start", "collection", of, "error", err)
	}
}

// closeShadows lets all of them go.
func closeShadows(shadows map[string]*collection, replaced map[string]*retired) {
	for _, c := range shadows {
		c.close()
	}
	for _, r := range replaced {
		r.timer.Stop()
		r.close()
	}
}
