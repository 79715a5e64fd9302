package store

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// A shadow is a collection beside another, under its name with shadowPrefix, which
// no name begins with. It is about to take the other's place or, when it is
// Replaced, has left it.
const shadowPrefix = "~"

// ShadowOf returns the name of the collection that c is a shadow of; ok is false
// when it is none.
func (c Collection) ShadowOf() (name string, ok bool) { return strings.CutPrefix(c.Name, shadowPrefix) }

// CreateShadow records an empty shadow of a collection that has none.
func (s *Store) CreateShadow(of Collection, schema index.Schema) (Collection, error) {
	return s.Create(shadowPrefix+of.Name, schema, of.Created)
}

// Shadow returns the shadow of the collection called name; ok is false when there
// is none.
func (s *Store) Shadow(name string) (c Collection, ok bool, err error) {
	all, err := s.Collections()
	for _, c := range all {
		if of, ok := c.ShadowOf(); ok && of == name {
			return c, true, err
		}
	}
	return Collection{}, false, err
}

// Promote puts the shadow of the collection called name in its place, in one
// commit. It gets the name, the time of creation and the profile; what was there
// becomes a shadow that is Replaced. It returns both as they are then.
func (s *Store) Promote(name string) (promoted, replaced Collection, err error) {
	err = s.commit(mark{}, func(tx *transaction) error {
		if err := errors.Join(s.readCollection(name, &replaced), s.readCollection(shadowPrefix+name, &promoted)); err != nil {
			return err
		}
		promoted.Name, promoted.Created, promoted.Profile = name, replaced.Created, replaced.Profile
		replaced.Name, replaced.Replaced = shadowPrefix+name, true
		return errors.Join(tx.setCollection(promoted), tx.setCollection(replaced))
	})
	return promoted, replaced, err
}

func (s *Store) readCollection(name string, c *Collection) error {
	value, ok, err := s.read(collectionKey(name))
	switch {
	case err != nil:
		return err
	case !ok:
		return braid.Errorf(braid.NotFound, "collection %q is not there", name)
	}
	if err := json.Unmarshal(value, c); err != nil {
		return braid.Errorf(braid.Corrupt, "record of collection %q: %w", name, err)
	}
	return nil
}

func (tx *transaction) setCollection(c Collection) error {
	header, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.set(collectionKey(c.Name), header, &tx.root)
}
