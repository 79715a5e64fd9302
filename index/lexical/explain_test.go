package lexical_test

import (
	"slices"
	"testing"

	"github.com/braid-search/braid/index/lexical"
)

func TestDroppedWordsAreTheOnesNotLookedFor(t *testing.T) {
	for _, tc := range []struct {
		query string
		want  []string
	}{
		{"", nil},
		{"restart gateway", nil},
		{"The restart of the gateway", []string{"The", "of", "the"}},
		{"of the restart of the gateway", []string{"of", "the"}}, // each once
		{"of the", nil}, // nothing else to look for: all are
	} {
		a := lexical.NewAnalyzer()
		got := a.Dropped(tc.query)
		if !slices.Equal(got, tc.want) {
			t.Errorf("Dropped(%q) = %q, want %q", tc.query, got, tc.want)
		}
		for _, term := range a.QueryTerms(tc.query) {
			if word := tc.query[term.Start:term.End]; slices.Contains(got, word) {
				t.Errorf("%q: %q is dropped and looked for", tc.query, word)
			}
		}
	}
}
