package search

import (
	"context"
	"encoding/json"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/strictjson"
)

// Profile holds the search defaults of a collection: what a request does not
// say is taken from here, and what is not here either from the program. Each
// field is taken or left as a whole, Fusion too. A profile speaks for hybrid
// queries, except for Candidates and Syntax, which every mode has.
type Profile struct {
	Candidates   *int     `json:"candidates,omitempty"`
	Rerank       *bool    `json:"rerank,omitempty"`
	RerankDepth  *int     `json:"rerank_depth,omitempty"`
	RerankWeight *float64 `json:"rerank_weight,omitempty"`
	RerankWindow *int     `json:"rerank_window,omitempty"`
	Fusion       *Fusion  `json:"fusion,omitempty"`
	Routing      *bool    `json:"routing,omitempty"`
	Syntax       *bool    `json:"syntax,omitempty"`
	// Calibration gives answers their no-answer probability; see Calibration.
	Calibration *Calibration `json:"calibration,omitempty"`
}

// ParseProfile reads a profile from JSON that came from outside. Unknown fields
// and values that no request may have are braid.InvalidArgument.
func ParseProfile(data []byte) (Profile, error) {
	var p Profile
	if err := strictjson.Decode(data, &p); err != nil {
		return Profile{}, err
	}
	return p, p.Validate()
}

// Validate reports why no request may have the profile's values, or nil.
func (p Profile) Validate() error {
	if err := p.Calibration.validate(); err != nil {
		return err
	}
	return p.complete(Request{Query: "any"}).validate()
}

// complete returns the request with what it does not say filled in.
func (p Profile) complete(r Request) Request {
	if r.Candidates == nil {
		r.Candidates = p.Candidates
	}
	if r.Syntax == nil {
		r.Syntax = p.Syntax
	}
	if r.Mode != "" && r.Mode != ModeHybrid {
		return r
	}
	r.calibration = p.Calibration
	if r.Rerank == nil {
		r.Rerank = p.Rerank
	}
	if r.RerankDepth == nil {
		r.RerankDepth = p.RerankDepth
	}
	if r.RerankWindow == nil {
		r.RerankWindow = p.RerankWindow
	}
	if r.RerankWeight == nil {
		r.RerankWeight = p.RerankWeight
	}
	if r.Fusion == nil {
		r.Fusion = p.Fusion
	}
	if r.Routing == nil {
		r.Routing = p.Routing
	}
	return r
}

// VersionedProfile is a collection's profile with the number of its version.
// Versions begin at 1 and are not used twice; 0 means that there never was one.
type VersionedProfile struct {
	Version uint64  `json:"version"`
	Profile Profile `json:"profile"`
}

// Profile returns the search defaults of the collection called name.
func (s *Service) Profile(ctx context.Context, name string) (VersionedProfile, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return VersionedProfile{}, err
	}
	return parseKept(name, c.Profile())
}

// SetProfile makes p the search defaults of the collection called name, from the
// next query on and durably. It fails with braid.InvalidArgument when p is not
// valid. The caller must be one who may own the collection, since it changes what
// others find.
func (s *Service) SetProfile(ctx context.Context, name string, p Profile) (VersionedProfile, error) {
	if err := p.Validate(); err != nil {
		return VersionedProfile{}, err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return VersionedProfile{}, err
	}
	return s.keepProfile(ctx, name, data)
}

// ClearProfile leaves the collection called name without defaults of its own.
func (s *Service) ClearProfile(ctx context.Context, name string) (VersionedProfile, error) {
	return s.keepProfile(ctx, name, nil)
}

func (s *Service) keepProfile(ctx context.Context, name string, data json.RawMessage) (VersionedProfile, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return VersionedProfile{}, err
	}
	if err := s.mayOwn(name); err != nil {
		return VersionedProfile{}, err
	}
	kept, err := c.SetProfile(ctx, data)
	if err != nil {
		return VersionedProfile{}, err
	}
	return parseKept(name, kept)
}

// parseKept reads what is kept. A profile that this version cannot read was
// written by a later one: guessing at it would change the answers silently.
func parseKept(name string, kept index.Profile) (VersionedProfile, error) {
	v := VersionedProfile{Version: kept.Version}
	if kept.JSON == nil {
		return v, nil
	}
	var err error
	if v.Profile, err = ParseProfile(kept.JSON); err != nil {
		return VersionedProfile{}, braid.Errorf(braid.Conflict, "the profile of collection %q (version %d) is not one that this version of the program reads: %s: set it anew or clear it", name, kept.Version, braid.Public(err).Message)
	}
	return v, nil
}

// withProfile returns the request completed from the profile of the collection
// called name, and the profile's version; 0 when the collection keeps none.
func withProfile(name string, kept index.Profile, r Request) (Request, uint64, error) {
	if kept.JSON == nil {
		return r, 0, nil
	}
	v, err := parseKept(name, kept)
	return v.Profile.complete(r), v.Version, err
}
