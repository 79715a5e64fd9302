package store

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// View is one collection as it was at one moment, whatever is committed later.
// It keeps disk space in use until it is closed.
type View struct {
	dir        string
	snapshot   *pebble.Snapshot
	own        bool // whether the snapshot is closed with the view
	collection Collection
	sequence   uint64
	tally      tally
}

// View returns the collection as of the newest commit. The caller closes it,
// before the store.
func (s *Store) View(c Collection) (*View, error) {
	// Between commits, so that the tally belongs to the documents.
	s.mu.Lock()
	defer s.mu.Unlock()
	documents, err := s.documents(c.Number)
	if err != nil {
		return nil, wrap(err, "data folder %q: read collection %q", s.dir, c.Name)
	}
	c.Documents, c.Passages = int(documents.count), documents.passages
	v := &View{dir: s.dir, collection: c, sequence: s.sequence, tally: documents.tally}
	if v.snapshot = s.frozen.Load(); v.snapshot == nil {
		v.snapshot, v.own = s.db.NewSnapshot(), true
	}
	return v, nil
}

// Collection returns what is viewed, with the counts of its documents.
func (v *View) Collection() Collection { return v.collection }

// Close lets the view go.
func (v *View) Close() error {
	if !v.own {
		return nil
	}
	if err := v.snapshot.Close(); err != nil {
		return wrap(err, "data folder %q: close a view", v.dir)
	}
	return nil
}

// Scan calls yield with every entry of the collection by ascending id, and
// stops at its first error. It fails with braid.Corrupt when these are not the
// documents of the last commit.
func (v *View) Scan(ctx context.Context, yield func(index.Entry) error) error {
	return v.scan(ctx, func(key, value []byte) error {
		entry, err := decodeRecord(string(key[documentKeyPrefix:]), value, true)
		if err != nil {
			return err
		}
		return yield(entry)
	})
}

// Verify reads all documents as Scan does, but for what is in them.
func (v *View) Verify(ctx context.Context) error {
	return v.scan(ctx, func(_, _ []byte) error { return nil })
}

func (v *View) scan(ctx context.Context, yield func(key, value []byte) error) error {
	number := v.collection.Number
	var found tally
	err := scan(ctx, v.snapshot, documentKey(number, ""), documentKey(number+1, ""), func(key, value []byte) error {
		found.add(key, value)
		return yield(key, value)
	})
	if err == nil && found != v.tally {
		err = braid.Errorf(braid.Corrupt, "it holds %d documents that are not the %d of its last write: a file of the database is missing or lost its end", found.count, v.tally.count)
	}
	if err != nil {
		return wrap(err, "data folder %q: read collection %q", v.dir, v.collection.Name)
	}
	return nil
}
