package search

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// syntax is what a query says beside its words.
type syntax struct {
	text      string   // the words to look for, without marks and what is excluded
	phrases   []string // have to be in a document
	noPhrases []string // must not be
	noWords   []string // must not be
}

// quotes are those that open a phrase, and those that close one.
const (
	openQuotes  = "\"“„"
	closeQuotes = "\"”“"
)

// parseSyntax reads a query for "phrases" and -excluded words. ok is false if there
// is nothing of the kind, or nothing to look for would be left: then the query is
// taken as it stands.
//
// What could be something else is left alone: a quote that does not stand before a
// word, or that none closes behind one (5" pipes), and a minus that is not the first
// of a word of letters, or of one that isOption says is an option of a program:
// WD-40, state-of-the-art, -40, --force, -v, -Wall.
func parseSyntax(query string, hasWords, isOption func(string) bool) (s syntax, ok bool) {
	var kept []string
	for rest := query; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		minus := strings.HasPrefix(rest, "-")
		if phrase, behind, quoted := cutPhrase(strings.TrimPrefix(rest, "-")); quoted && hasWords(phrase) {
			if rest = behind; minus {
				s.noPhrases = append(s.noPhrases, phrase)
			} else {
				s.phrases = append(s.phrases, phrase)
				kept = append(kept, phrase)
			}
			continue
		}
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		rest = rest[end:]
		if name := strings.TrimRight(strings.TrimPrefix(word, "-"), ".,;:!?"); minus && isExcludable(name) && hasWords(name) && !isOption(name) {
			s.noWords = append(s.noWords, name)
		} else {
			kept = append(kept, word)
		}
	}
	s.text = strings.Join(kept, " ")
	return s, len(s.phrases)+len(s.noPhrases)+len(s.noWords) > 0 && hasWords(s.text)
}

// cutPhrase cuts a phrase off the beginning of text: up to the next quote, which has
// white space or punctuation behind it.
func cutPhrase(text string) (phrase, behind string, ok bool) {
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 || !strings.ContainsRune(openQuotes, first) {
		return "", "", false
	}
	end := strings.IndexAny(text[n:], openQuotes+closeQuotes)
	if end < 0 {
		return "", "", false
	}
	_, m := utf8.DecodeRuneInString(text[n+end:])
	behind = strings.TrimLeft(text[n+end+m:], ".,;:!?)")
	if next, _ := utf8.DecodeRuneInString(behind); behind != "" && !unicode.IsSpace(next) {
		return "", "", false
	}
	return strings.TrimSpace(text[n : n+end]), behind, true
}

// isExcludable reports whether a word with a minus before it is one not to be found:
// at least two characters, of which the first is a letter.
func isExcludable(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return unicode.IsLetter(first) && utf8.RuneCountInString(word) > 1
}

func (s syntax) words() index.Words {
	return index.Words{Phrases: s.phrases, NoPhrases: s.noPhrases, NoWords: s.noWords}
}

// maxSyntaxWords is how many words a query has at most that is read for more than
// words by default. Longer ones are texts, and what they quote is no condition
// (docs/decisions/syntax.md).
const maxSyntaxWords = 12

// understand takes what the query says beside its words out of it.
func (s *Service) understand(ctx context.Context, c index.Collection, p *plan) {
	isOption := func(word string) bool { return s.isOption(ctx, c, p.filter, word) }
	switch {
	case p.Syntax == nil:
		if len(strings.Fields(p.Query)) > maxSyntaxWords {
			return
		}
	case *p.Syntax:
		isOption = func(string) bool { return false }
	default:
		return
	}
	if said, ok := parseSyntax(p.Query, c.HasWords, isOption); ok {
		p.syntax, p.Query = &said, said.text
	}
}

// match narrows what is searched to the documents that hold the phrases and nothing
// that is excluded, in all branches: who excludes a word does not want it from the
// dense branch either.
func (s *Service) match(ctx context.Context, c index.Collection, p *plan, answer *Response) error {
	if p.syntax == nil {
		return nil
	}
	start := time.Now()
	matched, err := c.Matching(ctx, p.syntax.words(), p.allowed)
	if err != nil {
		return err
	}
	p.allowed = matched
	answer.Timings.Filter += milliseconds(time.Since(start))
	n := matched.Len()
	answer.Query.Text, answer.Query.Phrases, answer.Query.Matching, answer.Query.Unread = p.syntax.text, p.syntax.phrases, &n, matched.Unread
	answer.Query.Excluded = slices.Concat(p.syntax.noWords, p.syntax.noPhrases)
	return nil
}

// holds reports whether a document that was read still holds what the query asks
// for.
func (p plan) holds(c index.Matcher, d braid.Document) bool {
	return p.syntax == nil || c.Holds(p.syntax.words(), d.Passage())
}
