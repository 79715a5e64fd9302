package store

import (
	"context"
	"errors"
)

// errEnough ends a scan that has found what it was for.
var errEnough = errors.New("enough")

// IDs calls yield with the ids of a collection's documents that are above after,
// by ascending bytes, until it returns false.
func (s *Store) IDs(ctx context.Context, number uint32, after string, yield func(id string) bool) error {
	first := append(documentKey(number, after), 0) // the next one there could be
	err := s.scan(ctx, first, documentKey(number+1, ""), func(key, _ []byte) error {
		if !yield(string(key[documentKeyPrefix:])) {
			return errEnough
		}
		return nil
	})
	if err == nil || errors.Is(err, errEnough) {
		return nil
	}
	return wrap(err, "data folder %q: list documents", s.dir)
}
