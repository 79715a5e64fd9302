package inference

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/daulet/tokenizers"
)

// segmentBytes is how much of a long text is tokenised at a time. It is far
// more than any model here reads (512 tokens of English are about 2.5 KB), so
// that token counts of ordinary texts are exact, and takes about 7 ms, where a
// text of 1 MiB in one piece takes half a second.
const segmentBytes = 32 << 10

// tokenizer turns text into token ids. It is safe for concurrent use.
type tokenizer struct {
	native   *tokenizers.Tokenizer
	template template
	// words is true when the ids of a text are those of its whitespace-separated
	// words one after the other, so that a text can be tokenised in segments.
	words bool
	// cleans is true when the normaliser drops control characters, NUL included.
	cleans bool
}

// tokenizerFile is what is read here of a tokenizer.json; the rest is the
// library's.
type tokenizerFile struct {
	Normalizer struct {
		Type      string `json:"type"`
		CleanText bool   `json:"clean_text"`
	} `json:"normalizer"`
	PreTokenizer struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	PostProcessor json.RawMessage `json:"post_processor"`
	Model         struct {
		Type  string          `json:"type"`
		Vocab json.RawMessage `json:"vocab"`
	} `json:"model"`
	AddedTokens []struct {
		ID      uint32 `json:"id"`
		Content string `json:"content"`
		Special bool   `json:"special"`
	} `json:"added_tokens"`
}

// newTokenizer reads a tokenizer.json. Its truncation and padding are ignored:
// they are habits of whoever saved it, and one of them pads every text to 512
// tokens; the model's manifest says what is cut, and nothing is padded.
func newTokenizer(data []byte) (*tokenizer, error) {
	var fields map[string]json.RawMessage
	var file tokenizerFile
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	template, err := parseTemplate(file.PostProcessor)
	if err != nil {
		return nil, err
	}
	fields["truncation"], fields["padding"] = json.RawMessage("null"), json.RawMessage("null")
	data, err = json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	native, err := tokenizers.FromBytes(data)
	if err != nil {
		return nil, err
	}
	cleans := file.Normalizer.Type == "BertNormalizer" && file.Normalizer.CleanText
	return &tokenizer{
		native:   native,
		template: template,
		cleans:   cleans,
		words:    cleans && file.PreTokenizer.Type == "BertPreTokenizer" && file.Model.Type == "WordPiece" && file.plainTokens(),
	}, nil
}

// plainTokens reports whether no added token could span a cut of boundary.
func (f *tokenizerFile) plainTokens() bool {
	for _, token := range f.AddedTokens {
		if strings.ContainsFunc(token.Content, func(r rune) bool { return unicode.IsSpace(r) || isIdeograph(r) }) {
			return false
		}
	}
	return true
}

// vocabulary returns the token of each id, "" for ids that have none.
func vocabulary(data []byte) ([]string, error) {
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	ids, err := file.ids()
	if err != nil {
		return nil, err
	}
	for _, token := range file.AddedTokens {
		ids[token.Content] = token.ID
	}
	var tokens []string
	for token, id := range ids {
		if id >= 1<<24 { // bounds the table, not the model: the largest vocabularies have 2^18 entries
			return nil, fmt.Errorf("token %q has id %d", token, id)
		}
		if grow := int(id) + 1 - len(tokens); grow > 0 {
			tokens = append(tokens, make([]string, grow)...)
		}
		tokens[id] = token
	}
	return tokens, nil
}

// specialIDs returns the ids of a tokenizer's special tokens.
func specialIDs(data []byte) ([]uint32, error) {
	var file tokenizerFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	var ids []uint32
	for _, token := range file.AddedTokens {
		if token.Special {
			ids = append(ids, token.ID)
		}
	}
	return ids, nil
}

