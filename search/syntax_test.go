package search

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
)

func TestParseSyntax(t *testing.T) {
	hasWords := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	}
	isOption := func(word string) bool { return word == "Wall" }
	// text | phrases | excluded phrases | excluded words; "" is a query that is taken as it stands.
	for query, want := range map[string]string{
		`pump seal`: "", `"`: "", `say "hello`: "", `say hello"`: "", `5" pipe and 3" valve`: "", `6'2" tall`: "", `""`: "", `" "`: "", `"…"`: "",
		`WD-40`: "", `state-of-the-art pump`: "", `-40`: "", `cools to -40 °C`: "", `-5`: "", `git --force`: "", `grep -v`: "", `a - b`: "", `pump -`: "", `2010-2020`: "", `e-mail-address`: "",
		`gcc -Wall`: "", `gcc "-Wall"x`: "",
		`-pump`: "", `-"dry run"`: "", `– pump`: "", `a"b c"d`: "", `"a"b c`: "", `don't "`: "",
		`"inlet pressure"`:                 "inlet pressure|[inlet pressure]|[]|[]",
		`low "inlet pressure" pump`:        "low inlet pressure pump|[inlet pressure]|[]|[]",
		`what does "inlet pressure" mean?`: "what does inlet pressure mean?|[inlet pressure]|[]|[]",
		`is it "inlet pressure"?`:          "is it inlet pressure|[inlet pressure]|[]|[]",
		`“inlet pressure” „dry run“`:       "inlet pressure dry run|[inlet pressure dry run]|[]|[]",
		`pump -seal`:                       "pump|[]|[]|[seal]",
		`-seal pump -Motor.`:               "pump|[]|[]|[seal Motor]",
		`pump -state-of-the-art`:           "pump|[]|[]|[state-of-the-art]",
		`pump -"dry run" -"oil"`:           "pump|[]|[dry run oil]|[]",
		`"ERR-104" -ERR-105`:               "ERR-104|[ERR-104]|[]|[ERR-105]",
		"水泵 -密封":                           "水泵|[]|[]|[密封]",
		`"a" "b`:                           "a \"b|[a]|[]|[]",
		"pump\t-seal\n\"dry run\"":         "pump dry run|[dry run]|[]|[seal]",
		`"say -hello" loud`:                "say -hello loud|[say -hello]|[]|[]",
		`pump -é`:                          "", // one letter
		`pump "dry run""wet run" x`:        "", // no space between
		`pump ("dry run") x`:               "", // not before a word
		`-seal -motor`:                     "", // nothing to look for is left
		`pump -seal "`:                     "pump \"|[]|[]|[seal]",
		`gcc -Wall -clang`:                 "gcc -Wall|[]|[]|[clang]",
		`warm -15 -cold`:                   "warm -15|[]|[]|[cold]",
		`  "  inlet   pressure "  `:        "inlet   pressure|[inlet   pressure]|[]|[]",
		`fix "a, b" error`:                 "fix a, b error|[a, b]|[]|[]",
		`5" pipe "inlet pressure"`:         `5" pipe inlet pressure|[inlet pressure]|[]|[]`,
		`"it is 5" wide" pipe`:             `it is 5 wide" pipe|[it is 5]|[]|[]`,
	} {
		got := ""
		if s, ok := parseSyntax(query, hasWords, isOption); ok {
			got = fmt.Sprintf("%s|%v|%v|%v", s.text, s.phrases, s.noPhrases, s.noWords)
		}
		if got != want {
			t.Errorf("%s\n is read as %q,\n want %q", query, got, want)
		}
	}
}

// FuzzParseSyntax asserts that nothing is made up: whatever is understood stands in
// the query.
func FuzzParseSyntax(f *testing.F) {
	f.Add(`"a b" -c -"d e" “f” 5" --g`)
	f.Fuzz(func(t *testing.T, query string) {
		s, ok := parseSyntax(query, func(text string) bool { return strings.TrimSpace(text) != "" }, func(string) bool { return false })
		if !ok {
			return
		}
		for _, part := range append(append(append(strings.Fields(s.text), s.phrases...), s.noPhrases...), s.noWords...) {
			if part == "" || !strings.Contains(query, part) {
				t.Errorf("%q is not in %q", part, query)
			}
		}
	})
}
