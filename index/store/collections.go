package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Keys of the database. A collection's number is 4 bytes, big-endian:
//
//	f                 folder format, 1 byte
//	s                 state: number of the newest commit, tally of all c and n
//	x                 number of the newest collection, 4 bytes
//	c<name>           collection, JSON; see shadow.go for names that begin with ~
//	n<number>         tally of its documents
//	p<number>         how many passages they have, 8 bytes, if not one each
//	d<number><id>     record of a document
//	l<number><sequence>  what a commit changed; see changes.go
const (
	keyFormat = "f"
	keyState  = "s"
	keyNewest = "x"
)

func collectionKey(name string) []byte { return append([]byte{'c'}, name...) }

func tallyKey(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'n'}, number) }

func passagesKey(number uint32) []byte { return binary.BigEndian.AppendUint32([]byte{'p'}, number) }

func documentKey(number uint32, id string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{'d'}, number), id...)
}

const documentKeyPrefix = 5

// Collection is what the store knows of a collection.
type Collection struct {
	Number  uint32       `json:"number"`
	Name    string       `json:"name"`
	Schema  index.Schema `json:"schema"`
	Created time.Time    `json:"created"`
	// Profile is as of when the collection was read.
	Profile index.Profile `json:"profile,omitzero"`
	// Replaced says that the collection is of no more use; see ShadowOf.
	Replaced bool `json:"replaced,omitempty"`
	// Documents and Passages are the counts at the last commit.
	Documents int `json:"-"`
	Passages  int `json:"-"`
}

// Collections returns all collections by ascending name.
func (s *Store) Collections() ([]Collection, error) {
	var all []Collection
	err := s.scan(context.Background(), []byte("c"), []byte("d"), func(key, value []byte) error {
		var c Collection
		if err := json.Unmarshal(value, &c); err != nil {
			return braid.Errorf(braid.Corrupt, "record of collection %q: %w", key[1:], err)
		}
		documents, err := s.documents(c.Number)
		c.Documents, c.Passages = int(documents.count), documents.passages
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, wrap(err, "data folder %q: read its collections", s.dir)
	}
	return all, nil
}

// tally returns the tally of a collection's documents.
func (s *Store) tally(number uint32) (tally, error) {
	value, _, err := s.read(tallyKey(number))
	if err != nil {
		return tally{}, err
	}
	return decodeTally(value)
}

// counts are of the documents of a collection.
type counts struct {
	tally
	passages int
}

func (c *counts) add(key, value []byte) {
	c.tally.add(key, value)
	c.passages += passagesIn(value)
}

func (c *counts) remove(key, value []byte) {
	c.tally.remove(key, value)
	c.passages -= passagesIn(value)
}

// documents counts those of a collection, as of the last commit.
func (s *Store) documents(number uint32) (counts, error) {
	documents, err := s.tally(number)
	if err != nil {
		return counts{}, err
	}
	value, ok, err := s.read(passagesKey(number))
	switch {
	case err != nil:
		return counts{}, err
	case !ok:
		return counts{documents, int(documents.count)}, nil
	case len(value) != 8:
		return counts{}, braid.Errorf(braid.Corrupt, "a number of passages has %d bytes, want 8", len(value))
	}
	return counts{documents, int(binary.BigEndian.Uint64(value))}, nil
}

// setPassages records how many passages the documents have, unless it is one each
// as it was before.
func (tx *transaction) setPassages(number uint32, before, after counts) error {
	one := func(c counts) bool { return c.passages == int(c.count) }
	switch {
	case !one(after):
		return tx.batch.Set(passagesKey(number), binary.BigEndian.AppendUint64(nil, uint64(after.passages)), nil)
	case !one(before):
		return tx.batch.Delete(passagesKey(number), nil)
	}
	return nil
}

// Create records an empty collection under a name that is not taken.
func (s *Store) Create(name string, schema index.Schema, created time.Time) (Collection, error) {
	c := Collection{Name: name, Schema: schema, Created: created}
	err := s.commit(mark{}, func(tx *transaction) error {
		value, _, err := s.read([]byte(keyNewest))
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
			tx.batch.Set([]byte(keyNewest), binary.BigEndian.AppendUint32(nil, c.Number), nil),
			tx.set(collectionKey(name), header, &tx.root),
			tx.set(tallyKey(c.Number), tally{}.encode(), &tx.root),
			s.reserve.admit(int64(tx.batch.Len())))
	})
	return c, err
}

