package apikeys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
)

// Key is what is known of an API key.
type Key struct {
	// Name is what its holder is called in messages and logs.
	Name string
	// Filter is what documents have to pass to be there for the holder; the zero
	// Filter is no limit.
	Filter braid.Filter
	// Collections are those that are there for the holder; nil is all.
	Collections []string
	ReadOnly    bool
}

// Limited reports whether some documents are not there for the holder.
func (k Key) Limited() bool { return k.Collections != nil || !k.Filter.Empty() }

// Set is the keys of a server. It does not change and may be shared.
type Set struct{ bySum map[[sha256.Size]byte]Key }

// MaxNameBytes bounds a key's name.
const MaxNameBytes = 64

// file is a set of keys as it is written.
type file struct {
	Keys []json.RawMessage `json:"keys"` // entries, each read strictly
}

type entry struct {
	Name        string          `json:"name"`
	SHA256      string          `json:"sha256"`
	Filter      json.RawMessage `json:"filter"`
	Collections json.RawMessage `json:"collections"`
	ReadOnly    bool            `json:"read_only"`
}

// Parse reads a set of keys. Every fault is braid.InvalidArgument and names the
// key. A limit that is there and says nothing (a null, an empty filter, a list of
// no collections) is a fault: a key would have no limit by mistake.
func Parse(data []byte) (*Set, error) {
	var f file
	if err := strictjson.Decode(data, &f); err != nil {
		return nil, err
	}
	if len(f.Keys) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, `there are no keys: want {"keys": [{"name": "…", "sha256": "…"}]}`).In("keys")
	}
	set := &Set{bySum: map[[sha256.Size]byte]Key{}}
	names := map[string]bool{}
	for i, raw := range f.Keys {
		var e entry
		var sum [sha256.Size]byte
		var key Key
		err := strictjson.Decode(raw, &e)
		if err == nil {
			sum, key, err = e.key()
		}
		switch {
		case err != nil:
		case names[key.Name]:
			err = braid.Errorf(braid.InvalidArgument, "name %q is used twice", key.Name).In("name")
		default:
			if other, twice := set.bySum[sum]; twice {
				err = braid.Errorf(braid.InvalidArgument, "it is the same key as %q", other.Name).In("sha256")
			}
		}
		if err != nil {
			return nil, at(i, e.Name, err)
		}
		names[key.Name] = true
		set.bySum[sum] = key
	}
	return set, nil
}

func at(i int, name string, err error) error {
	var e *braid.Error
	if !errors.As(err, &e) {
		return err
	}
	placed := braid.Errorf(e.Code, "keys[%d] (%q): %w", i, name, err)
	return placed.In(fmt.Sprintf("keys[%d].%s", i, e.Field))
}

func (e entry) key() (sum [sha256.Size]byte, key Key, err error) {
	key = Key{Name: e.Name, ReadOnly: e.ReadOnly}
	if err := validateName(e.Name); err != nil {
		return sum, key, err
	}
	raw, err := hex.DecodeString(e.SHA256)
	if err != nil || len(raw) != len(sum) {
		return sum, key, braid.Errorf(braid.InvalidArgument, "sha256 is %.80q, want the 64 hexadecimal digits of the key's SHA-256: see braid keys new", e.SHA256).In("sha256")
	}
	copy(sum[:], raw)
	if e.Filter != nil {
		if err := strictjson.Decode(e.Filter, &key.Filter); err != nil {
			return sum, key, err
		}
		if key.Filter.Empty() {
			return sum, key, braid.Errorf(braid.InvalidArgument, "filter is empty and limits nothing: leave it out if the key is meant to see every document").In("filter")
		}
	}
	if e.Collections != nil {
		if err := json.Unmarshal(e.Collections, &key.Collections); err != nil || len(key.Collections) == 0 {
			return sum, key, braid.Errorf(braid.InvalidArgument, "collections is %.80s, want a list of at least one name: leave it out if the key is meant to see every collection", bytes.TrimSpace(e.Collections)).In("collections")
		}
	}
	return sum, key, nil
}

func validateName(name string) error {
	switch {
	case name == "":
		return braid.Errorf(braid.InvalidArgument, "name is empty").In("name")
	case len(name) > MaxNameBytes:
		return braid.Errorf(braid.InvalidArgument, "name is %d bytes, the limit is %d", len(name), MaxNameBytes).In("name")
	case !utf8.ValidString(name):
		return braid.Errorf(braid.InvalidArgument, "name is not valid UTF-8").In("name")
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return braid.Errorf(braid.InvalidArgument, "name %q holds a character that is not printable", name).In("name")
		}
	}
	return nil
}

// Find returns the key whose text is token.
func (s *Set) Find(token string) (key Key, ok bool) {
	// The time a lookup takes tells about hashes, from which no key follows.
	key, ok = s.bySum[sha256.Sum256([]byte(token))]
	return key, ok
}

// Len returns the number of keys, 0 for nil.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.bySum)
}

// New makes a key and the entry by which a file of keys knows it.
func New(name string) (token, written string, err error) {
	if err := validateName(name); err != nil {
		return "", "", err
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	token = "braid_" + base64.RawURLEncoding.EncodeToString(random[:])
	sum := sha256.Sum256([]byte(token))
	b, err := json.Marshal(struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
	}{name, hex.EncodeToString(sum[:])})
	return token, string(b), err
}
