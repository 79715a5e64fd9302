package lexical

import "bytes"

// Compounds are taken apart level by level, so that github.com is found inside
// github.com/rust-lang and rust-lang inside that.
const (
	levelPath = iota // / : @ #
	levelName        // .
	levelWord        // - _ ' &
	levelCase        // softLogout, LNK2019: no character between the parts
)

// joinLevel returns the level at which the character at i of the compound
// separates parts, or levelCase if it separates none. The dot of a number and the
// signs of C++ and C# separate nothing.
func (s *scanner) joinLevel(i int) int {
	switch s.word[i] {
	case '/', ':', '@':
		return levelPath
	case '#':
		if !isSharp(s.word, i) {
			return levelPath
		}
	case '.':
		if !s.isDecimalPoint(i) {
			return levelName
		}
	case '-', '_', '\'', '&':
		return levelWord
	}
	return levelCase
}

func (s *scanner) isDecimalPoint(i int) bool {
	return i > 0 && i+1 < len(s.word) && classOf(s.word[i-1]) == digit && classOf(s.word[i+1]) == digit
}

// takeApart emits the terms of the compound in s.word.
func (s *scanner) takeApart() {
	if s.side == forPhrase {
		s.emitUnits()
		return
	}
	if s.mixed {
		s.split(0, len(s.word), levelPath, true)
		return
	}
	// What most text is made of has nothing to look for inside.
	s.fold(0, len(s.word))
	s.emitPlain(0, len(s.word), Word)
}

// split emits the terms of word[from:to], whose separators are of level or later ones.
func (s *scanner) split(from, to, level int, top bool) {
	for ; level < levelCase; level++ {
		if s.hasJoiner(from, to, level) {
			s.emitWhole(from, to, level, top)
			s.splitAt(from, to, level)
			return
		}
	}
	s.emitWord(from, to, top)
}

func (s *scanner) hasJoiner(from, to, level int) bool {
	for i := from; i < to; i++ {
		if s.joinLevel(i) == level {
			return true
		}
	}
	return false
}

func (s *scanner) splitAt(from, to, level int) {
	start := from
	for i := from; i <= to; i++ {
		if i == to || s.joinLevel(i) == level {
			if i > start {
				s.split(start, i, level+1, false)
			}
			start = i + 1
		}
	}
}

// emitWhole emits a compound that has joiners: as written, and without them
// where that cannot change what it means.
func (s *scanner) emitWhole(from, to, level int, top bool) {
	s.fold(from, to)
	if isOnly(s.text, '_') {
		return
	}
	s.emitText(from, to, kindOf(Whole, top))
	if level > levelPath && s.isJoinable(from, to) {
		s.foldJoined(from, to)
		s.emitPlain(from, to, kindOf(Joined, top))
	}
}

func kindOf(k Kind, top bool) Kind {
	if top {
		return k
	}
	return Part
}

// isJoinable reports whether word[from:to] has a joiner between two parts, and
// none between two digits: 10.5-7 is not 10.57.
func (s *scanner) isJoinable(from, to int) bool {
	inside, pending, last := false, false, separator
	for i := from; i < to; i++ {
		if s.joinLevel(i) != levelCase {
			pending = last != separator
			continue
		}
		c := classOf(s.word[i])
		if pending && c == digit && last == digit {
			return false
		}
		inside = inside || pending
		pending, last = false, c
	}
	return inside
}

// emitWord emits a word without joiners, and its parts if case or digits show
// that it has several.
func (s *scanner) emitWord(from, to int, top bool) {
	end := s.partEnd(from, to)
	s.fold(from, to)
	if end == to {
		s.emitPlain(from, to, kindOf(Word, top))
		return
	}
	s.emitText(from, to, kindOf(Whole, top))
	if !bytes.Equal(s.stems.stem(s.text), s.text) {
		s.emitPlain(from, to, kindOf(Joined, top)) // what its lower-cased form is found by
	}
	for start := from; start < to; start, end = end, s.partEnd(end, to) {
		// Single characters (the C of C2065, the m of mRNA) say too little,
		// and the C of C2065 is not the language.
		if end-start > 1 && isWordClass(classOf(s.word[start])) {
			s.fold(start, end)
			s.emitPlain(start, end, Part)
		}
	}
}

// partEnd returns the end of the part of word[:to] that starts at from.
func (s *scanner) partEnd(from, to int) int {
	for i := from + 1; i < to; i++ {
		if s.isBorder(i, from, to) {
			return i
		}
	}
	return to
}

// isBorder reports whether a part ends before i: between letters and digits
// (LNK|2019), between lower and upper case (soft|Logout), before the last
// capital of an acronym that a word follows (HTTP|Server, not URL|s), and
// around the sign of a name longer than C++ (notepad|++).
func (s *scanner) isBorder(i, from, to int) bool {
	before, after := s.word[i-1], s.word[i]
	switch {
	case after == '+' || after == '#':
		return before != after && i-from > 1
	case before == '+' || before == '#':
		return true
	case after == '.' || before == '.': // a decimal point
		return false
	case (classOf(before) == digit) != (classOf(after) == digit):
		return true
	case isLower(before) && isUpper(after):
		return true
	}
	return isUpper(before) && isUpper(after) && i+2 < to && isLower(s.word[i+1]) && isLower(s.word[i+2])
}

// fold sets s.text to word[from:to] folded.
func (s *scanner) fold(from, to int) {
	s.text = s.folder.append(s.text[:0], s.word[from:to])
}

// foldJoined sets s.text to word[from:to] folded, without its joiners.
func (s *scanner) foldJoined(from, to int) {
	s.joined = s.joined[:0]
	for i := from; i < to; i++ {
		if s.joinLevel(i) == levelCase {
			s.joined = append(s.joined, s.word[i])
		}
	}
	s.text = s.folder.append(s.text[:0], s.joined)
}

// emitText emits s.text as it stands.
func (s *scanner) emitText(from, to int, kind Kind) {
	s.emitTerm(s.text, from, to, kind, false)
}

// emitPlain emits s.text as a word of running text: stemmed if it is English.
// The query side looks for a word as it is written too, since softLogouts is
// stored in both forms and may be asked for in lower case.
func (s *scanner) emitPlain(from, to int, kind Kind) {
	stem := s.stems.stem(s.text)
	stop := isStopWord(s.text)
	s.emitTerm(stem, from, to, kind, stop)
	if s.side == forQuery && kind == Word && !bytes.Equal(stem, s.text) {
		s.emitTerm(s.text, from, to, Whole, stop)
	}
}

func (s *scanner) emitTerm(text []byte, from, to int, kind Kind, stop bool) {
	if len(text) == 0 {
		return // marks on nothing
	}
	s.emit(token{
		text:  bound(text),
		start: s.field.start(s.at[from]),
		end:   s.field.end(s.at[to-1]),
		kind:  kind,
		stop:  stop,
		group: s.group,
	})
}
