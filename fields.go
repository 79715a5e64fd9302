package braid

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// MaxFieldBytes bounds the path of a field. Values under longer paths of a
// payload belong to no field.
const MaxFieldBytes = 512

// Fields are the values of a payload by field. A field is named by the keys
// that lead to it, joined with dots: {"a":{"b":1}} and {"a.b":1} both have the
// field "a.b".
//
// The values of a field are its scalars: of an array every element, at any
// depth of arrays. null, missing and the empty array are the same: no values and
// no entry here. An object is there without being a value: its field has an
// entry, which may be empty.
//
// Objects in an array have no fields of their own. Two conditions on "attrs.k"
// and "attrs.v" could not tell whether one and the same object satisfies both,
// and would find {"attrs":[{"k":"color","v":"red"},{"k":"size","v":"M"}]} for
// k = color and v = M.
type Fields map[string][]Value

// FieldsOf returns the fields of a payload, which is a JSON object or nil. It
// fails with InvalidArgument when it is something else.
func FieldsOf(payload json.RawMessage) (Fields, error) {
	fields := Fields{}
	if payload == nil {
		return fields, nil
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	r := fieldReader{d, fields}
	first, err := d.Token()
	if err == nil && first != json.Delim('{') {
		err = errors.New("it is no object")
	}
	if err == nil {
		err = r.object("", true)
	}
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more data follows the object")
	}
	if err != nil {
		return nil, Errorf(InvalidArgument, "payload must be a JSON object: %w", err)
	}
	return fields, nil
}

// fieldReader reads a payload token by token, so that its depth and its numbers
// are what they were written as.
type fieldReader struct {
	*json.Decoder
	fields Fields
}

// object reads what follows "{". Keys of it are fields below prefix when named
// is true, and are passed over otherwise.
func (r fieldReader) object(prefix string, named bool) error {
	for r.More() {
		key, err := r.Token()
		if err != nil {
			return err
		}
		path := ""
		below := named && len(prefix)+len(key.(string)) <= MaxFieldBytes
		if below {
			path = prefix + key.(string)
		}
		if err := r.value(path, below, false); err != nil {
			return err
		}
	}
	_, err := r.Token() // the "}"
	return err
}

// value reads one value of the field called path; inArray says whether it is an
// element of an array.
func (r fieldReader) value(path string, named, inArray bool) error {
	token, err := r.Token()
	if err != nil {
		return err
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return r.array(path, named)
		}
		r.add(path, named)
		return r.object(path+".", named && !inArray)
	case string:
		r.add(path, named, KeywordOf(token))
	case bool:
		r.add(path, named, BooleanOf(token))
	case json.Number:
		v, _ := numberOf(token.String())
		r.add(path, named, v)
	}
	return nil
}

// array reads what follows "[".
func (r fieldReader) array(path string, named bool) error {
	for r.More() {
		if err := r.value(path, named, true); err != nil {
			return err
		}
	}
	_, err := r.Token() // the "]"
	return err
}

// add gives the field called path an entry with some more values, or none.
func (r fieldReader) add(path string, named bool, values ...Value) {
	if named {
		r.fields[path] = append(r.fields[path], values...)
	}
}
