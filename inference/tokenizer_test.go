package inference

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func openTokenizer(t testing.TB) *tokenizer {
	t.Helper()
	data, err := os.ReadFile(openModel(t, "bge-small-en-v1.5").TokenizerPath())
	if err != nil {
		t.Fatal(err)
	}
	tok, err := newTokenizer(data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tok.close)
	return tok
}

// awkward are pieces of text that a cut could change, put together at random.
var awkward = []string{
	"crane", "ING", " ", "  ", "\n", "\t", "\r\n", "\v", "\f", "\u00a0", "\u2028", "\u3000",
	"東", "京都", "한", "カ\u3099", "\u0301", "e\u0301", "ß", "Σ", "ΑΣ", "İ", "ﬁ", "Å", "\u200d", "\ufeff", "\ufffd", "\x01",
	"[SEP]", "[MASK]", "[", "]", "[SE", "P]", ".", "C++", "##ing", "🚀", "🇫🇷", "1234", "豈",
}

func TestCuttingATextDoesNotChangeItsTokens(t *testing.T) {
	tok := openTokenizer(t)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(awkward), 1, 40).Draw(t, "text"), "")
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		whole, err := tok.encodeSegment(text)
		if err != nil {
			t.Fatal(err)
		}
		var parts []uint32
		for rest := text; rest != ""; {
			cut := boundary(rest, limit)
			if cut <= 0 || cut > len(rest) {
				t.Fatalf("boundary of %q is %d", rest, cut)
			}
			ids, err := tok.encodeSegment(rest[:cut])
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, ids...)
			rest = rest[cut:]
		}
		if !slices.Equal(parts, whole) {
			t.Fatalf("%q: %v in parts, %v whole", text, parts, whole)
		}
	})
}

func TestLongTextIsNotTokenisedToItsEnd(t *testing.T) {
	tok := openTokenizer(t)
	text := strings.Repeat("harbour crane ", 1<<20/14)
	e, err := tok.encode(text, 510)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.ids) != 510 || e.count <= 510 || e.count > segmentBytes {
		t.Errorf("%d ids of at least %d in a text of %d bytes", len(e.ids), e.count, len(text))
	}
}

func FuzzEncode(f *testing.F) {
	for _, piece := range awkward {
		f.Add(piece + " crane \x00" + piece)
	}
	f.Add("\xff")
	tok := openTokenizer(f)
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 16
		e, err := tok.encode(text, limit)
		if (err == nil) != utf8.ValidString(text) {
			t.Fatalf("%q: %v", text, err)
		}
		if len(e.ids) != min(e.count, limit) {
			t.Fatalf("%q: %d ids of %d", text, len(e.ids), e.count)
		}
		if s := assemble(tok.template.single, e.ids); err == nil && (s.ids[0] != 101 || s.ids[len(s.ids)-1] != 102) {
			t.Fatalf("%q: %v lacks special tokens", text, s.ids)
		}
	})
}

