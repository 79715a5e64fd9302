package lexical

import (
	"testing"
	"unicode"

	"golang.org/x/text/cases"
)

// Every letter meets its other cases.
func TestFoldIsCaseBlind(t *testing.T) {
	f := folder{fold: cases.Fold()}
	fold := func(r rune) string { return string(f.append(nil, []rune{r})) }
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) {
			continue
		}
		for _, other := range []rune{unicode.ToLower(r), unicode.ToUpper(r), unicode.ToTitle(r), unicode.SimpleFold(r)} {
			if fold(other) != fold(r) {
				t.Errorf("%U %q folds to %q, its other case %q to %q", r, r, fold(r), other, fold(other))
			}
		}
	}
}
