package lexical

import (
	"unicode/utf8"

	"golang.org/x/text/cases"
)

// side says whether terms are for storing or for looking up. Where a token
// could be met by several terms, the index side makes them all and the query
// side only as many as it needs.
type side uint8

const (
	forIndex side = iota
	forQuery
	// forPhrase makes the units of Analyzer.Units and no terms.
	forPhrase
)

// token is one term with its origin, as the scanner emits it.
type token struct {
	text       []byte
	start, end int
	kind       Kind
	stop       bool // a stop word
	group      int  // number of the compound, word or run it belongs to
}

// scanner turns text into terms, field by field. It holds the buffers that one
// pass over a text needs.
type scanner struct {
	field field
	side  side
	emit  func(token)
	group int

	// word is the compound being taken apart: its runes without what is
	// dropped inside it, and their positions in the field.
	word   []rune
	at     []int
	mixed  bool   // it is more than lower-case letters after any one letter
	joined []rune // the word without its joiners

	text   []byte // the term being made
	folder folder
	stems  stemmer
}

func newScanner() *scanner {
	return &scanner{folder: folder{fold: cases.Fold()}}
}

// maxKeptRunes bounds the buffers a scanner keeps between texts: a field is
// rarely longer, and one huge text must not hold memory for good.
const maxKeptRunes = 16 << 10

func (s *scanner) scan(text string, side side, emit func(token)) {
	s.side, s.emit, s.group = side, emit, 0
	for i := 0; i < len(text); {
		from, to, ascii := nextField(text, i)
		s.field.load(text[from:to], from, ascii)
		s.scanField()
		i = to
	}
	s.emit = nil
	if cap(s.field.runes) > maxKeptRunes || cap(s.text) > maxKeptRunes {
		*s = *newScanner()
	}
}

// scanField finds the compounds and the runs of unspaced script in the field.
func (s *scanner) scanField() {
	runes := s.field.runes
	for i := 0; i < len(runes); {
		switch c := classOf(runes[i]); {
		case c == ideograph:
			i = s.unspaced(i)
		case isWordClass(c), s.startsDotName(i):
			i = s.compound(i)
		default:
			i++
		}
	}
}

// startsDotName reports whether the '.' at i belongs to a name such as .NET or
// .gitignore: a letter follows, and no word or other dot stands before.
func (s *scanner) startsDotName(i int) bool {
	if s.field.runes[i] != '.' || s.classAt(i+1) != letter {
		return false
	}
	return i == 0 || s.field.runes[i-1] != '.' && !isWordClass(s.classAt(i-1))
}

// classAt is classOf with separators around the field.
func (s *scanner) classAt(i int) class {
	if i < 0 || i >= len(s.field.runes) {
		return separator
	}
	return classOf(s.field.runes[i])
}

// unspaced emits the terms of the run of unspaced script at i and returns its
// end: every pair of neighbours, which finds any substring of two characters
// or more, and each character, which is what a query of one character looks
// for.
func (s *scanner) unspaced(i int) int {
	end := i + 1
	for s.classAt(end) == ideograph {
		end++
	}
	s.group++
	if s.side == forPhrase {
		for ; i < end; i++ {
			s.emitRun(i, i+1, Word)
			s.emitRun(i, i+1, Whole)
		}
		return end
	}
	if end-i == 1 {
		s.emitRun(i, end, Word)
		return end
	}
	for k := i; k < end; k++ {
		if s.side == forIndex {
			s.emitRun(k, k+1, Part)
		}
		if k+1 < end {
			s.emitRun(k, k+2, Word)
		}
	}
	return end
}

func (s *scanner) emitRun(from, to int, kind Kind) {
	s.text = s.text[:0]
	for _, r := range s.field.runes[from:to] {
		s.text = utf8.AppendRune(s.text, r)
	}
	s.emit(token{text: s.text, start: s.field.start(from), end: s.field.end(to - 1), kind: kind, group: s.group})
}

// compound collects the compound that starts at i, emits its terms and returns
// the position after it.
func (s *scanner) compound(i int) int {
	s.word, s.at, s.mixed = s.word[:0], s.at[:0], false
	s.group++
	for n := 1; n > 0; n = s.step(i) {
		for range n {
			s.keep(i)
			i++
		}
		i += s.elided(i)
	}
	s.takeApart()
	return i
}

