package braid

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// Limits on a filter that is read from JSON.
const (
	MaxFilterDepth   = 16     // filters inside each other, the outermost included
	MaxFilterClauses = 1024   // conditions and filters in all lists together
	MaxFilterValues  = 10_000 // values of one "in"
)

// Filter says by their payloads which documents a request is about. A document
// passes when all clauses of Must hold, any of Should, and none of MustNot; an
// empty list asks nothing, so that the zero Filter lets every document pass.
//
// For every filter F each document passes either F or Filter{MustNot: {F}}.
type Filter struct {
	Must    []Clause `json:"must,omitempty"`
	Should  []Clause `json:"should,omitempty"`
	MustNot []Clause `json:"must_not,omitempty"`
}

// Clause is a Condition or, inside a Filter, another Filter.
type Clause interface {
	// passes reports whether the clause holds for a payload.
	passes(Fields) bool
	// validate reports the first fault, named by its place.
	validate(place string) error
}

// Condition asks for one thing of one field. Exactly one of its operators is
// set. Match, In and Range hold when any value of the field satisfies them,
// alone: a field [1, 10] is not in the range from 4 to 6. Values of another kind
// do not satisfy them.
type Condition struct {
	// Field is a path as Fields has it, 1 to MaxFieldBytes bytes.
	Field string `json:"field"`
	// Match asks for one value.
	Match *Value `json:"match,omitempty"`
	// In asks for any of some values. Of an empty list there is none; nil is not
	// set.
	In []Value `json:"in,omitzero"`
	// Range asks for a number or an instant between bounds.
	Range *Range `json:"range,omitempty"`
	// Exists asks whether the field has an entry in Fields: anything but null
	// and empty arrays.
	Exists *bool `json:"exists,omitempty"`
}

// Range is an interval of numbers, or of instants when its bounds are keywords
// that Value.Time can read. It has at least one bound, at most one on a side,
// all of one kind.
type Range struct {
	GT  *Value `json:"gt,omitempty"`  // greater than
	GTE *Value `json:"gte,omitempty"` // at least
	LT  *Value `json:"lt,omitempty"`  // less than
	LTE *Value `json:"lte,omitempty"` // at most
}

// AllOf returns the filter that passes what all the given filters pass.
func AllOf(filters ...Filter) Filter {
	var all Filter
	for _, f := range filters {
		if !f.Empty() {
			all.Must = append(all.Must, f)
		}
	}
	if len(all.Must) == 1 {
		return all.Must[0].(Filter)
	}
	return all
}

// Empty reports whether f asks nothing.
func (f Filter) Empty() bool { return len(f.Must)+len(f.Should)+len(f.MustNot) == 0 }

// Passes reports whether a document with these fields passes f, which is valid.
// It is what every index has to agree with.
func (f Filter) Passes(fields Fields) bool { return f.passes(fields) }

// Validate reports the first rule that f breaks, as InvalidArgument naming the
// place, such as filter.must[0].range. Filters read from JSON are valid.
func (f Filter) Validate() error { return f.validate("filter") }

func (f Filter) passes(fields Fields) bool {
	holds := func(c Clause) bool { return c.passes(fields) }
	for _, c := range f.Must {
		if !holds(c) {
			return false
		}
	}
	return (len(f.Should) == 0 || slices.ContainsFunc(f.Should, holds)) && !slices.ContainsFunc(f.MustNot, holds)
}

