package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Keys of the database. A collection's number is 4 bytes, big-endian:
//
//	f                 folder format, 1 byte
//	s                 number of the newest commit, 8 bytes
//	x                 number of the newest collection, 4 bytes
//	c<name>           collection, JSON
//	n<number>         count of its documents, 8 bytes
//	d<number><id>     record of a document
const (
	keyFormat   = "f"
	keySequence = "s"
	keyNewest   = "x"
)

func collectionKey(name string) []byte { return append([]byte{'c'}, name...) }

func countKey(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'n'}, number) }

func documentKey(number uint32, id string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'d'}, number), id...)
}

const documentKeyPrefix = 5

// maxCommitBytes bounds one commit; pebble's own bound is 4 GiB.
const maxCommitBytes = 256 << 20

// Collection is what the store knows of a collection.
type Collection struct {
	Number  uint32       `json:"number"`
	Name    string       `json:"name"`
	Schema  index.Schema `json:"schema"`
	Created time.Time    `json:"created"`
	// Documents is the count at the last commit.
	Documents int `json:"-"`
}

// Collections returns all collections by ascending name.
func (s *Store) Collections() ([]Collection, error) {
	var all []Collection
	err := s.scan(context.Background(), []byte("c"), []byte("d"), func(key, value []byte) error {
		var c Collection
		if err := json.Unmarshal(value, &c); err != nil {
			return braid.Errorf(braid.Corrupt, "record of collection %q: %w", key[1:], err)
		}
		count, _, err := s.read(string(countKey(c.Number)))
		if err == nil && len(count) != 8 {
			err = braid.Errorf(braid.Corrupt, "collection %q has no count", c.Name)
		}
		if err != nil {
			return err
		}
		c.Documents = int(binary.BigEndian.Uint64(count))
		all = append(all, c)
		return nil
	})
	if err != nil {
		return nil, wrap(err, "data folder %q: read its collections", s.dir)
	}
	return all, nil
}

// Create records an empty collection under a name that is not taken.
func (s *Store) Create(name string, schema index.Schema, created time.Time) (Collection, error) {
	c := Collection{Name: name, Schema: schema, Created: created}
	err := s.commit(mark{}, func(b *pebble.Batch) error {
		value, _, err := s.read(keyNewest)
		if err != nil {
			return err
		}
		if len(value) == 4 {
			c.Number = binary.BigEndian.Uint32(value)
		}
		c.Number++
		header, err := json.Marshal(c)
		if err != nil {
			return err
		}
		return errors.Join(
			b.Set([]byte(keyNewest), binary.BigEndian.AppendUint32(nil, c.Number), nil),
			b.Set(countKey(c.Number), make([]byte, 8), nil),
			b.Set(collectionKey(name), header, nil),
			s.reserve.admit(int64(len(header))))
	})
	return c, err
}

// Drop deletes a collection with its documents. It needs no free space.
func (s *Store) Drop(c Collection) error {
	return s.commit(mark{}, func(b *pebble.Batch) error {
		return errors.Join(
			b.Delete(collectionKey(c.Name), nil),
			b.Delete(countKey(c.Number), nil),
			b.DeleteRange(documentKey(c.Number, ""), documentKey(c.Number+1, ""), nil))
	})
}

// Reclaim frees the disk space of a collection that was dropped. Without it,
// or when ctx ends, that happens by and by.
func (s *Store) Reclaim(ctx context.Context, c Collection) {
	if s.failure.Load() != nil {
		return
	}
	if err := s.db.Compact(ctx, documentKey(c.Number, ""), documentKey(c.Number+1, ""), false); err != nil {
		s.log.Warn("store: space of a dropped collection is freed later", "folder", s.dir, "collection", c.Name, "error", err)
	}
}

// Change is one commit to a collection.
type Change struct {
	Upserts []index.Entry
	Deletes []string
	// Documents is the collection's count afterwards.
	Documents int
}

