package search

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// optionDepth is how many of the passages found for a word are looked at to tell
// whether it is an option of a program.
const optionDepth = 10

// isOption reports whether most of the documents that hold the word best have it as
// an option of a program: then -word in a query quotes them, and excludes nothing.
// Only documents that pass filter are looked at, so that nobody learns what he may
// not search. If they cannot be read, it is no option.
func (s *Service) isOption(ctx context.Context, c index.Collection, filter braid.Filter, word string) bool {
	allowed, err := s.resolve(ctx, c, filter)
	if err != nil {
		return false
	}
	hits, err := c.SearchLexical(ctx, word, index.Query{K: optionDepth, Allowed: allowed})
	if err != nil {
		return false
	}
	var ids []string
	for _, h := range firstOfEach(hits) {
		ids = append(ids, h.ID)
	}
	documents, err := c.Get(ctx, ids)
	if err != nil {
		return false
	}
	with := 0
	for _, d := range documents {
		if standsAsOption(d.Document.Passage(), word) {
			with++
		}
	}
	return 2*with > len(documents)
}

// firstOfEach returns the first hit of each document.
func firstOfEach(hits []braid.Hit) []braid.Hit {
	var first []braid.Hit
	seen := map[string]bool{}
	for _, h := range hits {
		if !seen[h.ID] {
			seen[h.ID] = true
			first = append(first, h)
		}
	}
	return first
}

// standsAsOption reports whether text has the word as options are written: behind -,
// -- or /, with no letter or digit before these, as in half-time and and/or, and none
// behind the word.
func standsAsOption(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		before, behind := text[:at+i], text[at+i+len(word):]
		at += i + len(word)
		unmarked := strings.TrimSuffix(before, "/")
		if unmarked == before {
			unmarked = strings.TrimSuffix(strings.TrimSuffix(before, "-"), "-")
		}
		last, _ := utf8.DecodeLastRuneInString(unmarked)
		next, _ := utf8.DecodeRuneInString(behind)
		if unmarked != before && !isWordRune(last) && !strings.ContainsRune("-/:", last) && !isWordRune(next) {
			return true
		}
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
