package store

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Version identifies the state of one collection's documents. Who has built
// something from them can find out later what has changed since: see
// View.Changes.
type Version struct {
	// Sequence is that of the newest commit to the store as a whole.
	Sequence uint64
	// Count and Sum are the tally of the collection's documents.
	Count, Sum uint64
}

func (v Version) tally() tally { return tally{v.Count, v.Sum} }

// A change of a collection is, under its number and the commit's sequence:
//
//	before, after  tallies of the documents, 16 bytes each
//	count          uvarint
//	ids            each a uvarint length and its bytes
//	count          uvarint, left out for 0
//	payloads       of so many documents, the last of ids, before a change of it
//	               alone; each a uvarint length and its bytes
//
// Each begins where the one before ended, so that a gap shows.

func changeKey(number uint32, sequence uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{'l'}, number), sequence)
}

// change is what one commit does to a collection.
type change struct {
	before, after tally
	ids           []string // that are written or deleted
	payloads      []string // of the last of ids, whose payloads alone change: those before
}

func (c *change) append(b []byte) []byte {
	b = append(append(b, c.before.encode()...), c.after.encode()...)
	b = appendStrings(b, c.ids)
	if len(c.payloads) > 0 {
		b = appendStrings(b, c.payloads)
	}
	return b
}

func appendStrings(b []byte, all []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = appendBytes(b, s)
	}
	return b
}

func decodeChange(b []byte) (c change, err error) {
	d := decoder{rest: b}
	c.before.count, c.before.sum = d.uint64(), d.uint64()
	c.after.count, c.after.sum = d.uint64(), d.uint64()
	c.ids = d.strings()
	if len(d.rest) > 0 {
		c.payloads = d.strings()
		d.broken = d.broken || len(c.payloads) == 0 || len(c.payloads) > len(c.ids)
	}
	if d.broken || len(d.rest) > 0 {
		return change{}, braid.Errorf(braid.Corrupt, "the record of a change is damaged (%d bytes)", len(b))
	}
	return c, nil
}

func (d *decoder) strings() (all []string) {
	for n := d.uvarint(); n > 0 && !d.broken; n-- {
		all = append(all, string(d.bytes()))
	}
	return all
}

func (d *decoder) uint64() uint64 {
	b := d.take(8)
	if d.broken {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// Version returns the version that is viewed.
func (v *View) Version() Version {
	return Version{Sequence: v.sequence, Count: v.tally.count, Sum: v.tally.sum}
}

// Change is what has become of a document since a version.
type Change struct {
	// Patched says that its payload alone was changed, and Payload what that was
	// before: nil for none.
	Patched bool
	Payload json.RawMessage
}

// Changes returns what has become of all documents written or deleted since the
// given version, by their ids; known is false when that cannot be told, because the
// changes were forgotten or the version is not of this collection's past.
func (v *View) Changes(ctx context.Context, since Version) (changes map[string]Change, known bool, err error) {
	changes = map[string]Change{}
	at, number := since.tally(), v.collection.Number
	if since.Sequence > v.sequence {
		return nil, false, nil
	}
	err = scan(ctx, v.snapshot, changeKey(number, since.Sequence+1), changeKey(number+1, 0), func(_, value []byte) error {
		c, err := decodeChange(value)
		if err != nil {
			return err
		}
		if c.before != at {
			return errGap
		}
		at = c.after
		c.addTo(changes)
		return nil
	})
	switch {
	case errors.Is(err, errGap) || err == nil && at != v.tally:
		return nil, false, nil
	case err != nil:
		return nil, false, wrap(err, "data folder %q: read the changes of collection %q", v.dir, v.collection.Name)
	}
	return changes, true, nil
}

// addTo adds the change to what came before it.
func (c *change) addTo(changes map[string]Change) {
	written := len(c.ids) - len(c.payloads)
	for _, id := range c.ids[:written] {
		changes[id] = Change{}
	}
	for i, id := range c.ids[written:] {
		if _, known := changes[id]; known {
			continue // written anew, or patched and the first payload counts
		}
		patched := Change{Patched: true}
		if c.payloads[i] != "" {
			patched.Payload = json.RawMessage(c.payloads[i])
		}
		changes[id] = patched
	}
}

// errGap ends a look through changes of which one is missing.
var errGap = braid.Errorf(braid.NotFound, "changes are missing")

// Get returns the entry stored under id as of the view; ok is false when there
// is none.
func (v *View) Get(id string) (entry index.Entry, ok bool, err error) {
	record, closer, err := v.snapshot.Get(documentKey(v.collection.Number, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return index.Entry{}, false, nil
	}
	if err == nil {
		entry, err = decodeRecord(id, record, true)
		err = errors.Join(err, closer.Close())
	}
	if err != nil {
		return index.Entry{}, false, wrap(err, "data folder %q: read document %q", v.dir, id)
	}
	return entry, true, nil
}

// Forget lets go of the changes of a collection up to and including a version,
// for which nobody will ask again. It is done when the next commit is durable.
func (s *Store) Forget(c Collection, upTo Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.failure.Load(); failure != nil {
		return failure
	}
	if err := s.db.DeleteRange(changeKey(c.Number, 0), changeKey(c.Number, upTo.Sequence+1), pebble.NoSync); err != nil {
		return wrap(err, "data folder %q: forget changes of collection %q", s.dir, c.Name)
	}
	return nil
}
