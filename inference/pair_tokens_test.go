package inference

import (
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
)

func TestFirstTokensGoOnWhereTokensAreCut(t *testing.T) {
	p := openPair(t, openRuntime(t, Options{}))
	text := strings.Repeat("the pump drips ", 400)
	cut, err := p.Tokens(t.Context(), []string{text, ""})
	if err != nil {
		t.Fatal(err)
	}
	all, err := p.FirstTokens(t.Context(), []string{text, ""}, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(cut[0]) != p.Room() || len(all[0]) <= p.Room() || !slices.Equal(all[0][:p.Room()], cut[0]) {
		t.Errorf("%d tokens cut to the room of %d, %d in all", len(cut[0]), p.Room(), len(all[0]))
	}
	if all[1] == nil || len(all[1]) != 0 {
		t.Errorf("the empty text has tokens %v", all[1])
	}
	if _, err := p.FirstTokens(t.Context(), []string{"x"}, -1); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("limit -1: %v", err)
	}
	if got := p.Special(); !slices.Contains(got, 101) || !slices.Contains(got, 102) || slices.Contains(got, all[0][0]) {
		t.Errorf("special tokens are %v", got)
	}
}

// Both models here have BERT's vocabulary. The digest is of which id is which
// token, and of where one token ends.
func TestVocabulariesAreCompared(t *testing.T) {
	r := openRuntime(t, Options{})
	s, err := r.NewSparse(openModel(t, "splade-tiny"))
	if err != nil {
		t.Fatal(err)
	}
	if p := openPair(t, r); p.Vocabulary() != s.Vocabulary() {
		t.Errorf("vocabularies %.12s and %.12s, want the same", p.Vocabulary(), s.Vocabulary())
	}
	seen := map[string]bool{}
	for _, tokens := range [][]string{{"a", "b"}, {"b", "a"}, {"ab"}, {"ab", ""}, {"a", "", "b"}, {"a1 b"}, nil} {
		seen[digest(tokens)] = true
	}
	if len(seen) != 7 {
		t.Errorf("7 vocabularies have %d digests", len(seen))
	}
}