func TestTemplates(t *testing.T) {
	bert := `{"type":"BertProcessing","sep":["[SEP]",102],"cls":["[CLS]",101]}`
	// One of RoBERTa's shape: other ids, two separators, a single segment.
	roberta := `{"type":"TemplateProcessing",
		"single":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],
		"pair":[{"SpecialToken":{"id":"<s>","type_id":0}},{"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}},
			{"SpecialToken":{"id":"</s>","type_id":0}},{"Sequence":{"id":"B","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}],
		"special_tokens":{"<s>":{"id":"<s>","ids":[0]},"</s>":{"id":"</s>","ids":[2]}}}`
	for _, c := range []struct {
		raw          string
		single, pair []uint32
		types        []uint8
	}{
		{bert, []uint32{101, 7, 8, 102}, []uint32{101, 7, 8, 102, 9, 102}, []uint8{0, 0, 0, 0, 1, 1}},
		{`{"type":"RobertaProcessing","sep":["</s>",2],"cls":["<s>",0],"trim_offsets":true,"add_prefix_space":false}`, []uint32{0, 7, 8, 2}, []uint32{0, 7, 8, 2, 2, 9, 2}, []uint8{0, 0, 0, 0, 0, 0, 0}},
		{roberta, []uint32{0, 7, 8, 2}, []uint32{0, 7, 8, 2, 2, 9, 2}, []uint8{0, 0, 0, 0, 0, 0, 0}},
	} {
		template, err := parseTemplate(json.RawMessage(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		a, b := []uint32{7, 8}, []uint32{9}
		if got := assemble(template.single, a); !slices.Equal(got.ids, c.single) {
			t.Errorf("single is %v, want %v", got.ids, c.single)
		}
		if got := assemble(template.pair, a, b); !slices.Equal(got.ids, c.pair) || !slices.Equal(got.types, c.types) {
			t.Errorf("pair is %v %v, want %v %v", got.ids, got.types, c.pair, c.types)
		}
		if before, after := margins(template.single); before != 1 || after != 1 {
			t.Errorf("margins are %d and %d", before, after)
		}
	}
}

func TestTemplatesNotUnderstood(t *testing.T) {
	for raw, want := range map[string]string{
		``:                     "JSON",
		`null`:                 `type ""`,
		`{"type":"ByteLevel"}`: `"ByteLevel"`,
		`{"type":"BertProcessing","sep":["[SEP]"],"cls":["[CLS]",101]}`:                                                                                "[text, id]",
		`{"type":"BertProcessing","sep":["[SEP]",-1],"cls":["[CLS]",101]}`:                                                                             "cannot",
		`{"type":"TemplateProcessing","single":[],"pair":[],"special_tokens":{}}`:                                                                      "0 sequences",
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"B","type_id":0}}]}`:                                                                 `"B"`,
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}},{"Sequence":{"id":"A","type_id":0}}]}`:                             `"A"`,
		`{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{}}`: "[CLS]",
		`{"type":"TemplateProcessing","single":[{}]}`:                                                                                                  "element 0",
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A","type_id":0}}]}`:                    "1 sequences",
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],"pair":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"B"}}]}`:        "no special tokens",
		`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":300}}],"pair":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"B"}}]}`:      "300",
	} {
		if got, err := parseTemplate(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want an error with %q", raw, got, err, want)
		}
	}
}

func FuzzParseTemplate(f *testing.F) {
	f.Add([]byte(`{"type":"BertProcessing","sep":["[SEP]",102],"cls":["[CLS]",101]}`))
	f.Add([]byte(`{"type":"TemplateProcessing","single":[{"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{"x":{"ids":[1]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		template, err := parseTemplate(raw)
		if err != nil {
			return
		}
		if s := assemble(template.pair, []uint32{1}, []uint32{2}); len(s.ids) != overhead(template.pair)+2 || len(s.types) != len(s.ids) {
			t.Fatalf("%s: %v", raw, s)
		}
	})
}

func TestShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.IntRange(0, 60).Draw(t, "a"), rapid.IntRange(0, 60).Draw(t, "b")
		budget := rapid.IntRange(2, 40).Draw(t, "budget")
		x, y := share(a, b, budget)
		if x < 0 || y < 0 || x > a || y > b || x+y != min(a+b, budget) {
			t.Fatalf("share(%d, %d, %d) = %d, %d", a, b, budget, x, y)
		}
		// Who was cut is within one token of who is longer.
		if x < a && x+1 < y || y < b && y+1 < x {
			t.Fatalf("share(%d, %d, %d) = %d, %d: the shorter was cut", a, b, budget, x, y)
		}
	})
}

func TestVocabulary(t *testing.T) {
	got, err := vocabulary([]byte(`{"model":{"vocab":{"a":0,"c":2}},"added_tokens":[{"id":4,"content":"[X]"}]}`))
	if want := []string{"a", "", "c", "", "[X]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	got, err = vocabulary([]byte(`{"model":{"type":"Unigram","vocab":[["<s>",0],["a",-1.5]]},"added_tokens":[{"id":2,"content":"<m>"}]}`))
	if want := []string{"<s>", "a", "<m>"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	for _, bad := range []string{``, `{}`, `{"model":{"type":"Unigram","vocab":{"a":0}}}`, `{"model":{"type":"Unigram","vocab":[["a"]]}}`, `{"model":{"type":"Unigram","vocab":[[0,"a"]]}}`, `{"model":{"vocab":null},"added_tokens":[{"id":4,"content":"[X]"}]}`, `{"model":{"vocab":[["a",0]]}}`, `{"model":{"vocab":{"a":4000000000}}}`} {
		if got, err := vocabulary([]byte(bad)); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
}
