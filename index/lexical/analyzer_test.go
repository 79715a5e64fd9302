package lexical_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/braid-search/braid/index/lexical"
)

func termsOf(text string) []string {
	var terms []string
	for _, t := range lexical.NewAnalyzer().Terms(text) {
		terms = append(terms, t.Text)
	}
	return terms
}

func TestTerms(t *testing.T) {
	for _, tc := range []struct{ text, want string }{
		// Running text.
		{"Running dogs ran quickly.", "run dog ran quick"},
		{"The crab's shell; the crabs' shells", "the crab shell the crab shell"},
		{"don't can’t we'll it's", "dont cant well it"},
		{"café CAFÉ cafe\u0301 Straße STRASSE", "cafe cafe cafe strass strass"},
		{"Łódź Ærø İstanbul", "lodz aero istanbul"},
		{"ЙОД Ελλάς Ελλάσ ꭵᎥ", "йод ελλάσ ελλάσ ꭵꭵ"},
		{"soft\u00adhyphen zero\u200bwidth \ufeffmark Go™", "softhyphen zerowidth mark go"},
		{"ﬁle ＡＢＣ Ⅷ", "file abc viii"},
		{"URLs APIs", "url api"},
		// Compounds as written, joined, and by parts.
		{"ERR-104", "err-104 err104 err 104"},
		{"(ERR-104), ERR–104.", "err-104 err104 err 104 err-104 err104 err 104"},
		{"WD40", "wd40 wd 40"},
		{"CVE-2021-44228", "cve-2021-44228 cve 2021 44228"},
		{"GHSA-vq23-5h4f-vwpv", "ghsa-vq23-5h4f-vwpv ghsa vq23 vq 23 5h4f vwpv"},
		{"C2065 LNK2019", "c2065 2065 lnk2019 lnk 2019"},
		{"node.js nodejs", "node.js nodej node js nodej"},
		{"user_id", "user_id userid user id"},
		{"__init__ _id", "__init__ init _id id"},
		{"softLogout() HTTPServer2", "softlogout soft logout httpserver2 http server"},
		{"getUsers", "getusers getus get user"},
		{"x86-64", "x86-64 x86 86 64"},
		{"Meyer-Landrut", "meyer-landrut meyerlandrut meyer landrut"},
		{"AT&T TCP/IP", "at&t att at t tcp/ip tcp ip"},
		{"O'Brien l’égalité", "o'brien obrien o brien l'egalite legalit l egalit"},
		{"std::vector<int> foo.bar()", "std::vector std vector int foo.bar foobar foo bar"},
		{"--max-tokens /etc/passwd file.tar.gz", "max-tokens maxtoken max token etc/passwd etc passwd file.tar.gz filetargz file tar gz"},
		{"jane@example.com", "jane@example.com jane example.com examplecom exampl com"},
		{"https://a.io/b_c", "https a.io/b_c a.io aio a io b_c bc b c"},
		{"rust#60977", "rust#60977 rust 60977"},
		// Names made of punctuation.
		{"C++ (C++), C++. C# F#", "c++ c++ c++ c# f#"},
		{"C++17 C#7 g++ notepad++", "c++17 c++ 17 c#7 c# g++ notepad++ notepad"},
		{".NET ASP.NET c#/.NET", ".net net asp.net aspnet asp net c# .net net"},
		// Numbers.
		{"v2.1 2.1. 10.0.0.1 3.5mm", "v2.1 2.1 2.1 10.0.0.1 3.5mm 3.5 mm"},
		{"1,000 1000 1,234,567.8", "1000 1000 1234567.8"},
		{"1,2,3 12,34 1,2345", "1 2 3 12 34 1 2345"},
		{"½ 2020-12-21", "1/2 1 2 2020-12-21 2020 12 21"},
		// Scripts without spaces, and their borders.
		{"東京都", "東 東京 京 京都 都"},
		{"GitHub备份", "github git hub 备 备份 份"},
		{"第3章", "第 3 章"},
		{"ﾃﾞｰﾀ", "デ デー ー ータ タ"},
		{"ไทย", "ไ ไท ท ทย ย"},
		// Nothing to find.
		{" ... -- ++ # '' ____ \t\n", ""},
		{"\xff\xfe\x80", ""},
		{"a\xffb", "a b"},
	} {
		if got := strings.Join(termsOf(tc.text), " "); got != tc.want {
			t.Errorf("%q\n got %s\nwant %s", tc.text, got, tc.want)
		}
	}
}

// The place of a term is the bytes it was made from, whatever normalisation
// did to them.
func TestTermPlaces(t *testing.T) {
	text := "Ｗｉｄｅ ½ ERR-104's e\u0301te\u0301\u00ad!"
	want := []string{"Ｗｉｄｅ", "½", "½", "½", "ERR-104", "ERR-104", "ERR", "104", "e\u0301te\u0301"}
	var got []string
	for _, term := range lexical.NewAnalyzer().Terms(text) {
		got = append(got, text[term.Start:term.End])
	}
	if !slices.Equal(got, want) {
		t.Errorf("places %q, want %q", got, want)
	}
}

