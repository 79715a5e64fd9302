package inference

import (
	"encoding/json"
	"errors"
	"fmt"
)

// sequence is what the model is fed for one item: token ids and, in step, their
// segment (token type) ids.
type sequence struct {
	ids   []uint32
	types []uint8
}

// template says where special tokens go around one text, or around two.
type template struct {
	single, pair []piece
}

// piece is either a run of special tokens or the place of a text.
type piece struct {
	special []uint32 // nil for a text
	text    int      // 0 is the first text, 1 the second
	segment uint8
}

// overhead is the number of special tokens in a template.
func overhead(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += len(p.special)
	}
	return n
}

// margins counts the special tokens before and after the one text of a template.
func margins(single []piece) (before, after int) {
	for i, p := range single {
		if p.special == nil {
			return overhead(single[:i]), overhead(single[i+1:])
		}
	}
	return 0, 0
}

// assemble puts texts, already cut to fit, into their places.
func assemble(pieces []piece, texts ...[]uint32) sequence {
	n := overhead(pieces)
	for _, t := range texts {
		n += len(t)
	}
	s := sequence{ids: make([]uint32, 0, n), types: make([]uint8, 0, n)}
	for _, p := range pieces {
		ids := p.special
		if ids == nil {
			ids = texts[p.text]
		}
		s.ids = append(s.ids, ids...)
		for range ids {
			s.types = append(s.types, p.segment)
		}
	}
	return s
}

// share divides budget tokens between two texts of a and b tokens by the rule
// the tokenizers library calls longest_first: the longer text is cut until both
// are equal, then both are halved, the odd token going to the longer one (to
// the second of two equals).
func share(a, b, budget int) (int, int) {
	if a+b <= budget {
		return a, b
	}
	short := min(a, b)
	long := budget - short
	if long < short {
		short = budget / 2
		long = budget - short
	}
	if a > b {
		return long, short
	}
	return short, long
}

// parseTemplate reads the post_processor of a tokenizer.json.
func parseTemplate(raw json.RawMessage) (template, error) {
	var processor struct {
		Type          string          `json:"type"`
		Single        []templatePiece `json:"single"`
		Pair          []templatePiece `json:"pair"`
		SpecialTokens map[string]struct {
			IDs []uint32 `json:"ids"`
		} `json:"special_tokens"`
		Sep specialToken `json:"sep"`
		Cls specialToken `json:"cls"`
	}
	if err := json.Unmarshal(raw, &processor); err != nil {
		return template{}, fmt.Errorf("post_processor: %w", err)
	}
	switch processor.Type {
	case "BertProcessing":
		cls, sep := []uint32{processor.Cls.id}, []uint32{processor.Sep.id}
		single := []piece{{special: cls}, {text: 0}, {special: sep}}
		pair := append(single[:3:3], piece{text: 1, segment: 1}, piece{special: sep, segment: 1})
		return template{single: single, pair: pair}, nil
	case "RobertaProcessing":
		cls, sep := []uint32{processor.Cls.id}, []uint32{processor.Sep.id}
		single := []piece{{special: cls}, {text: 0}, {special: sep}}
		pair := append(single[:3:3], piece{special: sep}, piece{text: 1}, piece{special: sep})
		return template{single: single, pair: pair}, nil
	case "TemplateProcessing":
		special := map[string][]uint32{}
		for name, token := range processor.SpecialTokens {
			special[name] = token.IDs
		}
		single, err := parsePieces(processor.Single, special, 1)
		if err != nil {
			return template{}, fmt.Errorf("post_processor.single: %w", err)
		}
		pair, err := parsePieces(processor.Pair, special, 2)
		if err != nil {
			return template{}, fmt.Errorf("post_processor.pair: %w", err)
		}
		if overhead(single) == 0 {
			return template{}, errors.New("post_processor.single has no special tokens")
		}
		return template{single: single, pair: pair}, nil
	}
	return template{}, fmt.Errorf("post_processor has type %q, want TemplateProcessing, BertProcessing or RobertaProcessing", processor.Type)
}

// specialToken is the JSON pair [text, id].
type specialToken struct{ id uint32 }

func (t *specialToken) UnmarshalJSON(raw []byte) error {
	var text string
	pair := []any{&text, &t.id}
	if err := json.Unmarshal(raw, &pair); err != nil {
		return err
	}
	if len(pair) != 2 {
		return fmt.Errorf("special token %s is not [text, id]", raw)
	}
	return nil
}

// templatePiece is one element of a TemplateProcessing list.
type templatePiece struct {
	SpecialToken *templateToken
	Sequence     *templateToken
}

type templateToken struct {
	ID     string `json:"id"`
	TypeID uint8  `json:"type_id"`
}

// parsePieces resolves a template that names each of its texts exactly once, in
// order.
func parsePieces(list []templatePiece, special map[string][]uint32, texts int) ([]piece, error) {
	var pieces []piece
	seen := 0
	for i, element := range list {
		switch {
		case element.Sequence != nil:
			if seen == texts || element.Sequence.ID != string(rune('A'+seen)) {
				return nil, fmt.Errorf("element %d: unexpected sequence %q", i, element.Sequence.ID)
			}
			pieces = append(pieces, piece{text: seen, segment: element.Sequence.TypeID})
			seen++
		case element.SpecialToken != nil:
			ids := special[element.SpecialToken.ID]
			if len(ids) == 0 {
				return nil, fmt.Errorf("element %d: special token %q has no id", i, element.SpecialToken.ID)
			}
			pieces = append(pieces, piece{special: ids, segment: element.SpecialToken.TypeID})
		default:
			return nil, fmt.Errorf("element %d is neither a sequence nor a special token", i)
		}
	}
	if seen != texts {
		return nil, fmt.Errorf("%d sequences, want %d", seen, texts)
	}
	return pieces, nil
}