func (s *scanner) keep(i int) {
	r := s.field.runes[i]
	s.mixed = s.mixed || !isLower(r) && (len(s.word) > 0 || !isUpper(r))
	s.word, s.at = append(s.word, r), append(s.at, i)
}

// step returns how many characters from i on continue the compound before i:
// a word character, the ++ or # of a language name, or a joiner that has a
// word character behind it.
func (s *scanner) step(i int) int {
	next := s.classAt(i)
	if isWordClass(next) {
		return 1
	}
	if next != joiner {
		return 0
	}
	switch r := s.field.runes[i]; {
	case r == '#' && isSharp(s.word, len(s.word)), r == '#' && s.classAt(i+1) == digit:
		return 1
	case r == '+' && s.isPlusPlus(i):
		return 2
	case r == '#', r == '+', r == ',':
		return 0
	case r == ':' && s.classAt(i+1) == joiner && s.field.runes[i+1] == ':' && isWordClass(s.classAt(i+2)):
		return 2
	}
	if isWordClass(s.classAt(i + 1)) {
		return 1
	}
	return 0
}

// isPlusPlus reports whether the ++ of C++ stands at i: after a letter, and
// not followed by another plus.
func (s *scanner) isPlusPlus(i int) bool {
	isPlus := func(i int) bool { return s.classAt(i) == joiner && s.field.runes[i] == '+' }
	return s.classAt(i-1) == letter && isPlus(i+1) && !isPlus(i+2)
}

// isSharp reports whether a '#' at i of word is the one of C# or F#: it
// follows a single letter.
func isSharp(word []rune, i int) bool {
	return i >= 1 && classOf(word[i-1]) == letter && word[i-1] != '_' &&
		(i == 1 || classOf(word[i-2]) == joiner)
}

// elided returns how many characters at i are left out of the compound while
// it goes on behind them or ends: the comma of 1,000, the apostrophe of a
// contraction, the 's of a genitive.
func (s *scanner) elided(i int) int {
	if s.classAt(i) != joiner {
		return 0
	}
	switch s.field.runes[i] {
	case ',':
		if s.isThousands(i) {
			return 1
		}
	case '\'':
		return s.elidedApostrophe(i)
	}
	return 0
}

// isThousands reports whether the comma at i separates thousands: one to three
// digits that start the number stand before it, or a group that a comma
// separated, and exactly three digits behind it.
func (s *scanner) isThousands(i int) bool {
	after := 0
	for s.classAt(i+1+after) == digit {
		after++
	}
	if after != 3 {
		return false
	}
	before := 0
	for s.classAt(i-1-before) == digit {
		before++
	}
	switch lead := i - 1 - before; {
	case before < 1 || before > 3, s.classAt(lead) == letter:
		return false
	case lead >= 0 && s.field.runes[lead] == ',' && isWordClass(s.classAt(lead-1)):
		return before == 3 && s.at[len(s.at)-1-before] == lead-1 // that comma was elided too
	case lead >= 0 && s.field.runes[lead] == '.':
		return s.classAt(lead-1) != digit
	}
	return true
}

// elidedApostrophe looks at what follows the apostrophe at i up to the end of
// the word. The genitive's 's is no part of the word; before the ending of a
// contraction (n't, 're, 've, 'll, 'm, 'd) only the apostrophe goes.
func (s *scanner) elidedApostrophe(i int) int {
	end := i + 1
	for end < i+4 && isWordClass(s.classAt(end)) {
		end++
	}
	if end == i+1 || isWordClass(s.classAt(end)) {
		return 0
	}
	switch foldASCII(s.field.runes[i+1 : end]) {
	case "s":
		return 2
	case "t", "re", "ve", "ll", "m", "d":
		return 1
	}
	return 0
}

// foldASCII returns up to two ASCII letters in lower case, or "".
func foldASCII(runes []rune) string {
	var text []byte
	for _, r := range runes {
		if len(text) == 2 || r >= 0x80 {
			return ""
		}
		text = append(text, byte(r)|0x20)
	}
	return string(text)
}
