package split_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search/split"
)

// byEach turns a count of one text into one of many.
func byEach(count func(string) int) func(context.Context, []string) ([]int, error) {
	return func(_ context.Context, texts []string) ([]int, error) {
		counts := make([]int, len(texts))
		for i, text := range texts {
			if text == "" {
				return nil, errors.New("asked to count an empty text")
			}
			counts[i] = count(text)
		}
		return counts, nil
	}
}

func words(text string) int { return len(strings.Fields(text)) }

// counts are tokenizers of several habits: whole words, characters, bytes, and one
// that counts more for a text than for its parts.
var counts = map[string]func(string) int{
	"words":  words,
	"runes":  utf8.RuneCountInString,
	"bytes":  func(text string) int { return (len(text) + 3) / 4 },
	"excess": func(text string) int { n := words(text); return n + n/8 },
	"zero":   func(string) int { return 0 },
}

func splitText(t testing.TB, doc braid.Document, opts split.Options) []split.Piece {
	t.Helper()
	if opts.Count == nil {
		opts.Count = byEach(words)
	}
	pieces, err := split.Split(t.Context(), doc, opts)
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// checkPieces asserts what holds of the pieces of any document.
func checkPieces(t interface{ Fatalf(string, ...any) }, doc braid.Document, opts split.Options, pieces []split.Piece, count func(string) int) {
	if len(pieces) == 0 {
		t.Fatalf("no pieces")
	}
	start, end := -1, 0
	for i, p := range pieces {
		if p.Start < 0 || p.End > len(doc.Text) || p.Start > p.End || p.Start < start || p.End < end {
			t.Fatalf("piece %d is %d..%d of %d, after %d..%d", i, p.Start, p.End, len(doc.Text), start, end)
		}
		start, end = p.Start, p.End
		for _, at := range []int{p.Start, p.End} {
			if at < len(doc.Text) && !utf8.RuneStart(doc.Text[at]) {
				t.Fatalf("piece %d: %d is within a character", i, at)
			}
		}
		if !utf8.ValidString(p.Text) || !utf8.ValidString(p.Passage()) {
			t.Fatalf("piece %d is not UTF-8: %q", i, p.Text)
		}
		if p.Passage() != "" && count(p.Passage()) > opts.Tokens && utf8.RuneCountInString(p.Text) > 1 {
			t.Fatalf("piece %d counts %d, more than %d: %q", i, count(p.Passage()), opts.Tokens, p.Passage())
		}
		if doc.Format != braid.FormatHTML && p.Text != doc.Text[p.Start:p.End] {
			t.Fatalf("piece %d is %q, there stands %q", i, p.Text, doc.Text[p.Start:p.End])
		}
		if len(pieces) > 1 && (p.Text == "" || strings.TrimSpace(p.Text) != p.Text) {
			t.Fatalf("piece %d is empty or has white space at its ends: %q", i, p.Text)
		}
	}
}

// checkCovered asserts that what is in no piece is white space.
func checkCovered(t interface{ Fatalf(string, ...any) }, text string, pieces []split.Piece) {
	at := 0
	for _, p := range pieces {
		if p.Start > at && strings.TrimSpace(text[at:p.Start]) != "" {
			t.Fatalf("%q at %d is in no piece", text[at:p.Start], at)
		}
		at = max(at, p.End)
	}
	if strings.TrimSpace(text[at:]) != "" {
		t.Fatalf("%q at the end is in no piece", text[at:])
	}
}

// anyText draws texts of the bits that markup is made of.
func anyText() *rapid.Generator[string] {
	bit := rapid.SampledFrom([]string{
		"a", "word ", "Wort.", " Ein Satz. ", "Noch einer! ", "\n", "\n\n", "\r\n", " ", "\t", "ß", "日本語。", "👩‍👩‍👧‍👦", "é", " ",
		"# ", "## Title\n", "\n---\n", "```\n", "- item\n", "* ", "1. ", "> ", "| a | b |\n|---|---|\n| c | d |\n", "    code\n", "[x](y)", "[l]: u\n", "~~~", "<!-- c -->",
		"<p>", "</p>", "<h1>", "</h1>", "<h2>Top</h2>", "<li>", "<ul>", "</ul>", "<table>", "<tr>", "<td>", "</table>", "<script>", "</script>", "<nav>", "</nav>", "<pre>", "</pre>",
		"<br>", "&amp;", "&nbsp;", "&notit;", "&", "&#x1F600;", "&NotEqualTilde;", "<title>T</title>", "<b>", "</b>", "<", ">", "<div", "x=\"", "<!--", "-->", "\x00", strings.Repeat("long", 30),
	})
	return rapid.Map(rapid.SliceOfN(bit, 0, 200), func(bits []string) string { return strings.Join(bits, "") })
}

func TestPieces(t *testing.T) {
	formats := []braid.Format{braid.FormatText, braid.FormatMarkdown, braid.FormatHTML}
	names := []string{"words", "runes", "bytes", "excess", "zero"}
	rapid.Check(t, func(t *rapid.T) {
		count := counts[rapid.SampledFrom(names).Draw(t, "count")]
		tokens := rapid.IntRange(split.MinTokens, 200).Draw(t, "tokens")
		opts := split.Options{
			Tokens:  tokens,
			Overlap: rapid.IntRange(0, tokens/2).Draw(t, "overlap"),
			Count:   byEach(count),
		}
		doc := braid.Document{ID: "d", Format: rapid.SampledFrom(formats).Draw(t, "format"), Text: anyText().Draw(t, "text"), Title: rapid.SampledFrom([]string{"", "Top", "A title", strings.Repeat("much ado ", 60)}).Draw(t, "title")}
		pieces, err := split.Split(context.Background(), doc, opts)
		if err != nil {
			t.Fatal(err)
		}
		checkPieces(t, doc, opts, pieces, count)
		if doc.Format == braid.FormatText {
			checkCovered(t, doc.Text, pieces)
			if count(doc.Passage()) <= tokens && (len(pieces) != 1 || pieces[0].Passage() != doc.Passage()) {
				t.Fatalf("a document that fits is %+v", pieces)
			}
		}
		again, err := split.Split(context.Background(), doc, opts)
		if err != nil || !slices.Equal(pieces, again) {
			t.Fatalf("the same document gave other pieces: %v", err)
		}
	})
}

// Sections keep their pieces when another one changes.
func TestSectionsAreApart(t *testing.T) {
	heading := map[braid.Format]func(string) string{
		braid.FormatMarkdown: func(h string) string { return "\n\n## " + h + "\n\n" },
		braid.FormatHTML:     func(h string) string { return "<h2>" + h + "</h2>" },
	}
	paragraph := map[braid.Format]func(string) string{
		braid.FormatMarkdown: func(p string) string { return p + "\n\n" },
		braid.FormatHTML:     func(p string) string { return "<p>" + p + "</p>" },
	}
	sentence := rapid.SampledFrom([]string{"The quick brown fox jumps.", "It rains.", "Nobody knows why this is as long as it is, but so it is.", "Why? "})
	text := rapid.Map(rapid.SliceOfN(sentence, 1, 40), func(s []string) string { return strings.Join(s, " ") })
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]braid.Format{braid.FormatMarkdown, braid.FormatHTML}).Draw(t, "format")
		names := []string{"One", "Two", "Three", "Four"}
		bodies := make([]string, len(names))
		for i := range names {
			for _, p := range rapid.SliceOfN(text, 1, 3).Draw(t, "section") {
				bodies[i] += paragraph[format](p)
			}
		}
		sections := func() map[string][]string {
			var source strings.Builder
			for i, name := range names {
				source.WriteString(heading[format](name) + bodies[i])
			}
			pieces, err := split.Split(context.Background(), braid.Document{Text: source.String(), Format: format},
				split.Options{Tokens: 40, Overlap: 10, Count: byEach(words)})
			if err != nil {
				t.Fatal(err)
			}
			found := map[string][]string{}
			for _, p := range pieces {
				found[p.Section] = append(found[p.Section], p.Passage())
			}
			return found
		}
		before := sections()
		edited := rapid.IntRange(0, len(names)-1).Draw(t, "edited")
		bodies[edited] = paragraph[format](text.Draw(t, "edit"))
		after := sections()
		for i, name := range names {
			if i != edited && (len(before[name]) == 0 || !slices.Equal(before[name], after[name])) {
				t.Fatalf("section %s was %q, is %q", name, before[name], after[name])
			}
		}
	})
}

