package store

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
)

// tally is the count of a set of key-value pairs and the sum of their hashes.
// It is stored with the set and changed in the same commits, which shows a set
// that is not what the last commit left: pebble's checksums vouch for each
// block of its files, not for their being all there.
type tally struct{ count, sum uint64 }

const tallyBytes = 16

func (t *tally) add(key, value []byte) {
	t.count++
	t.sum += hashPair(key, value)
}

func (t *tally) remove(key, value []byte) {
	t.count--
	t.sum -= hashPair(key, value)
}

func hashPair(key, value []byte) uint64 {
	var h xxhash.Digest
	h.Reset()
	_, _ = h.Write(key)
	_, _ = h.Write(value)
	return h.Sum64()
}

func (t tally) encode() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, t.count), t.sum)
}

func decodeTally(b []byte) (tally, error) {
	if len(b) != tallyBytes {
		return tally{}, braid.Errorf(braid.Corrupt, "a count has %d bytes, want %d", len(b), tallyBytes)
	}
	return tally{count: binary.BigEndian.Uint64(b), sum: binary.BigEndian.Uint64(b[8:])}, nil
}

// account keeps count of a set of key-value pairs.
type account interface {
	add(key, value []byte)
	remove(key, value []byte)
}

// maxCommitBytes bounds one commit; pebble's own bound is 4 GiB.
const maxCommitBytes = 256 << 20

// transaction is a commit being put together. Each key is touched once.
type transaction struct {
	store *Store
	batch *pebble.Batch
	root  tally // of all collections and their tallies
}

// set stores value under key and keeps in account what that changes.
func (tx *transaction) set(key, value []byte, account account) error {
	if tx.batch.Len()+len(value) > maxCommitBytes {
		return braid.Errorf(braid.TooLarge, "the batch takes over %d MiB: split it", maxCommitBytes>>20)
	}
	if err := tx.discount(key, account); err != nil {
		return err
	}
	account.add(key, value)
	return tx.batch.Set(key, value, nil)
}

// delete removes key.
func (tx *transaction) delete(key []byte, account account) error {
	if err := tx.discount(key, account); err != nil {
		return err
	}
	return tx.batch.Delete(key, nil)
}

// discount takes what is stored under key out of account.
func (tx *transaction) discount(key []byte, account account) error {
	value, ok, err := tx.store.read(key)
	if err == nil && ok {
		account.remove(key, value)
	}
	return err
}

// commit makes one durable batch out of what fill puts in; with an error of
// fill there is none. m describes it; its sequence is given here.
func (s *Store) commit(m mark, fill func(*transaction) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.failure.Load(); failure != nil {
		return failure
	}
	m.sequence = s.sequence + 1
	tx := &transaction{store: s, batch: s.db.NewBatch(), root: s.root}
	defer func() { _ = tx.batch.Close() }() // gives its memory back
	if err := fill(tx); err != nil {
		return wrap(err, "data folder %q: write", s.dir)
	}
	if err := tx.batch.Set([]byte(keyState), encodeState(m.sequence, tx.root), nil); err != nil {
		return wrap(err, "data folder %q: write", s.dir)
	}
	if err := s.apply(tx.batch); err != nil {
		return err
	}
	s.sequence, s.root = m.sequence, tx.root
	if err := s.mark.write(m); err != nil {
		s.log.Warn("store: the acknowledged mark falls behind", "file", s.mark.path, "error", err)
	}
	return nil
}

// apply makes batch durable. When that fails, reading goes on from the state
// before it.
func (s *Store) apply(batch *pebble.Batch) error {
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
	return nil
}

func encodeState(sequence uint64, root tally) []byte {
	return append(binary.BigEndian.AppendUint64(nil, sequence), root.encode()...)
}

// readState reads the state and compares it with what it vouches for.
func (s *Store) readState() error {
	value, _, err := s.read([]byte(keyState))
	if err != nil {
		return err
	}
	if len(value) != 8+tallyBytes {
		return braid.Errorf(braid.Corrupt, "its state has %d bytes, want %d", len(value), 8+tallyBytes)
	}
	s.sequence = binary.BigEndian.Uint64(value)
	if s.root, err = decodeTally(value[8:]); err != nil {
		return err
	}
	var found tally
	for _, kind := range []byte{'c', 'n'} {
		err := s.scan(context.Background(), []byte{kind}, []byte{kind + 1}, func(key, value []byte) error {
			found.add(key, value)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if found != s.root {
		return braid.Errorf(braid.Corrupt, "its collections are not those of its last write: a file of the database is missing or lost its end")
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
func (s *Store) read(key []byte) (value []byte, ok bool, err error) {
	shared, closer, err := s.reader().Get(key)
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
	return scan(ctx, s.reader(), first, end, yield)
}

func scan(ctx context.Context, reader pebble.Reader, first, end []byte, yield func(key, value []byte) error) (err error) {
	it, err := reader.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: first, UpperBound: end})
	if err != nil {
		return err
	}
	defer func() {
		// Close tells what ended the iteration, too.
		if closeErr := it.Close(); err == nil {
			err = closeErr
		}
	}()
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
	return nil
}
