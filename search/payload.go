package search

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/braid-search/braid"
)

// node is a JSON value: an object with its members in order, or anything else as
// it was written.
type node struct {
	object  bool
	members []member
	text    []byte
}

type member struct {
	name  string
	key   []byte // the name as it was written
	value node
}

// mergePayload returns payload, an object or nil, with patch merged in as RFC
// 7396 says. What the patch does not touch keeps its place, and its digits.
func mergePayload(payload, patch json.RawMessage) (json.RawMessage, error) {
	changes, err := parse(patch)
	if err == nil && !changes.object {
		err = braid.Errorf(braid.InvalidArgument, "payload must be a JSON object: its keys replace those of the document, null removes one").In("payload")
	}
	if err != nil {
		return nil, err
	}
	before := node{object: true}
	if payload != nil {
		if before, err = parse(payload); err != nil {
			return nil, err
		}
	}
	return merge(before, changes).append(nil), nil
}

// merge returns target with patch merged in. Of a key that target has twice the
// last one counts.
func merge(target, patch node) node {
	if !patch.object {
		return patch
	}
	merged := node{object: true}
	at := map[string]int{} // places in merged.members
	set := func(m member) {
		if i, ok := at[m.name]; ok {
			merged.members[i].value = m.value
			return
		}
		at[m.name] = len(merged.members)
		merged.members = append(merged.members, m)
	}
	if target.object {
		for _, m := range target.members {
			set(m)
		}
	}
	for _, change := range patch.members {
		var before node
		if i, ok := at[change.name]; ok {
			before = merged.members[i].value
		}
		if !change.value.null() { // a null of the patch takes the member out below
			change.value = merge(before, change.value)
		} else {
			change.value = node{}
		}
		set(change)
	}
	merged.members = slices.DeleteFunc(merged.members, func(m member) bool { return m.value.nothing() })
	return merged
}

func (n node) null() bool { return string(n.text) == "null" }

// nothing reports whether n is no value at all.
func (n node) nothing() bool { return !n.object && n.text == nil }

// append writes n to b.
func (n node) append(b []byte) []byte {
	if !n.object {
		return append(b, n.text...)
	}
	b = append(b, '{')
	for i, m := range n.members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, m.key...), ':')
		b = m.value.append(b)
	}
	return append(b, '}')
}

// parse reads a JSON value in one pass.
func parse(text json.RawMessage) (node, error) {
	var short bytes.Buffer
	if err := json.Compact(&short, text); err != nil {
		return node{}, braid.Errorf(braid.InvalidArgument, "malformed JSON: %w", err).In("payload")
	}
	p := parser{text: short.Bytes(), tokens: json.NewDecoder(&short)}
	p.text = bytes.Clone(p.text)
	p.tokens.UseNumber()
	return p.value()
}

// parser reads compact JSON that is valid, token by token.
type parser struct {
	text   []byte
	tokens *json.Decoder
}

// next reads one token and returns where it begins.
func (p *parser) next() (token json.Token, start int, err error) {
	start = int(p.tokens.InputOffset())
	if start < len(p.text) && (p.text[start] == ',' || p.text[start] == ':') {
		start++
	}
	token, err = p.tokens.Token()
	return token, start, err
}

func (p *parser) end() int { return int(p.tokens.InputOffset()) }

func (p *parser) value() (node, error) {
	token, start, err := p.next()
	if err != nil {
		return node{}, err
	}
	switch token {
	case json.Delim('{'):
		return p.object()
	case json.Delim('['):
		for depth := 1; depth > 0; {
			switch token, _, err = p.next(); token {
			case json.Delim('['), json.Delim('{'):
				depth++
			case json.Delim(']'), json.Delim('}'):
				depth--
			}
			if err != nil {
				return node{}, err
			}
		}
	}
	return node{text: p.text[start:p.end()]}, nil
}

// object reads what follows "{".
func (p *parser) object() (node, error) {
	n := node{object: true}
	for p.tokens.More() {
		key, start, err := p.next()
		if err != nil {
			return node{}, err
		}
		m := member{name: key.(string), key: p.text[start:p.end()]}
		if m.value, err = p.value(); err != nil {
			return node{}, err
		}
		n.members = append(n.members, m)
	}
	_, _, err := p.next()
	return n, err
}
