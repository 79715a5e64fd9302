package inference

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/daulet/tokenizers"

	"github.com/braid-search/braid"
)

// Token is one token of a text.
type Token struct {
	ID uint32
	// Text is the part of the text the token stands for, or the name of a
	// special token that was added.
	Text    string
	Special bool // added, not found in the text
	// Start and End are where the part is, in characters; 0 for a special token.
	Start, End int
}

// Tokenise returns the tokens of each text as the tokenizer sees it: no prefix
// is put before it and nothing is cut. special adds the special tokens around a
// single text. Errors: InvalidArgument (a text that is not UTF-8 or cannot be
// tokenised), Canceled, DeadlineExceeded, Unavailable (closed).
func (d *Dense) Tokenise(ctx context.Context, texts []string, special bool) ([][]Token, error) {
	return d.head.tokens(ctx, texts, special)
}

// Tokenise is as that of Dense.
func (s *Sparse) Tokenise(ctx context.Context, texts []string, special bool) ([][]Token, error) {
	return s.head.tokens(ctx, texts, special)
}

// Tokenise is as that of Dense: of single texts, not of pairs.
func (p *Pair) Tokenise(ctx context.Context, texts []string, special bool) ([][]Token, error) {
	return p.head.tokens(ctx, texts, special)
}

func (h *head) tokens(ctx context.Context, texts []string, special bool) ([][]Token, error) {
	if err := h.runtime.begin(); err != nil {
		return nil, err
	}
	defer h.runtime.calls.Done()
	all := make([][]Token, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, contextError(ctx)
		}
		tokens, err := h.tokenizer.describe(text, special)
		if err != nil {
			return nil, braid.Errorf(braid.InvalidArgument, "text %d %w", i, err)
		}
		all[i] = tokens
	}
	return all, nil
}

// describe is encode with all that the library says about each token.
func (t *tokenizer) describe(text string, special bool) ([]Token, error) {
	prepared, err := t.prepare(text)
	if err != nil {
		return nil, err
	}
	// With special tokens, as in encodeSegment: none at all would be a failure.
	e := t.native.EncodeWithOptions(prepared, true, tokenizers.WithReturnTokens(), tokenizers.WithReturnOffsets())
	before, after := margins(t.template.single)
	if len(e.IDs) < before+after {
		return nil, errNotTokenised
	}
	tokens := make([]Token, 0, len(e.IDs))
	at := characters{text: text}
	for i, id := range e.IDs {
		switch added := i < before || i >= len(e.IDs)-after; {
		case !added:
			start, end := int(e.Offsets[i][0]), int(e.Offsets[i][1])
			tokens = append(tokens, Token{ID: id, Text: text[start:end], Start: at.count(start), End: at.count(end)})
		case special:
			tokens = append(tokens, Token{ID: id, Text: e.Tokens[i], Special: true})
		}
	}
	return tokens, nil
}

// characters turns places in a text from bytes to characters. Places come
// mostly in ascending order, so it counts on from the last one.
type characters struct {
	text         string
	bytes, runes int
}

func (c *characters) count(place int) int {
	if place < c.bytes {
		c.bytes, c.runes = 0, 0
	}
	c.runes += utf8.RuneCountInString(c.text[c.bytes:place])
	c.bytes = place
	return c.runes
}

// prepare checks text and makes it what the library can take.
func (t *tokenizer) prepare(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", errNotUTF8
	}
	if strings.IndexByte(text, 0) < 0 {
		return text, nil
	}
	// The library takes C strings. A normaliser that drops NUL drops this
	// control character in the same way; removing it here instead would
	// join what stands around it before special tokens are looked for.
	if !t.cleans {
		return "", errNUL
	}
	return strings.ReplaceAll(text, "\x00", "\x01"), nil
}