// Drop deletes a collection with its documents. It needs no free space beyond
// the reserve.
func (s *Store) Drop(c Collection) error {
	return s.commit(mark{}, func(tx *transaction) error {
		return errors.Join(
			tx.delete(collectionKey(c.Name), &tx.root),
			tx.delete(tallyKey(c.Number), &tx.root),
			tx.batch.Delete(passagesKey(c.Number), nil),
			tx.batch.DeleteRange(documentKey(c.Number, ""), documentKey(c.Number+1, ""), nil),
			tx.batch.DeleteRange(changeKey(c.Number, 0), changeKey(c.Number+1, 0), nil),
			s.reserve.admitDrop())
	})
}

// reclaimPatience bounds Reclaim, which on a full disk waits for space.
const reclaimPatience = 10 * time.Second

// Reclaim frees the disk space of a collection that was dropped. Without it,
// or when it is cut short, that happens by and by.
func (s *Store) Reclaim(ctx context.Context, c Collection) {
	if s.failure.Load() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reclaimPatience)
	defer cancel()
	if err := s.db.Compact(ctx, documentKey(c.Number, ""), documentKey(c.Number+1, ""), false); err != nil {
		s.log.Warn("store: space of a dropped collection is freed later", "folder", s.dir, "collection", c.Name, "error", err)
	}
}

// Patch is a document whose payload alone changes.
type Patch struct {
	Entry   index.Entry     // as it will be stored
	Payload json.RawMessage // that is stored now
}

// Commit stores upserts and patches and deletes documents of the collection with
// the given number, all of it durably or, with an error, none. The entries are
// valid and each id occurs once. It fails with braid.StorageFull when there is no
// room, with braid.TooLarge when the records take over 256 MiB.
func (s *Store) Commit(number uint32, upserts []index.Entry, deletes []string, patches ...Patch) error {
	m := mark{collection: number, upserts: uint32(len(upserts) + len(patches)), deletes: uint32(len(deletes))}
	return s.commit(m, func(tx *transaction) error {
		before, err := s.documents(number)
		if err != nil {
			return err
		}
		documents := before
		logged := change{before: before.tally, ids: slices.Clone(deletes)}
		var record []byte
		set := func(e index.Entry) error {
			logged.ids = append(logged.ids, e.Document.ID)
			record = appendRecord(record[:0], e)
			return tx.set(documentKey(number, e.Document.ID), record, &documents)
		}
		for _, e := range upserts {
			if err := set(e); err != nil {
				return err
			}
		}
		for _, p := range patches {
			logged.payloads = append(logged.payloads, string(p.Payload))
			if err := set(p.Entry); err != nil {
				return err
			}
		}
		for _, id := range deletes {
			if err := tx.delete(documentKey(number, id), &documents); err != nil {
				return err
			}
		}
		logged.after = documents.tally
		return errors.Join(
			tx.batch.Set(changeKey(number, s.sequence+1), logged.append(nil), nil),
			tx.set(tallyKey(number), documents.encode(), &tx.root),
			tx.setPassages(number, before, documents),
			s.reserve.admit(int64(tx.batch.Len())))
	})
}

// Get returns the entry stored under id; ok is false when there is none.
func (s *Store) Get(number uint32, id string) (entry index.Entry, ok bool, err error) {
	return s.get(number, id, true)
}

// GetStored is Get without the vectors.
func (s *Store) GetStored(number uint32, id string) (stored index.Stored, ok bool, err error) {
	entry, ok, err := s.get(number, id, false)
	return entry.Stored(), ok, err
}

func (s *Store) get(number uint32, id string, vectors bool) (entry index.Entry, ok bool, err error) {
	record, ok, err := s.read(documentKey(number, id))
	if err == nil && ok {
		entry, err = decodeRecord(id, record, vectors)
	}
	if err != nil {
		return index.Entry{}, false, wrap(err, "data folder %q: read document %q", s.dir, id)
	}
	return entry, ok, nil
}