// Of a long text that grows at its end, the pieces but the last two stay.
func TestAppending(t *testing.T) {
	sentence := rapid.SampledFrom([]string{"The quick brown fox jumps.", "It rains.", "It was the year in which nothing happened.\n\n"})
	text := rapid.Map(rapid.SliceOfN(sentence, 1, 100), func(s []string) string { return strings.Join(s, " ") })
	rapid.Check(t, func(t *rapid.T) {
		opts := split.Options{Tokens: 30, Overlap: 8, Count: byEach(words)}
		doc := braid.Document{Text: text.Draw(t, "text")}
		before, err := split.Split(context.Background(), doc, opts)
		if err != nil {
			t.Fatal(err)
		}
		doc.Text += "\n\n" + text.Draw(t, "more")
		after, err := split.Split(context.Background(), doc, opts)
		if err != nil {
			t.Fatal(err)
		}
		keep := max(0, len(before)-2)
		if len(after) < keep || !slices.Equal(before[:keep], after[:keep]) {
			t.Fatalf("was %+v, is %+v", before[:keep], after)
		}
	})
}

func TestBorders(t *testing.T) {
	number := func(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	for _, tt := range []struct {
		name    string
		text    string
		overlap int
		want    []string
	}{
		{name: "fits", text: " one two. \n", want: []string{" one two. \n"}},
		{name: "paragraphs before sentences",
			text: number(12, "a") + ".\n\n" + number(4, "b") + ". " + number(5, "c") + ".",
			want: []string{number(12, "a") + ".", number(4, "b") + ". " + number(5, "c") + "."}},
		{name: "sentences before words",
			text: number(10, "A") + ". " + number(10, "B") + ".",
			want: []string{number(10, "A") + ".", number(10, "B") + "."}},
		{name: "a wrapped line is no sentence",
			text: "One two three four\nfive six seven eight nine. Ten eleven twelve thirteen fourteen fifteen sixteen seventeen.",
			want: []string{"One two three four\nfive six seven eight nine.", "Ten eleven twelve thirteen fourteen fifteen sixteen seventeen."}},
		{name: "overlap is of whole sentences", overlap: 4,
			text: "Aa b c d e f g h. Aa b. Aa c d. Bb c d e f g h i.",
			want: []string{"Aa b c d e f g h. Aa b. Aa c d.", "Aa c d. Bb c d e f g h i."}},
		{name: "no small tail",
			text: "A a a a a. B b b b b. C c c c c c. D.",
			want: []string{"A a a a a. B b b b b.", "C c c c c c. D."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range splitText(t, braid.Document{Text: tt.text}, split.Options{Tokens: 16, Overlap: tt.overlap}) {
				got = append(got, p.Text)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

// Whatever has no borders is cut all the same.
func TestNoBorders(t *testing.T) {
	for name, text := range map[string]string{
		"letters":    strings.Repeat("x", 5000),
		"ideographs": strings.Repeat("日", 5000),
		"families":   strings.Repeat("👩‍👩‍👧‍👦", 300),
		"marks":      "a" + strings.Repeat("̈", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			doc, opts := braid.Document{Title: "t", Text: text}, split.Options{Tokens: 100, Count: byEach(utf8.RuneCountInString)}
			pieces := splitText(t, doc, opts)
			checkPieces(t, doc, opts, pieces, utf8.RuneCountInString)
			checkCovered(t, text, pieces)
			if want := utf8.RuneCountInString(text) / 98; len(pieces) < want || len(pieces) > 2*want {
				t.Errorf("%d pieces, want about %d", len(pieces), want)
			}
			if name == "families" {
				for _, p := range pieces {
					if strings.HasPrefix(p.Text, "\u200d") || strings.HasSuffix(p.Text, "\u200d") {
						t.Fatalf("a grapheme was cut: %q", p.Text)
					}
				}
			}
		})
	}
}

// A megabyte of anything is split in a time that is not quadratic. The test has
// no clock of its own: what is quadratic does not end within that of the run.
func TestLargest(t *testing.T) {
	const size = braid.MaxTextBytes
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for name, text := range map[string]string{
		"letters": fill("x"), "marks": fill("̈"), "spaces": fill(" ") + "x", "words": fill("word "), "sentences": fill("A sentence. "),
		"lines": fill("a line\n"), "paragraphs": fill("a\n\n"), "headings": fill("# a\n"), "sections": fill("# a\n\nb\n\n"), "quotes": fill(">"), "bullets": fill("* "),
		"list": fill("- a\n"), "nested list": nestedList(size), "brackets": fill("["), "definitions": fill("[a]: b\n"), "pipes": fill("|"), "table": "|a|b|\n|-|-|\n" + fill("|a|b|\n"), "fences": fill("```\n"), "ticks": fill("`"), "stars": fill("*a "),
		"divs": fill("<div>"), "lists": fill("<ul><li>"), "unclosed": fill("<"), "skipped": fill("<nav><svg><button>"), "tags": fill("<h1>a</h1>"), "references": fill("&amp"), "comment": fill("<!--"), "cells": fill("<td>a"), "pre": fill("<pre>a"),
	} {
		text := text[:min(len(text), size)]
		for _, format := range []braid.Format{braid.FormatText, braid.FormatMarkdown, braid.FormatHTML} {
			t.Run(name+" as "+string(format), func(t *testing.T) {
				count := counts["bytes"]
				doc, opts := braid.Document{Text: text, Format: format}, split.Options{Tokens: 512, Overlap: 32, Count: byEach(count)}
				start := time.Now()
				pieces := splitText(t, doc, opts)
				t.Log(time.Since(start), len(pieces), "pieces")
				checkPieces(t, doc, opts, pieces, count)
				if format == braid.FormatText {
					checkCovered(t, text, pieces)
				}
				if len(pieces) > 2*split.MaxSections+size/512 {
					t.Errorf("%d pieces", len(pieces))
				}
			})
		}
	}
}

// nestedList is a list of which each line is one level deeper.
func nestedList(size int) string {
	var b strings.Builder
	for depth := 0; b.Len() < size; depth++ {
		b.WriteString(strings.Repeat("  ", depth) + "- a\n")
	}
	return b.String()
}

func TestRefused(t *testing.T) {
	good := split.Options{Tokens: 100, Count: byEach(words)}
	for field, change := range map[string]func(*split.Options){
		"tokens":  func(o *split.Options) { o.Tokens = split.MinTokens - 1 },
		"overlap": func(o *split.Options) { o.Overlap = 51 },
		"count":   func(o *split.Options) { o.Count = nil },
	} {
		opts := good
		change(&opts)
		_, err := split.Split(t.Context(), braid.Document{Text: "a"}, opts)
		var e *braid.Error
		if !errors.As(err, &e) || e.Code != braid.InvalidArgument || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	broken := errors.New("broken")
	good.Count = func(context.Context, []string) ([]int, error) { return nil, broken }
	if _, err := split.Split(t.Context(), braid.Document{Text: "a"}, good); !errors.Is(err, broken) {
		t.Errorf("the error of Count is lost: %v", err)
	}
	good.Count = func(context.Context, []string) ([]int, error) { return nil, nil }
	if _, err := split.Split(t.Context(), braid.Document{Text: "a"}, good); err == nil {
		t.Error("a count without answers passes")
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\n\ntext\n\n- a\n- b\n", "t", uint8(1), uint8(16))
	f.Add("<h1>A</h1><ul><li>b<table><tr><td>&amp;", "", uint8(2), uint8(40))
	f.Add("One. Two! 日本語。\r\n\r\nx", "title", uint8(0), uint8(16))
	f.Fuzz(func(t *testing.T, text, title string, format, tokens uint8) {
		if !utf8.ValidString(text) || !utf8.ValidString(title) {
			t.Skip()
		}
		doc := braid.Document{Title: title, Text: text, Format: []braid.Format{braid.FormatText, braid.FormatMarkdown, braid.FormatHTML}[format%3]}
		opts := split.Options{Tokens: split.MinTokens + int(tokens)}
		opts.Overlap = opts.Tokens / 4
		count := func(text string) int { return utf8.RuneCountInString(strings.Map(dropSpace, text)) }
		opts.Count = byEach(count)
		pieces := splitText(t, doc, opts)
		checkPieces(t, doc, opts, pieces, count)
		if doc.Format == braid.FormatText {
			checkCovered(t, text, pieces)
		}
	})
}

func dropSpace(r rune) rune {
	if unicode.IsSpace(r) {
		return -1
	}
	return r
}
