package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// written are pieces of text that are easily cut in the wrong place.
var written = []string{"pump", "seal", " ", "  ", "\n", ".", "é", "e\u0301", "a\u0308\u0323", "水泵", "密", "👩‍🔧", "👍🏽", "☎\ufe0f", "한국", "\u1112\u1161", "ß", "-", "x", "long-winded", "a\r\n", "\u200d", "\u0301"}

func TestFragments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		var marks []mark
		for _, piece := range rapid.SliceOfN(rapid.SampledFrom(written), 0, 60).Draw(t, "text") {
			from := text.Len()
			text.WriteString(piece)
			if rapid.IntRange(0, 3).Draw(t, "marked") == 0 {
				marks = append(marks, mark{Span{from, text.Len()}, []weight{{piece, float64(len(piece))}}})
			}
		}
		n, length := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "length")
		whole := text.String()
		got := fragments("text", whole, marks, n, length)
		if len(got) > n || len(got) == 0 && strings.TrimSpace(whole) != "" {
			t.Fatalf("%d fragments of %q, want 1 to %d", len(got), whole, n)
		}
		starts, end := borders(whole), 0
		for _, f := range got {
			if f.Start < end || f.End <= f.Start {
				t.Fatalf("%q: fragments %+v", whole, got)
			}
			end = f.End
			from, ok := slices.BinarySearch(starts, f.Start)
			to, ok2 := slices.BinarySearch(starts, f.End)
			if !ok || !ok2 || to-from > length {
				t.Fatalf("%q: fragment %q is not cut between characters, or has %d of them, not %d", whole, whole[f.Start:f.End], to-from, length)
			}
			checkParts(t, whole, f, marks)
		}
		if len(marks) > 0 && !slices.ContainsFunc(got, func(f Fragment) bool { return slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Match }) }) {
			t.Fatalf("%q with %v: nothing is marked in %+v", whole, marks, got)
		}
	})
}

// checkParts asserts that parts are the fragment, and marked byte by byte where
// marks are.
func checkParts(t *rapid.T, whole string, f Fragment, marks []mark) {
	var joined strings.Builder
	for _, p := range f.Parts {
		if p.Text == "" || !utf8.ValidString(p.Text) {
			t.Fatalf("%q: part %q", whole, p.Text)
		}
		for i := range len(p.Text) {
			at := f.Start + joined.Len() + i
			if marked := slices.ContainsFunc(marks, func(m mark) bool { return m.Start <= at && at < m.End }); marked != p.Match {
				t.Fatalf("%q: byte %d is marked: %v, want %v", whole, at, p.Match, marked)
			}
		}
		joined.WriteString(p.Text)
	}
	if joined.String() != whole[f.Start:f.End] {
		t.Fatalf("%q: parts of %q are %q", whole, whole[f.Start:f.End], joined.String())
	}
}

func TestFragmentsAreCutWell(t *testing.T) {
	const text = "The pump stands in the cellar. Before the first start fill the casing with water. The seal of the pump leaks when it is worn, and a worn seal is replaced together with the bearing."
	var marks []mark
	for _, word := range []string{"pump", "seal", "leaks"} {
		for at := 0; ; {
			i := strings.Index(text[at:], word)
			if i < 0 {
				break
			}
			marks = append(marks, mark{Span{at + i, at + i + len(word)}, []weight{{word, 1}}})
			at += i + len(word)
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return a.Start - b.Start })
	var got []string
	for _, f := range fragments("text", text, marks, 2, 70) {
		var s strings.Builder
		for _, p := range f.Parts {
			if p.Match {
				s.WriteString("[" + p.Text + "]")
			} else {
				s.WriteString(p.Text)
			}
		}
		got = append(got, s.String())
	}
	// The piece with all three words is chosen first, and comes second.
	if want := []string{"The [pump] stands in the cellar. Before the first start fill the casing", "The [seal] of the [pump] [leaks] when it is worn, and a worn [seal] is"}; !slices.Equal(got, want) {
		t.Errorf("fragments %q, want %q", got, want)
	}
}
