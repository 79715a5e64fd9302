package lexical

import (
	"bytes"
	"hash/fnv"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// folder makes words that differ in case or in Latin accents equal.
type folder struct {
	fold           cases.Caser
	source, folded []byte
}

// append appends the folded form of word to text: full case folding, Latin
// letters without their accents (other scripts keep theirs, where they tell
// letters apart), composed again.
func (f *folder) append(text []byte, word []rune) []byte {
	for i, r := range word {
		if r >= utf8.RuneSelf {
			return f.appendUnicode(text[:len(text)-i], word)
		}
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		text = append(text, byte(r))
	}
	return text
}

func (f *folder) appendUnicode(text []byte, word []rune) []byte {
	f.source = f.source[:0]
	for _, r := range word {
		if unicode.Is(unicode.Cherokee, r) {
			r = unicode.ToUpper(r) // cases.Fold swaps the cases of this script
		}
		f.source = utf8.AppendRune(f.source, r)
	}
	// A fold makes at most three characters of one.
	if need := 3 * utf8.UTFMax * len(word); cap(f.folded) < need {
		f.folded = make([]byte, need)
	}
	n, _, err := f.fold.Transform(f.folded[:cap(f.folded)], f.source, true)
	if err != nil {
		n = copy(f.folded[:cap(f.folded)], f.source) // cannot happen; still a usable word
	}
	f.source = norm.NFD.Append(f.source[:0], f.folded[:n]...)
	f.folded = appendUnaccented(f.folded[:0], f.source)
	return norm.NFC.Append(text, f.folded...)
}

// appendUnaccented appends decomposed text without the marks on Latin letters,
// and with the Latin letters that have no decomposition spelt in ASCII.
func appendUnaccented(text, decomposed []byte) []byte {
	latin := false
	for len(decomposed) > 0 {
		r, n := utf8.DecodeRune(decomposed)
		if !unicode.IsMark(r) {
			latin = unicode.Is(unicode.Latin, r)
			text = append(text, decomposed[:n]...)
			if ascii := spellLatin(r); ascii != "" {
				text = append(text[:len(text)-n], ascii...)
			}
		} else if !latin {
			text = append(text, decomposed[:n]...)
		}
		decomposed = decomposed[n:]
	}
	return text
}

// spellLatin returns the usual ASCII spelling of a folded Latin letter that
// Unicode does not decompose, or "".
func spellLatin(r rune) string {
	switch r {
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'ł':
		return "l"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'þ':
		return "th"
	}
	return ""
}

// bound shortens a term over MaxTermBytes to its beginning and a hash of all
// of it. No other term holds a '~'.
func bound(term []byte) []byte {
	if len(term) <= MaxTermBytes {
		return term
	}
	hash := fnv.New64a()
	hash.Write(term)
	cut := MaxTermBytes - len("~0123456789abcdef")
	for !utf8.RuneStart(term[cut]) {
		cut--
	}
	short := append(make([]byte, 0, MaxTermBytes), term[:cut]...)
	return strconv.AppendUint(append(short, '~'), hash.Sum64(), 16)
}

func isOnly(text []byte, c byte) bool { return bytes.Count(text, []byte{c}) == len(text) }

// stemmer strips English endings by Snowball's English stemmer (Porter2). Only
// its cache changes.
type stemmer struct {
	cache [8192]stemmed
	out   []byte
}

type stemmed struct{ word, stem string }

// Words outside these bounds are not English, or have no ending to strip.
const (
	minStemmed = 3
	maxStemmed = 32
)

// stem returns the stem of word, or word itself if it is not of ASCII letters
// alone. The result is valid until the next call.
func (s *stemmer) stem(word []byte) []byte {
	if len(word) < minStemmed || len(word) > maxStemmed {
		return word
	}
	hash := uint32(2166136261) // FNV-1a
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
		hash = (hash ^ uint32(c)) * 16777619
	}
	entry := &s.cache[(hash^hash>>16)%uint32(len(s.cache))]
	if entry.word != string(word) {
		env := snowballstem.NewEnv(string(word))
		english.Stem(env)
		*entry = stemmed{word: string(word), stem: env.Current()}
	}
	s.out = append(s.out[:0], entry.stem...)
	return s.out
}

// isStopWord reports whether an English word is too common to look for when
// the query has anything else. The list is the short one of Lucene's
// EnglishAnalyzer.
func isStopWord(word []byte) bool {
	switch string(word) {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if",
		"in", "into", "is", "it", "no", "not", "of", "on", "or", "such",
		"that", "the", "their", "then", "there", "these", "they", "this",
		"to", "was", "will", "with":
		return true
	}
	return false
}
