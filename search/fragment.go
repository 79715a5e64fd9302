package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark is a place to be marked in a fragment, and what it says of the query.
type mark struct {
	Span
	of []weight
}

// weight is what a term or token counts for when fragments are chosen.
type weight struct {
	name   string
	amount float64
}

// maxMarks is how many marks of a text are looked at for its fragments.
const maxMarks = 2000

// lexicalMarks are matches with the weights of their terms.
func lexicalMarks(matches []Match, weights map[string]float64) []mark {
	var marks []mark
	for _, m := range matches[:min(maxMarks, len(matches))] {
		k := mark{Span: m.Span}
		for _, t := range m.Terms {
			k.of = append(k.of, weight{t, weights[t]})
		}
		marks = append(marks, k)
	}
	return marks
}

// sparseMarks are the places of tokens with their contributions.
func sparseMarks(tokens []MatchedToken) (titles, texts []mark) {
	collect := func(of func(MatchedToken) []Span) []mark {
		var marks []mark
		for _, t := range tokens {
			for _, s := range of(t) {
				marks = append(marks, mark{s, []weight{{t.Token, t.Contribution}}})
			}
		}
		slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.Start, b.Start) })
		return marks[:min(maxMarks, len(marks))]
	}
	return collect(func(t MatchedToken) []Span { return t.Title }), collect(func(t MatchedToken) []Span { return t.Text })
}

// cutter cuts fragments out of one text.
type cutter struct {
	text   string
	starts []int // of its characters, and its end
	length int   // of a fragment, in characters
}

// stretch is a part of the text that no fragment has been cut from yet.
type stretch struct {
	Span
	marks []mark
}

