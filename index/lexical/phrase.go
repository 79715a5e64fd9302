package lexical

import "iter"

// Unit is one word of a phrase: what stands between white space and punctuation,
// folded. Compounds are several: err-104 is err and 104, and so phrases do not care
// about hyphens. A character of a script written without spaces is a unit.
type Unit struct {
	Text string // folded
	// Term is the term under which every text is indexed that holds the unit.
	Term string
}

// Units returns the units of text, in order.
func (a *Analyzer) Units(text string) []Unit {
	var units []Unit
	a.scan(text, forPhrase, func(t token) {
		if t.kind == Word {
			units = append(units, Unit{Term: string(t.text)})
		} else {
			units[len(units)-1].Text = string(t.text)
		}
	})
	return units
}

// Holds reports whether text holds the phrase: its units in their order, with no
// other unit between.
func (a *Analyzer) Holds(text string, phrase []Unit) bool {
	if len(phrase) == 0 {
		return true
	}
	var m matcher
	m.prepare(phrase)
	a.scan(text, forPhrase, func(t token) {
		if t.kind == Whole {
			m.next(t.text)
		}
	})
	return m.found
}

// matcher looks for a phrase in a stream of units (Knuth, Morris and Pratt, 1977).
type matcher struct {
	phrase []Unit
	back   []int // by number of units met: how many of them begin the phrase anew
	met    int
	found  bool
}

func (m *matcher) prepare(phrase []Unit) {
	m.phrase, m.back = phrase, make([]int, len(phrase)+1)
	for i := 1; i < len(phrase); i++ {
		k := m.back[i]
		for k > 0 && phrase[i].Text != phrase[k].Text {
			k = m.back[k]
		}
		if phrase[i].Text == phrase[k].Text {
			k++
		}
		m.back[i+1] = k
	}
}

func (m *matcher) next(unit []byte) {
	if m.found {
		return
	}
	for m.met > 0 && string(unit) != m.phrase[m.met].Text {
		m.met = m.back[m.met]
	}
	if string(unit) == m.phrase[m.met].Text {
		m.met++
	}
	m.found = m.met == len(m.phrase)
}

// Holding yields the documents that hold a term, in no particular order.
func (x *Index) Holding(term string) iter.Seq[uint32] {
	number, known := x.terms.numbers[term]
	if !known {
		return func(func(uint32) bool) {}
	}
	return x.index.Holding(number)
}

// emitUnits emits the units of the compound in s.word: for each its term, as a
// Word, and then itself, as a Whole.
func (s *scanner) emitUnits() {
	start := 0
	for i := 0; i <= len(s.word); i++ {
		if i < len(s.word) && s.joinLevel(i) == levelCase {
			continue
		}
		if i > start {
			s.fold(start, i)
			s.emitUnit(start, i)
		}
		start = i + 1
	}
}

func (s *scanner) emitUnit(from, to int) {
	s.emitTerm(s.stems.stem(s.text), from, to, Word, false)
	s.emitTerm(s.text, from, to, Whole, false)
}
