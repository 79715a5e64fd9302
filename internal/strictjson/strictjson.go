package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/braid-search/braid"
)

// Decode reads exactly one JSON value from data into the value that into points
// to. Every error is a braid.InvalidArgument that names the field or byte at
// fault; a *braid.Error of an UnmarshalJSON method is passed on.
func Decode(data []byte, into any) error { return decode(data, into, true) }

// DecodeOpen is Decode for wire formats of others: fields that are not known are
// ignored, since clients and proxies of such formats add their own.
func DecodeOpen(data []byte, into any) error { return decode(data, into, false) }

func decode(data []byte, into any, strict bool) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return braid.Errorf(braid.InvalidArgument, "the JSON is empty")
	}
	// encoding/json would replace broken bytes by U+FFFD and store a text the
	// caller never sent.
	if !utf8.Valid(data) {
		return braid.Errorf(braid.InvalidArgument, "the JSON is not valid UTF-8 (byte %d): encode it as UTF-8", invalidAt(data))
	}
	if err := checkText(data); err != nil {
		return err
	}
	if err := checkKeys(data, reflect.TypeOf(into), strict); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(into); err != nil {
		return explain(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return braid.Errorf(braid.InvalidArgument, "more data follows the JSON value at byte %d: send one value", d.InputOffset())
	}
	return nil
}

func invalidAt(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// explain turns an error of encoding/json into one for the sender.
func explain(err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	var typed *braid.Error
	switch {
	case errors.As(err, &typed):
		return typed
	case errors.As(err, &wrong):
		field := wrong.Field
		if field == "" {
			return braid.Errorf(braid.InvalidArgument, "the JSON must be %s, got %s", kindName(wrong.Type), wrong.Value)
		}
		return braid.Errorf(braid.InvalidArgument, "%s must be %s, got %s", field, kindName(wrong.Type), wrong.Value).In(field)
	case errors.As(err, &syntax):
		return braid.Errorf(braid.InvalidArgument, "malformed JSON at byte %d: %s", syntax.Offset, syntax)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return braid.Errorf(braid.InvalidArgument, "the JSON ends in the middle of a value")
	}
	return braid.Errorf(braid.InvalidArgument, "malformed JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func kindName(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number in range"
	case reflect.Float32, reflect.Float64:
		return "a number in range"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

// unknownField is for a name that t does not have.
func unknownField(name string, t reflect.Type) error {
	var known []string
	for f := range t.Fields() {
		if field, tagged := jsonName(f); tagged {
			known = append(known, field)
		}
	}
	if known == nil {
		return braid.Errorf(braid.InvalidArgument, "unknown field %q: there are none here", name).In(name)
	}
	return braid.Errorf(braid.InvalidArgument, "unknown field %q: known are %s", name, strings.Join(known, ", ")).In(name)
}

// jsonName is the name of a field on the wire; untagged ones are not sent.
func jsonName(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, name != "" && name != "-"
}
