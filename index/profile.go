package index

import (
	"encoding/json"

	"github.com/braid-search/braid"
)

// MaxProfileBytes bounds Profile.JSON.
const MaxProfileBytes = 64 << 10

// Profile is what a collection keeps for whoever searches it: a JSON object that
// an engine stores and does not read.
type Profile struct {
	// Version counts the changes of the collection's profile; 0 is none yet.
	Version uint64 `json:"version"`
	// JSON is nil when the collection has no profile. It is not to be changed.
	JSON json.RawMessage `json:"profile,omitempty"`
}

// ValidateProfile reports why profile cannot be kept, or nil. nil is valid.
func ValidateProfile(profile json.RawMessage) error {
	var object map[string]json.RawMessage
	switch {
	case profile == nil:
		return nil
	case len(profile) > MaxProfileBytes:
		return braid.Errorf(braid.TooLarge, "the profile is %d bytes, the limit is %d", len(profile), MaxProfileBytes)
	case json.Unmarshal(profile, &object) != nil || object == nil:
		return braid.Errorf(braid.InvalidArgument, "the profile is not a JSON object")
	}
	return nil
}
