package store

import (
	"encoding/json"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// SetProfile replaces the profile of a collection, durably; nil takes it away.
// Its version is one above that before, whether or not there was a profile.
func (s *Store) SetProfile(name string, profile json.RawMessage) (index.Profile, error) {
	var c Collection
	err := s.commit(mark{}, func(tx *transaction) error {
		value, ok, err := s.read(collectionKey(name))
		if err == nil && !ok {
			return braid.Errorf(braid.NotFound, "collection %.80q does not exist", name).In("name")
		}
		if err == nil {
			err = json.Unmarshal(value, &c)
		}
		if err != nil {
			return err
		}
		c.Profile = index.Profile{Version: c.Profile.Version + 1, JSON: profile}
		header, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := tx.set(collectionKey(name), header, &tx.root); err != nil {
			return err
		}
		return s.reserve.admit(int64(tx.batch.Len()))
	})
	return c.Profile, err
}
