package lexical_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/index/lexical"
)

func TestPhrases(t *testing.T) {
	a := lexical.NewAnalyzer()
	const text = "The state-of-the-art WD-40 isn't C++; it costs 1,000 €. The Leaking Pumps of Größe 2.5: softLogout, ERR_104, github.com/rust-lang! 水泵密封 a a b"
	for phrase, want := range map[string]bool{
		"state of the art": true, "State-Of-The-Art": true, "of the": true, "the state of": true, "state art": false, "art of": false,
		"wd-40": true, "WD 40": true, "WD40": false, "40": true, "wd-4": false, "D-40": false,
		"isn't": true, "isnt": true, "isn": false, "C++": true, "C": false, "1000": true, "1,000 €": true, "000": false,
		"leaking pumps": true, "leaking pump": false, "leak pumps": false, "grosse 2.5": true, "Gro\u0308ße": true,
		"softlogout": true, "soft logout": false, "logout": false, "err-104": true, "rust lang": true, "github.com": true, "github rust": false,
		"水泵": true, "泵密": true, "水密": false, "a b": true, "a a a": false, "a a b": true, "– .": true, "": true,
	} {
		if got := a.Holds(text, a.Units(phrase)); got != want {
			t.Errorf("%q is held: %v, want %v (%v)", phrase, got, want, a.Units(phrase))
		}
	}
}

// TestUnitsAreIndexed asserts that a text that holds a phrase holds the terms of its
// units, so that postings miss none, and that phrases are found where a naive look
// finds them.
func TestUnitsAreIndexed(t *testing.T) {
	a := lexical.NewAnalyzer()
	pieces := []string{"pumps", "Leaking", "the", "state-of-the-art", "WD-40", "softLogouts", "LNK2019", "x-ray", "isn't", "users'", "user's", "1,000.5", "v2.1.0-rc.1", "C++", "C#", "F#", "notepad++", ".NET", "user_id", "std::vector", "a@b.org", "水泵", "密", "Größe", "cafe\u0301", "İx", "ﬁsh", "R&D", "#12", "__init__", "mRNA", "HTTPServer", "–", "한국어", "คน", "2x4"}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8)
		joint := rapid.SampledFrom([]string{" ", "", "-", "/", ", ", "'"})
		write := func(label string) string {
			var text strings.Builder
			for _, p := range draw.Draw(t, label) {
				text.WriteString(p + joint.Draw(t, "joint"))
			}
			return text.String()
		}
		text := write("text")
		units := a.Units(text)
		var terms []string
		for _, term := range a.Terms(text) {
			terms = append(terms, term.Text)
		}
		for _, u := range units {
			if !slices.Contains(terms, u.Term) {
				t.Fatalf("%q: unit %+v is not among the terms %q", text, u, terms)
			}
		}
		phrase := a.Units(write("phrase"))
		if len(units) > 1 && rapid.Bool().Draw(t, "a part of it") {
			from := rapid.IntRange(0, len(units)-1).Draw(t, "from")
			phrase = units[from:rapid.IntRange(from, len(units)).Draw(t, "to")]
		}
		want := len(phrase) == 0
		for i := 0; i+len(phrase) <= len(units); i++ {
			want = want || slices.Equal(units[i:i+len(phrase)], phrase)
		}
		if got := a.Holds(text, phrase); got != want {
			t.Fatalf("%q holds %v: %v, want %v", text, phrase, got, want)
		}
	})
}
