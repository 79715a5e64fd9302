package braid

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// UnmarshalJSON reads a filter as Filter and Condition describe it, null being
// absent. It is strict: a key that is unknown, misplaced or there twice, and a
// value of a wrong type, is InvalidArgument; what is over a limit is TooLarge.
// Both name the place.
func (f *Filter) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	var r filterReader
	read, err := r.filter(data, "filter", 1)
	if err != nil {
		return err
	}
	*f = read
	return nil
}

// filterReader counts what it has read of a filter.
type filterReader struct{ clauses int }

const (
	filterKeys    = "a filter has must, should and must_not, each a list"
	conditionKeys = "a condition has field and one of match, in, range and exists"
	rangeKeys     = "a range has gt or gte, and lt or lte"
)

func (r *filterReader) filter(data []byte, place string, depth int) (Filter, error) {
	var f Filter
	if depth > MaxFilterDepth {
		return f, Errorf(TooLarge, "%s is nested %d deep, the limit is %d", place, depth, MaxFilterDepth).In(place)
	}
	members, err := members(data, place, filterKeys, "must", "should", "must_not")
	if err != nil {
		return f, err
	}
	for _, list := range []struct {
		key string
		to  *[]Clause
	}{{"must", &f.Must}, {"should", &f.Should}, {"must_not", &f.MustNot}} {
		if given := members[list.key]; given != nil {
			if *list.to, err = r.list(given, place+"."+list.key, depth); err != nil {
				return f, err
			}
		}
	}
	return f, nil
}

func (r *filterReader) list(data []byte, place string, depth int) ([]Clause, error) {
	elements, err := elements(data, place, "conditions and filters")
	if err != nil {
		return nil, err
	}
	clauses := make([]Clause, 0, len(elements))
	for i, element := range elements {
		if r.clauses++; r.clauses > MaxFilterClauses {
			return nil, Errorf(TooLarge, "filter has over %d conditions: use in for one of many values", MaxFilterClauses).In(place)
		}
		c, err := r.clause(element, fmt.Sprintf("%s[%d]", place, i), depth)
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, c)
	}
	return clauses, nil
}

// clause tells a condition from a filter by its keys.
func (r *filterReader) clause(data []byte, place string, depth int) (Clause, error) {
	ofCondition := []string{"field", "match", "in", "range", "exists"}
	ofFilter := []string{"must", "should", "must_not"}
	found, err := members(data, place, conditionKeys+"; "+filterKeys, slices.Concat(ofCondition, ofFilter)...)
	if err != nil {
		return nil, err
	}
	there := func(key string) bool { _, ok := found[key]; return ok }
	switch condition, filter := slices.IndexFunc(ofCondition, there), slices.IndexFunc(ofFilter, there); {
	case condition >= 0 && filter >= 0:
		return nil, Errorf(InvalidArgument, "%s has %q beside %q: %s; %s", place, ofCondition[condition], ofFilter[filter], conditionKeys, filterKeys).In(place)
	case condition >= 0:
		return readCondition(found, place)
	}
	return r.filter(data, place, depth+1)
}

// readCondition reads a condition of its members.
func readCondition(members map[string]json.RawMessage, place string) (c Condition, err error) {
	if data := members["field"]; data != nil && json.Unmarshal(data, &c.Field) != nil {
		return c, wrongType(place+".field", "a string", data)
	}
	if data := members["exists"]; data != nil && json.Unmarshal(data, &c.Exists) != nil {
		return c, wrongType(place+".exists", "true or false", data)
	}
	if data := members["match"]; data != nil {
		if c.Match, err = readValue(data, place+".match"); err != nil {
			return c, err
		}
	}
	if data := members["in"]; data != nil {
		if c.In, err = readValues(data, place+".in"); err != nil {
			return c, err
		}
	}
	if data := members["range"]; data != nil {
		if c.Range, err = readRange(data, place+".range"); err != nil {
			return c, err
		}
	}
	return c, c.validate(place)
}

func readValues(data []byte, place string) ([]Value, error) {
	elements, err := elements(data, place, "values")
	if err != nil {
		return nil, err
	}
	if len(elements) > MaxFilterValues {
		return nil, Errorf(TooLarge, "%s has %d values, the limit is %d", place, len(elements), MaxFilterValues).In(place)
	}
	list := make([]Value, 0, len(elements))
	for i, element := range elements {
		v, err := readValue(element, fmt.Sprintf("%s[%d]", place, i))
		if err != nil {
			return nil, err
		}
		list = append(list, *v)
	}
	return list, nil
}

func readRange(data []byte, place string) (*Range, error) {
	members, err := members(data, place, rangeKeys, "gt", "gte", "lt", "lte")
	if err != nil {
		return nil, err
	}
	var r Range
	for _, bound := range []struct {
		key string
		to  **Value
	}{{"gt", &r.GT}, {"gte", &r.GTE}, {"lt", &r.LT}, {"lte", &r.LTE}} {
		if given := members[bound.key]; given != nil {
			if *bound.to, err = readValue(given, place+"."+bound.key); err != nil {
				return nil, err
			}
		}
	}
	return &r, nil
}

// readValue reads a scalar that is not null.
func readValue(data []byte, place string) (*Value, error) {
	var v Value
	switch data[0] {
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, wrongType(place, "a string", data)
		}
		v = KeywordOf(s)
	case 't', 'f':
		v = BooleanOf(data[0] == 't')
	case 'n':
		return nil, Errorf(InvalidArgument, `%s is null, which no field has as a value: ask with "exists": false`, place).In(place)
	case '{', '[':
		return nil, wrongType(place, "a string, a number, true or false", data)
	default:
		number, exact := numberOf(string(data))
		if !exact && number.kind != Integer {
			return nil, Errorf(InvalidArgument, "%s is %s, beyond a 64-bit integer: store such numbers as strings, or write a float", place, clipped(data)).In(place)
		}
		v = number
	}
	return &v, v.validate(place)
}

// members reads the object at place; those that are null are nil. Only the given
// keys are allowed, each once; rule says so in words.
func members(data []byte, place, rule string, allowed ...string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, wrongType(place, "an object ("+rule+")", data)
	}
	found := map[string]json.RawMessage{}
	for d.More() {
		token, err := d.Token()
		key, _ := token.(string)
		var given json.RawMessage
		if err == nil {
			err = d.Decode(&given)
		}
		at := place + "." + clip(key)
		_, twice := found[key]
		switch {
		case err != nil:
			return nil, Errorf(InvalidArgument, "%s: malformed JSON: %w", place, err).In(place)
		case !slices.Contains(allowed, key):
			return nil, Errorf(InvalidArgument, "%s has the unknown key %q: %s", place, clip(key), rule).In(at)
		case twice:
			return nil, Errorf(InvalidArgument, "%s occurs twice: give it once", at).In(at)
		}
		if isNull(given) {
			given = nil
		}
		found[key] = given
	}
	return found, nil
}

// elements reads the list at place.
func elements(data []byte, place, of string) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return nil, wrongType(place, "a list of "+of, data)
	}
	return list, nil
}

func wrongType(place, want string, data []byte) error {
	return Errorf(InvalidArgument, "%s must be %s, got %s", place, want, clipped(data)).In(place)
}

func isNull(data []byte) bool { return string(bytes.TrimSpace(data)) == "null" }

func clipped(data []byte) string { return clip(string(data)) }

// clip shortens what is quoted in a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