// fragments cuts at most n pieces, n being above 0, of at most length characters out of text, one
// after another that which holds the terms of the most weight; each counts once in
// a piece. They are returned in the order of the text and do not overlap. Without
// marks it is the beginning of the text. marks are by ascending start.
func fragments(field, text string, marks []mark, n, length int) []Fragment {
	c := cutter{text, borders(text), length}
	free := []stretch{{Span{0, len(text)}, marks}}
	var chosen []Span
	for len(chosen) < n {
		at, place, ok := c.heaviest(free)
		if !ok {
			break
		}
		s := c.widen(place, free[at].Span)
		chosen = append(chosen, s)
		free = slices.Replace(free, at, at+1, free[at].without(s)...)
	}
	if begin := strings.IndexFunc(text, isNoSpace); len(chosen) == 0 && begin >= 0 {
		begin = c.starts[c.holding(begin)]
		chosen = append(chosen, c.widen(Span{begin, begin}, Span{begin, len(text)}))
	}
	slices.SortFunc(chosen, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	made := make([]Fragment, len(chosen))
	for i, s := range chosen {
		made[i] = Fragment{Field: field, Span: s, Parts: parts(text, s, marks)}
	}
	return made
}

// without returns what is left before and behind a fragment.
func (s stretch) without(fragment Span) []stretch {
	before, behind := stretch{Span: Span{s.Start, fragment.Start}}, stretch{Span: Span{fragment.End, s.End}}
	for _, m := range s.marks {
		switch {
		case m.End <= fragment.Start:
			before.marks = append(before.marks, m)
		case m.Start >= fragment.End:
			behind.marks = append(behind.marks, m)
		}
	}
	return []stretch{before, behind}
}

// heaviest returns the place with the most weight that fits a fragment, from the
// begin of a mark to the end of one, and the number of the stretch it is in; among
// equals the first. A mark that is too long for a fragment is cut off.
func (c cutter) heaviest(free []stretch) (at int, best Span, ok bool) {
	most := -1.0
	for i, s := range free {
		counts := map[string]int{}
		total, next := 0.0, 0
		for _, first := range s.marks {
			limit := min(s.End, c.ahead(first.Start, c.length))
			for ; next < len(s.marks) && s.marks[next].End <= limit; next++ {
				for _, w := range s.marks[next].of {
					if counts[w.name]++; counts[w.name] == 1 {
						total += w.amount
					}
				}
			}
			if first.End > limit { // and so not counted, nor anything behind it
				if most < 0 {
					at, best, ok, most = i, Span{first.Start, limit}, true, 0
				}
				next++
				continue
			}
			if total > most+1e-9 {
				at, best, ok, most = i, Span{first.Start, s.marks[next-1].End}, true, total
			}
			for _, w := range first.of {
				if counts[w.name]--; counts[w.name] == 0 {
					total -= w.amount
				}
			}
		}
	}
	return at, best, ok
}

// widen makes a fragment of a place: as long as may be within the stretch, with the
// place in its middle, not cut inside a word that could be left out.
func (c cutter) widen(place, within Span) Span {
	first, last := c.holding(place.Start), c.from(place.End)
	low, high := c.from(within.Start), c.from(within.End)
	spare := max(0, c.length-(last-first))
	from := max(low, first-spare/2)
	to := min(high, from+max(c.length, last-first))
	from = max(low, min(from, to-c.length))
	s := Span{c.starts[from], c.starts[to]}
	if s.Start > 0 && s.Start < place.Start {
		if skip := strings.IndexFunc(c.text[s.Start:place.Start], unicode.IsSpace); skip >= 0 && !spaceEnds(c.text[:s.Start]) {
			s.Start += skip
		}
	}
	if s.End < len(c.text) && s.End > place.End {
		next, _ := utf8.DecodeRuneInString(c.text[s.End:])
		if keep := strings.LastIndexFunc(c.text[place.End:s.End], unicode.IsSpace); place.End+keep > s.Start && keep >= 0 && !unicode.IsSpace(next) {
			s.End = place.End + keep
		}
	}
	return c.trim(s, place)
}

// trim cuts off white space around the place, and what was cut inside a character
// is whole again.
func (c cutter) trim(s, place Span) Span {
	if place.Start > s.Start {
		s.Start = place.Start - len(strings.TrimLeftFunc(c.text[s.Start:place.Start], unicode.IsSpace))
	}
	if end := max(place.End, s.Start); s.End > end {
		s.End = end + len(strings.TrimRightFunc(c.text[end:s.End], unicode.IsSpace))
	}
	return Span{c.starts[c.holding(s.Start)], c.starts[c.from(s.End)]}
}

func isNoSpace(r rune) bool { return !unicode.IsSpace(r) }

func spaceEnds(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsSpace(r)
}

// from returns the number of the first character that begins at byte at or behind it.
func (c cutter) from(at int) int {
	i, _ := slices.BinarySearch(c.starts, at)
	return i
}

// holding returns the number of the character that byte at is a part of.
func (c cutter) holding(at int) int {
	i := c.from(at)
	if c.starts[i] > at {
		i--
	}
	return i
}

// ahead returns where n characters from the one at byte at on end.
func (c cutter) ahead(at, n int) int { return c.starts[min(len(c.starts)-1, c.holding(at)+n)] }

// parts cuts a fragment where marks begin and end.
func parts(text string, fragment Span, marks []mark) []Part {
	var made []Part
	add := func(from, to int, match bool) {
		if from < to {
			made = append(made, Part{Text: text[from:to], Match: match})
		}
	}
	at := fragment.Start
	for _, m := range marks {
		start, end := max(m.Start, at), min(m.End, fragment.End)
		if start >= end {
			continue
		}
		add(at, start, false)
		add(start, end, true)
		at = end
	}
	add(at, fragment.End, false)
	return made
}

// borders returns where the characters of text begin, and where the last one ends.
// What a person sees as one character, a letter with its accents or a composed
// emoji, is not taken apart; flags, which are pairs of characters, are.
func borders(text string) []int {
	starts := make([]int, 0, len(text)+1)
	var last rune
	for i, r := range text {
		if i == 0 || !joined(last, r) {
			starts = append(starts, i)
		}
		last = r
	}
	return append(starts, len(text))
}

const (
	zeroWidthJoiner = 0x200D
	lightestSkin    = 0x1F3FB // of the modifiers of emoji
	darkestSkin     = 0x1F3FF
)

// joined reports whether r is shown as one with the rune before it.
func joined(before, r rune) bool {
	return unicode.IsMark(r) || r == zeroWidthJoiner || before == zeroWidthJoiner || r >= lightestSkin && r <= darkestSkin ||
		before == '\r' && r == '\n'
}
