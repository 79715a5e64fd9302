package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// class is what a character means to the scanner.
type class uint8

const (
	separator class = iota // ends a token
	letter                 // of a script written with spaces; marks and '_' too
	digit
	ideograph // of a script written without spaces between words
	joiner    // joins two word characters to a compound, or separates
)

// classOf classifies a character after NFKC.
func classOf(r rune) class {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_':
			return letter
		case '0' <= r && r <= '9':
			return digit
		}
		switch r {
		case '-', '.', '\'', '&', '/', ':', '@', '#', '+', ',':
			return joiner
		}
		return separator
	}
	switch {
	case isUnspaced(r):
		return ideograph
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	}
	return separator
}

// isUnspaced reports whether r belongs to a script that does not put spaces
// between words. Korean does, but glues particles to them, so that it too is
// found by pairs of syllables.
func isUnspaced(r rune) bool {
	if r < 0x0E00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r == 'ー' || r == '〆' // shared by several of them, so that none claims it
}

func isWordClass(c class) bool { return c == letter || c == digit }

func isUpper(r rune) bool {
	if r < utf8.RuneSelf {
		return 'A' <= r && r <= 'Z'
	}
	return unicode.IsUpper(r) || unicode.IsTitle(r)
}

func isLower(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z'
	}
	return unicode.IsLower(r)
}

// isIgnored reports whether r is invisible inside a word: soft hyphens,
// zero-width characters, direction marks, variation selectors.
func isIgnored(r rune) bool {
	if r < 0xAD {
		return false
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// isTradeMark reports whether s begins with a sign that NFKC would turn into
// letters of the word before it: Go™ is not "gotm".
func isTradeMark(s string) bool {
	return strings.HasPrefix(s, "™") || strings.HasPrefix(s, "℠")
}

// plainPunctuation maps typographic variants that NFKC keeps apart.
func plainPunctuation(r rune) rune {
	switch r {
	case '\u2018', '\u2019', '\u02BC', '\u201B', '\u2032':
		return '\''
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212': // hyphens, en dash, minus
		return '-'
	case '\u2044': // NFKC makes ½ 1⁄2
		return '/'
	}
	return r
}

// field is a stretch of text without white space, normalised: the scanner's
// unit of work.
type field struct {
	runes []rune
	// from and to are the source bytes of each rune; both are empty for ASCII,
	// where rune i is byte base+i.
	from, to []int32
	base     int
	buffer   []byte
}

func (f *field) start(i int) int {
	if len(f.from) == 0 {
		return f.base + i
	}
	return f.base + int(f.from[i])
}

func (f *field) end(i int) int {
	if len(f.to) == 0 {
		return f.base + i + 1
	}
	return f.base + int(f.to[i])
}

// load normalises source, which begins at byte base of the text.
func (f *field) load(source string, base int, ascii bool) {
	f.base = base
	f.runes, f.from, f.to = f.runes[:0], f.from[:0], f.to[:0]
	if ascii {
		for i := range len(source) {
			f.runes = append(f.runes, rune(source[i]))
		}
		return
	}
	for from := 0; from < len(source); {
		to := from + norm.NFKC.NextBoundaryInString(source[from:], true)
		f.loadSegment(source, from, to)
		from = to
	}
}

// loadSegment normalises source[from:to], which no character outside changes.
func (f *field) loadSegment(source string, from, to int) {
	if isTradeMark(source[from:to]) {
		return
	}
	f.buffer = norm.NFKC.AppendString(f.buffer[:0], source[from:to])
	for rest := f.buffer; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		rest = rest[n:]
		if isIgnored(r) {
			continue
		}
		f.runes = append(f.runes, plainPunctuation(r))
		f.from, f.to = append(f.from, int32(from)), append(f.to, int32(to))
	}
}

// nextField returns the bounds of the first stretch without white space at or
// after i, and whether it is all ASCII; from == len(text) when there is none.
func nextField(text string, i int) (from, to int, ascii bool) {
	for i < len(text) && isSpaceByte(text[i]) {
		i++
	}
	from, ascii = i, true
	for i < len(text) && !isSpaceByte(text[i]) {
		ascii = ascii && text[i] < utf8.RuneSelf
		i++
	}
	return from, i, ascii
}

// isSpaceByte knows ASCII white space and control characters; other white
// space is a separator inside a field.
func isSpaceByte(b byte) bool { return b <= ' ' }
