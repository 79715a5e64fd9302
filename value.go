package braid

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of values. Datetimes are keywords that Value.Time can read.
const (
	Keyword Kind = iota + 1 // a string
	Integer                 // a number that is an int64
	Float                   // any other number
	Boolean                 // true or false
)

// Value is one scalar of a payload or of a filter. Two values are the same if
// and only if they are equal under ==, whatever they were written as: 1, 1.0
// and 10e-1 are one Integer, and no Integer equals a Float. The zero Value is
// none and equals no value of a payload.
type Value struct {
	kind Kind
	text string // of a keyword
	bits uint64 // an int64, the bits of a float64, or 1 for true
}

// KeywordOf returns the Value of a string.
func KeywordOf(s string) Value { return Value{kind: Keyword, text: s} }

// IntegerOf returns the Value of a whole number.
func IntegerOf(i int64) Value { return Value{kind: Integer, bits: uint64(i)} }

// BooleanOf returns the Value of true or false.
func BooleanOf(b bool) Value {
	if b {
		return Value{kind: Boolean, bits: 1}
	}
	return Value{kind: Boolean}
}

// FloatOf returns the Value of a number: an Integer when f is one, the zero
// Value when f is not a number.
func FloatOf(f float64) Value {
	const limit = 1 << 63
	switch {
	case math.IsNaN(f):
		return Value{}
	case f >= -limit && f < limit && f == math.Trunc(f):
		return IntegerOf(int64(f))
	}
	return Value{kind: Float, bits: math.Float64bits(f)}
}

// numberOf returns the Value of a JSON number. Numbers that are no int64 are
// read as the nearest float64; exact is false for a whole number that is
// written without point and exponent and is therefore not kept digit by digit.
func numberOf(literal string) (v Value, exact bool) {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return IntegerOf(i), true
	}
	f, _ := strconv.ParseFloat(literal, 64) // out of range: an infinity, which compares as it should
	return FloatOf(f), strings.ContainsAny(literal, ".eE")
}

// Kind returns the type of v, 0 for the zero Value.
func (v Value) Kind() Kind { return v.kind }

// Text returns the string of a Keyword, "" for other kinds.
func (v Value) Text() string { return v.text }

// Int returns the number of an Integer.
func (v Value) Int() int64 { return int64(v.bits) }

// Float returns the number of a Float.
func (v Value) Float() float64 { return math.Float64frombits(v.bits) }

// Bool returns what a Boolean says.
func (v Value) Bool() bool { return v.bits == 1 }

// IsNumber reports whether v is an Integer or a Float.
func (v Value) IsNumber() bool { return v.kind == Integer || v.kind == Float }

// Time returns the instant a keyword stands for: an RFC 3339 date and time,
// such as "2031-05-02T14:30:00+02:00" or with a fraction of a second, or a full
// date, which is its midnight in UTC. Digits beyond the nanosecond are cut.
func (v Value) Time() (t time.Time, ok bool) {
	s := v.text
	if v.kind != Keyword || len(s) < len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	if len(s) == len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, s)
		return t, err == nil
	}
	// UnmarshalText is strict about the format, time.Parse is not.
	err := t.UnmarshalText([]byte(s))
	return t, err == nil
}

// CompareNumbers orders two numbers, exactly: neither is rounded to the type of
// the other. It returns -1, 0 or 1.
func CompareNumbers(a, b Value) int {
	switch {
	case a.kind == Integer && b.kind == Integer:
		return cmp.Compare(a.Int(), b.Int())
	case a.kind == Float && b.kind == Float:
		return cmp.Compare(a.Float(), b.Float())
	case a.kind == Integer:
		return -compareFloat(b.Float(), a.Int())
	}
	return compareFloat(a.Float(), b.Int())
}

// compareFloat compares f, which is no int64, with i. Such an f is beyond every
// int64 or, having a fraction, so small that its floor is exact.
func compareFloat(f float64, i int64) int {
	switch {
	case f >= 1<<63:
		return 1
	case f < -1<<63:
		return -1
	case int64(math.Floor(f)) >= i:
		return 1
	}
	return -1
}

// MarshalJSON writes the value as a JSON scalar that reads back as it.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case Keyword:
		return json.Marshal(v.text)
	case Integer:
		return strconv.AppendInt(nil, v.Int(), 10), nil
	case Boolean:
		return strconv.AppendBool(nil, v.bits == 1), nil
	case Float:
		f := v.Float()
		if math.IsInf(f, 0) {
			return nil, Errorf(InvalidArgument, "value %v has no form in JSON", f)
		}
		return strconv.AppendFloat(nil, f, 'g', -1, 64), nil
	}
	return []byte("null"), nil
}

// String returns the value as in JSON, for messages.
func (v Value) String() string {
	b, err := v.MarshalJSON()
	if err != nil {
		return "invalid"
	}
	return string(b)
}