func (f Filter) validate(place string) error {
	for _, list := range []struct {
		name    string
		clauses []Clause
	}{{"must", f.Must}, {"should", f.Should}, {"must_not", f.MustNot}} {
		for i, c := range list.clauses {
			at := fmt.Sprintf("%s.%s[%d]", place, list.name, i)
			if c == nil {
				return Errorf(InvalidArgument, "%s is nothing: give a condition or a filter", at).In(at)
			}
			if err := c.validate(at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c Condition) passes(fields Fields) bool {
	values, exists := fields[c.Field]
	switch {
	case c.Exists != nil:
		return exists == *c.Exists
	case c.Match != nil:
		return slices.Contains(values, *c.Match)
	case c.Range != nil:
		return slices.ContainsFunc(values, c.Range.Holds)
	}
	return slices.ContainsFunc(values, func(v Value) bool { return slices.Contains(c.In, v) })
}

func (c Condition) validate(place string) error {
	switch {
	case c.Field == "":
		return Errorf(InvalidArgument, `%s has no field: name one, such as "field": "kind"`, place).In(place + ".field")
	case len(c.Field) > MaxFieldBytes:
		return Errorf(TooLarge, "%s.field is %d bytes, the limit is %d", place, len(c.Field), MaxFieldBytes).In(place + ".field")
	case !utf8.ValidString(c.Field):
		return Errorf(InvalidArgument, "%s.field is not valid UTF-8", place).In(place + ".field")
	}
	operators := 0
	for _, set := range []bool{c.Match != nil, c.In != nil, c.Range != nil, c.Exists != nil} {
		if set {
			operators++
		}
	}
	if operators != 1 {
		return Errorf(InvalidArgument, "%s on field %q has %d operators, want one of match, in, range and exists: make a condition of each", place, c.Field, operators).In(place)
	}
	if c.Match != nil {
		if err := c.Match.validate(place + ".match"); err != nil {
			return err
		}
	}
	for i, v := range c.In {
		if err := v.validate(fmt.Sprintf("%s.in[%d]", place, i)); err != nil {
			return err
		}
	}
	if c.Range != nil {
		return c.Range.validate(place + ".range")
	}
	return nil
}

// validate refuses values that no payload can have.
func (v Value) validate(place string) error {
	if _, err := v.MarshalJSON(); err != nil || v.kind == 0 || !utf8.ValidString(v.text) {
		return Errorf(InvalidArgument, "%s is no value: give a string, a finite number, true or false", place).In(place)
	}
	return nil
}

// bound is one side of a Range.
type bound struct {
	name  string
	value *Value
	// side is where values that are out lie, -1 or 1; open says that the bound
	// itself is out, too.
	side int
	open bool
}

func (r Range) bounds() [4]bound {
	return [...]bound{
		{"gt", r.GT, -1, true}, {"gte", r.GTE, -1, false},
		{"lt", r.LT, 1, true}, {"lte", r.LTE, 1, false},
	}
}

// Holds reports whether v is of the kind of the bounds and between them.
func (r Range) Holds(v Value) bool {
	for _, b := range r.bounds() {
		if b.value == nil {
			continue
		}
		order, comparable := compare(v, *b.value)
		if !comparable || order == b.side || order == 0 && b.open {
			return false
		}
	}
	return true
}

// compare orders two numbers or two instants.
func compare(a, b Value) (order int, comparable bool) {
	if a.IsNumber() && b.IsNumber() {
		return CompareNumbers(a, b), true
	}
	s, ok := a.Time()
	t, too := b.Time()
	return s.Compare(t), ok && too
}

func (r Range) validate(place string) error {
	var first *bound
	sides := map[int]string{}
	for _, b := range r.bounds() {
		if b.value == nil {
			continue
		}
		if other := sides[b.side]; other != "" {
			return Errorf(InvalidArgument, "%s has both %s and %s: give one", place, other, b.name).In(place)
		}
		sides[b.side] = b.name
		at := place + "." + b.name
		if err := b.value.validate(at); err != nil {
			return err
		}
		if _, isTime := b.value.Time(); !isTime && !b.value.IsNumber() {
			return Errorf(InvalidArgument, `%s is %s, want a number or an RFC 3339 date, such as "2031-05-02T14:30:00Z" or "2031-05-02"`, at, *b.value).In(at)
		}
		if first == nil {
			first = &b
		} else if first.value.IsNumber() != b.value.IsNumber() {
			return Errorf(InvalidArgument, "%s has the number and the date %s and %s: bounds must be of one kind", place, *first.value, *b.value).In(place)
		}
	}
	if first == nil {
		return Errorf(InvalidArgument, "%s has no bound: give gt or gte, lt or lte, or both", place).In(place)
	}
	return nil
}
