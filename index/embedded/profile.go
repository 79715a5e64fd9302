package embedded

import (
	"context"
	"encoding/json"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Profile implements index.Collection.
func (c *collection) Profile() index.Profile { return *c.profile.Load() }

// SetProfile implements index.Collection.
func (c *collection) SetProfile(ctx context.Context, profile json.RawMessage) (index.Profile, error) {
	if err := index.ValidateProfile(profile); err != nil {
		return index.Profile{}, err
	}
	c.writes.Lock()
	defer c.writes.Unlock()
	if err := ctx.Err(); err != nil {
		return index.Profile{}, braid.Errorf(braid.CodeOf(err), "set the profile of collection %q: %w", c.recorded.Name, err)
	}
	if _, err := c.now(); err != nil {
		return index.Profile{}, err
	}
	if c.moved != nil {
		return index.Profile{}, c.moved
	}
	kept, err := c.store.SetProfile(c.recorded.Name, profile)
	if err != nil {
		return index.Profile{}, err
	}
	c.profile.Store(&kept)
	return kept, nil
}