func TestQueryTerms(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"ERR-104", "err-104^0.6 err104^0.6 err^0.4 104^0.4"},
		{"softLogout", "softlogout^1.2 soft^0.4 logout^0.4"},
		{"crab crab shell", "crab^2 shell^1"},
		{"crabs", "crab^1 crabs^0.6"}, // stored for an identifier spelt so
		// Stop words go, except from compounds and when nothing else is left.
		{"the crab is on it", "crab^1"},
		{"to be or not to be", "to^2 be^2 or^1 not^1"},
		{"The Who", "who^1"},
		{"IT", "it^1"},
		{"IT-104", "it-104^0.6 it104^0.6 104^0.8"},
		{"A/B", "a/b^1.2 b^0.8"},
		// One character is looked for alone, a run by its pairs.
		{"京", "京^1"},
		{"東京都", "東京^1 京都^1"},
		{"?!", ""},
	} {
		var got []string
		for _, term := range lexical.NewAnalyzer().QueryTerms(tc.query) {
			got = append(got, fmt.Sprintf("%s^%.4g", term.Text, term.Weight))
		}
		if got := strings.Join(got, " "); got != tc.want {
			t.Errorf("%q\n got %s\nwant %s", tc.query, got, tc.want)
		}
	}
}

// However long the text, it is analysed in one pass and its terms are bounded;
// a huge token still matches as a whole, and only itself.
func TestHugeTexts(t *testing.T) {
	const size = 1 << 17
	word := strings.Repeat("x", 8*size)
	for name, text := range map[string]string{
		"one word":    word,
		"one path":    strings.Repeat("a/", size/2),
		"one number":  strings.Repeat("1,000", size/5),
		"hyphens":     strings.Repeat("a-1", size/3),
		"camel case":  strings.Repeat("aB", size/2),
		"apostrophes": strings.Repeat("a's", size/3),
		"marks":       "e" + strings.Repeat("\u0301", size/2),
		"ideographs":  strings.Repeat("東", size/3),
		"signs":       strings.Repeat("+#.", size/3),
		"broken":      strings.Repeat("\xe6\x9d", size/2),
	} {
		for _, term := range lexical.NewAnalyzer().Terms(text) {
			if len(term.Text) > lexical.MaxTermBytes || !utf8.ValidString(term.Text) {
				t.Fatalf("%s: term of %d bytes: %.100q", name, len(term.Text), term.Text)
			}
		}
	}
	x := indexOf(word, word+"x", "y "+word[1:])
	if got := ordinals(search(x, word)); !slices.Equal(got, []uint32{1}) {
		t.Errorf("the huge word found %v, want 1", got)
	}
}

// FuzzTerms checks what holds for every text.
func FuzzTerms(f *testing.F) {
	for _, text := range []string{
		"ERR-104, v2.1 C++ C# .NET node.js user_id softLogout", "1,000.5 don't l'égalité O'Brien's",
		"東京都 GitHub备份 ﾃﾞｰﾀ 한국어", "Straße ½ Go™ ﬁ e\u0301 \u00ad\u200b", "https://a.b/c_d#1 a::b --x", "\xff\xfea\x80",
	} {
		f.Add(text)
	}
	analyzer, x := lexical.NewAnalyzer(), lexical.New(lexical.Options{})
	f.Fuzz(func(t *testing.T, text string) {
		terms := analyzer.Terms(text)
		x.Add(0, text) // replaces the text before
		last := 0
		for i, term := range terms {
			switch {
			case term.Text == "" || len(term.Text) > lexical.MaxTermBytes || !utf8.ValidString(term.Text):
				t.Fatalf("bad term %q", term.Text)
			case term.Start < last || term.End <= term.Start || term.End > len(text):
				t.Fatalf("term %q is at %d to %d of %d bytes, after one at %d", term.Text, term.Start, term.End, len(text), last)
			}
			last = term.Start
			// What a reader sees and types finds the document, in any case.
			source := text[term.Start:term.End]
			for _, query := range []string{source, strings.ToLower(source), strings.ToUpper(source)} {
				if term.Kind != lexical.Part && i < 100 && len(search(x, query)) == 0 {
					t.Fatalf("term %q from %q is not found by %q", term.Text, source, query)
				}
			}
		}
		if found := len(search(x, text)) > 0; found != (len(terms) > 0) {
			t.Fatalf("found by itself: %v, with terms %v", found, terms)
		}
	})
}

func ExampleAnalyzer_Terms() {
	for _, term := range lexical.NewAnalyzer().Terms("Restart node.js!") {
		fmt.Println(term.Text, term.Start, term.End)
	}
	// Output:
	// restart 0 7
	// node.js 8 15
	// nodej 8 15
	// node 8 12
	// js 13 15
}

func ExampleAnalyzer_QueryTerms() {
	for _, term := range lexical.NewAnalyzer().QueryTerms("the ERR-104 code") {
		fmt.Printf("%s %.1f\n", term.Text, term.Weight)
	}
	// Output:
	// err-104 0.6
	// err104 0.6
	// err 0.4
	// 104 0.4
	// code 1.0
}
