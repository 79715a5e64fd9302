package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/braid-search/braid"
)

// checkText refuses escapes of half a character (a lone UTF-16 surrogate), which
// encoding/json would replace by U+FFFD: two ids could become one.
func checkText(data []byte) error {
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		i++ // the escaped byte is not looked at again
		if i >= len(data) || data[i] != 'u' {
			continue
		}
		unit, ok := hex4(data[i+1:])
		switch {
		case !ok: // the decoder will say so
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return surrogate(data, i)
		case unit >= 0xD800 && unit <= 0xDBFF:
			rest := data[i+5:]
			low, ok := uint16(0), false
			if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
				low, ok = hex4(rest[2:])
			}
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return surrogate(data, i)
			}
			i += 10
		}
	}
	return nil
}

func surrogate(data []byte, at int) error {
	return braid.Errorf(braid.InvalidArgument, `malformed JSON at byte %d: \%s is half a character: send text whole, or as UTF-8`, at-1, data[at:min(at+5, len(data))])
}

func hex4(b []byte) (uint16, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 16)
	return uint16(n), err == nil
}

// checkKeys refuses names that occur twice in an object of t and, where strict,
// names that differ from a field's in case: encoding/json takes the last of the
// first and lets the second pass.
func checkKeys(data []byte, t reflect.Type, strict bool) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil // a list, a map, or a value that reads itself
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		if name, tagged := jsonName(f); tagged {
			fields[name] = f.Type
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil // null, or a wrong type: decoding says so
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil // malformed: decoding says where
		}
		name, _ := token.(string)
		if seen[name] {
			return braid.Errorf(braid.InvalidArgument, "field %q occurs twice: send it once", name).In(name)
		}
		seen[name] = true
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		inner, exact := fields[name]
		if !exact {
			if strict {
				return unknownField(name, t)
			}
			continue
		}
		if err := checkKeys(value, inner, strict); err != nil {
			var e *braid.Error
			if errors.As(err, &e) {
				return e.In(name + "." + e.Field)
			}
			return err
		}
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()