// Commit makes change durable, all of it or, with an error, none of it. The
// entries are valid and each id occurs once. It fails with braid.StorageFull
// when there is no room, with braid.TooLarge when the change is over 256 MiB.
func (s *Store) Commit(number uint32, change Change) error {
	m := mark{collection: number, upserts: uint32(len(change.Upserts)), deletes: uint32(len(change.Deletes))}
	return s.commit(m, func(b *pebble.Batch) error {
		var record []byte
		for _, e := range change.Upserts {
			record = appendRecord(record[:0], e)
			if b.Len()+len(record) > maxCommitBytes {
				return braid.Errorf(braid.TooLarge, "batch of %d documents takes over %d MiB: split it", len(change.Upserts), maxCommitBytes>>20)
			}
			if err := b.Set(documentKey(number, e.Document.ID), record, nil); err != nil {
				return err
			}
		}
		for _, id := range change.Deletes {
			if err := b.Delete(documentKey(number, id), nil); err != nil {
				return err
			}
		}
		return errors.Join(
			b.Set(countKey(number), binary.BigEndian.AppendUint64(nil, uint64(change.Documents)), nil),
			s.reserve.admit(int64(b.Len())))
	})
}

// Get returns the entry stored under id; ok is false when there is none.
func (s *Store) Get(number uint32, id string) (entry index.Entry, ok bool, err error) {
	record, ok, err := s.read(string(documentKey(number, id)))
	if err == nil && ok {
		entry, err = decodeRecord(id, record)
	}
	if err != nil {
		return index.Entry{}, false, wrap(err, "data folder %q: read document %q", s.dir, id)
	}
	return entry, ok, nil
}

// Scan calls yield with every entry of a collection by ascending id, and stops
// at its first error.
func (s *Store) Scan(ctx context.Context, number uint32, yield func(index.Entry) error) error {
	err := s.scan(ctx, documentKey(number, ""), documentKey(number+1, ""), func(key, value []byte) error {
		entry, err := decodeRecord(string(key[documentKeyPrefix:]), value)
		if err != nil {
			return err
		}
		return yield(entry)
	})
	if err != nil {
		return wrap(err, "data folder %q: read its documents", s.dir)
	}
	return nil
}

// commit makes one durable batch out of what fill puts in; with an error of
// fill there is none. m describes it; its sequence is given here.
func (s *Store) commit(m mark, fill func(*pebble.Batch) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.failure.Load(); failure != nil {
		return failure
	}
	m.sequence = s.sequence + 1
	batch := s.db.NewBatch()
	defer batch.Close()
	err := errors.Join(fill(batch), batch.Set([]byte(keySequence), binary.BigEndian.AppendUint64(nil, m.sequence), nil))
	if err != nil {
		return wrap(err, "data folder %q: write", s.dir)
	}
	before := s.db.NewSnapshot()
	if err := s.db.Apply(batch, pebble.Sync); err != nil {
		s.fail("commit to", "its database", err)
	}
	if failure := s.failure.Load(); failure != nil {
		s.frozen.Store(before)
		return failure
	}
	if err := before.Close(); err != nil {
		s.log.Warn("store: release a snapshot", "folder", s.dir, "error", err)
	}
	s.sequence = m.sequence
	if err := s.mark.write(m); err != nil {
		s.log.Warn("store: the acknowledged mark falls behind", "file", s.mark.file.Name(), "error", err)
	}
	return nil
}

// reader is the database, or what it was before it failed.
func (s *Store) reader() pebble.Reader {
	if snapshot := s.frozen.Load(); snapshot != nil {
		return snapshot
	}
	return s.db
}

// read returns a copy of the value under key.
func (s *Store) read(key string) (value []byte, ok bool, err error) {
	shared, closer, err := s.reader().Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte(nil), shared...)
	return value, true, closer.Close()
}

// scan calls yield with the pairs from first to before end. They are valid
// until it returns.
func (s *Store) scan(ctx context.Context, first, end []byte, yield func(key, value []byte) error) error {
	it, err := s.reader().NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: first, UpperBound: end})
	if err != nil {
		return err
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := yield(it.Key(), value); err != nil {
			return err
		}
	}
	return it.Error()
}
