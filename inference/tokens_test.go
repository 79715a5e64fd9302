package inference

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
)

func TestTokensOfAText(t *testing.T) {
	r := openRuntime(t, Options{})
	dense := openDense(t, r)
	const text = "Café\x00 wrench 水[SEP]"
	all, err := dense.Tokenise(t.Context(), []string{text, ""}, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []Token{
		{ID: 101, Text: "[CLS]", Special: true},
		{ID: 7668, Text: "Café", Start: 0, End: 4},
		{ID: 16255, Text: "wren", Start: 6, End: 10},
		{ID: 2818, Text: "ch", Start: 10, End: 12},
		{ID: 1893, Text: "水", Start: 13, End: 14},
		{ID: 102, Text: "[SEP]", Start: 14, End: 19}, // as in Python, text can spell a special token
		{ID: 102, Text: "[SEP]", Special: true},
	}
	if !slices.Equal(all[0], want) {
		t.Errorf("got %+v", all[0])
	}
	if len(all[1]) != 2 || !all[1][0].Special {
		t.Errorf("the empty text has %+v", all[1])
	}
	bare, err := dense.Tokenise(t.Context(), []string{text}, false)
	if err != nil || !slices.Equal(bare[0], want[1:6]) {
		t.Errorf("without special tokens: %+v, %v", bare, err)
	}
	if _, err := dense.Tokenise(t.Context(), []string{"x", "\xff"}, true); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("broken text: %v", err)
	}
}

// Described tokens are those the model is fed, and each shows its part of the
// text.
func TestDescribedTokensAreTheEncodedOnes(t *testing.T) {
	tok := openTokenizer(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("abc é水\x00\t\n[]SEP🙂-'ÅK\u0301"))).Draw(t, "text")
		encoded, err := tok.encode(text, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := tok.describe(text, false)
		if err != nil {
			t.Fatal(err)
		}
		characters := []rune(text)
		var ids []uint32
		for _, token := range tokens {
			ids = append(ids, token.ID)
			if part := string(characters[token.Start:token.End]); part != token.Text || part == "" {
				t.Errorf("token %+v stands for %q", token, part)
			}
		}
		if !slices.Equal(ids, encoded.ids) {
			t.Errorf("described %v, encoded %v", ids, encoded.ids)
		}
	})
}
