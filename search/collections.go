package search

import (
	"context"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Create makes an empty collection for the loaded models, with the default settings.
// created is false when a collection of that name exists already, which is not an
// error unless its vectors are of other models than the loaded ones: that is a
// braid.Conflict.
func (s *Service) Create(ctx context.Context, name string) (info index.Info, created bool, err error) {
	return s.CreateWith(ctx, name, Settings{})
}

// CreateWith is Create with settings. A collection that exists keeps its own; where
// they are not those given, that is a braid.Conflict.
func (s *Service) CreateWith(ctx context.Context, name string, settings Settings) (info index.Info, created bool, err error) {
	size, err := s.passageSize(ctx, settings)
	if err != nil {
		return index.Info{}, false, err
	}
	if refused := s.mayOwn(name); refused != nil {
		// To find that it is there already is no more than to look at it.
		if info, err := s.Info(ctx, name); err == nil {
			return info, false, nil
		}
		return index.Info{}, false, refused
	}
	c, err := s.engine.Create(ctx, name, s.schema(size))
	if err == nil {
		return c.Info(), true, nil
	}
	if braid.CodeOf(err) != braid.Conflict {
		return index.Info{}, false, err
	}
	c, openErr := s.engine.Open(ctx, name)
	if openErr != nil {
		return index.Info{}, false, err
	}
	have, schema := c.Info().Schema, s.using(c).schema(size)
	for _, m := range []struct {
		role         string
		made, loaded index.ModelRef
	}{{"dense", have.Dense, schema.Dense}, {"sparse", have.Sparse, schema.Sparse}} {
		if m.made != m.loaded && m.made.Name != "" && m.loaded.Name != "" {
			return index.Info{}, false, braid.Errorf(braid.Conflict,
				"collection %q exists and was made for the %s model %q (%.12s), loaded is %q (%.12s): choose another name, delete it, or start with its model; "+reindexHint,
				name, m.role, m.made.Name, m.made.Digest, m.loaded.Name, m.loaded.Digest)
		}
	}
	if given := settings.Passages; given != nil && !given.are(have.Passages) {
		return index.Info{}, false, braid.Errorf(braid.Conflict,
			"collection %q exists with passages of %d tokens and an overlap of %d: choose another name or delete it; `braid reindex` gives it other settings", name, have.Passages.Tokens, have.Passages.Overlap).In("passages")
	}
	return c.Info(), false, nil
}

// Info describes one collection.
func (s *Service) Info(ctx context.Context, name string) (index.Info, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return index.Info{}, err
	}
	return s.visible(ctx, c)
}

// List describes every collection, by name.
func (s *Service) List(ctx context.Context) ([]index.Info, error) {
	infos, err := s.engine.List(ctx)
	if err != nil || s.scope.everything() {
		return infos, err
	}
	shown := []index.Info{}
	for _, info := range infos {
		if !s.scope.has(info.Name) {
			continue
		}
		c, err := s.engine.Open(ctx, info.Name)
		if braid.CodeOf(err) == braid.NotFound {
			continue // dropped meanwhile
		}
		if err == nil {
			info, err = s.visible(ctx, c)
		}
		if err != nil {
			return nil, err
		}
		shown = append(shown, info)
	}
	return shown, nil
}

// Drop deletes a collection with its documents.
func (s *Service) Drop(ctx context.Context, name string) error {
	if _, err := s.open(ctx, name); err != nil {
		return err
	}
	if err := s.mayOwn(name); err != nil {
		return err
	}
	return s.engine.Drop(ctx, name)
}