// ids returns the model's own vocabulary: a map of token to id, or of the
// Unigram model a list of [token, score] by id.
func (f *tokenizerFile) ids() (map[string]uint32, error) {
	if len(f.Model.Vocab) == 0 {
		return nil, errors.New("model.vocab is missing")
	}
	ids := map[string]uint32{}
	if f.Model.Type != "Unigram" {
		if err := json.Unmarshal(f.Model.Vocab, &ids); err != nil {
			return nil, fmt.Errorf("model.vocab is not a map of token to id: %w", err)
		}
		if ids == nil {
			return nil, errors.New("model.vocab is missing")
		}
		return ids, nil
	}
	var list [][]any
	if err := json.Unmarshal(f.Model.Vocab, &list); err != nil {
		return nil, fmt.Errorf("model.vocab is not a list of token and score: %w", err)
	}
	for id, entry := range list {
		if len(entry) != 2 {
			return nil, fmt.Errorf("model.vocab: entry %d is not [token, score]", id)
		}
		token, ok := entry[0].(string)
		if !ok {
			return nil, fmt.Errorf("model.vocab: entry %d has no token", id)
		}
		ids[token] = uint32(id)
	}
	return ids, nil
}

// What can be wrong with a text.
var (
	errNotUTF8      = errors.New("is not valid UTF-8")
	errNUL          = errors.New("holds a NUL character, which this model's tokenizer cannot take")
	errNotTokenised = errors.New("could not be tokenised")
)

// encoded is a text as token ids without special tokens.
type encoded struct {
	ids   []uint32 // at most the limit given to encode
	count int      // how many there are; a lower bound for a text over segmentBytes
}

// encode tokenises text and keeps its first limit ids. text must be valid UTF-8.
func (t *tokenizer) encode(text string, limit int) (encoded, error) {
	text, err := t.prepare(text)
	if err != nil {
		return encoded{}, err
	}
	var ids []uint32
	for rest := text; rest != "" && len(ids) <= limit; {
		cut := len(rest)
		if t.words {
			cut = boundary(rest, segmentBytes)
		}
		segment, err := t.encodeSegment(rest[:cut])
		if err != nil {
			return encoded{}, err
		}
		ids = append(ids, segment...)
		rest = rest[cut:]
	}
	count := len(ids)
	if count > limit {
		ids = slices.Clone(ids[:limit]) // let go of the rest
	}
	return encoded{ids: ids, count: count}, nil
}

// encodeSegment asks for special tokens and takes them off again: the library
// answers a failure with no tokens at all, which is otherwise a valid answer.
func (t *tokenizer) encodeSegment(text string) ([]uint32, error) {
	ids := t.native.EncodeWithOptions(text, true).IDs
	before, after := margins(t.template.single)
	if len(ids) < before+after {
		return nil, errNotTokenised
	}
	return ids[before : len(ids)-after], nil
}

func (t *tokenizer) close() { _ = t.native.Close() } // never fails

// boundary returns where to cut text so that both sides tokenise as they would
// together: the last place before limit that stands in front of whitespace or
// of a Chinese ideograph, which BERT's pre-tokenizer takes as a word of its
// own; else the first such place after limit; else the end. Only whitespace
// that the normaliser keeps counts: \v and \f are dropped like letters' accents
// and join what is around them.
func boundary(text string, limit int) int {
	if len(text) <= limit {
		return len(text)
	}
	for i := limit; i > 0; i-- {
		if startsWord(text[i:]) {
			return i
		}
	}
	for i := limit + 1; i < len(text); i++ {
		if startsWord(text[i:]) {
			return i
		}
	}
	return len(text)
}

func startsWord(text string) bool {
	switch text[0] {
	case ' ', '\t', '\n', '\r':
		return true
	case 0xe4, 0xe5, 0xe6, 0xe7, 0xe8, 0xe9: // first byte of U+4000 to U+9FFF
		r, _ := utf8.DecodeRuneInString(text)
		return isIdeograph(r)
	}
	return false
}

// isIdeograph covers the CJK Unified Ideographs block: enough places to cut.
func isIdeograph(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }
