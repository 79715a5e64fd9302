package search

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/strictjson"
)

// Defaults and limits of highlighting.
const (
	DefaultFragments      = 2
	MaxFragments          = 20
	DefaultFragmentLength = 200
	MinFragmentLength     = 20
	MaxFragmentLength     = 2000

	// MaxHighlightedBytes is how much of a hit's text is looked at.
	MaxHighlightedBytes = 64 << 10
	// MaxMatches is how many places of one kind are listed of a hit's title, and of
	// its text.
	MaxMatches = 200
)

// Highlight asks for where hits match the query. In JSON it can also be true, which
// is all defaults, and false, which is not to highlight.
type Highlight struct {
	// Fragments is how many pieces of the text are shown, 0 to MaxFragments; default
	// DefaultFragments.
	Fragments *int `json:"fragments,omitempty"`
	// Length is how long a fragment is at most, in characters: MinFragmentLength to
	// MaxFragmentLength, default DefaultFragmentLength.
	Length *int `json:"length,omitempty"`

	off bool
}

// UnmarshalJSON reads a boolean or an object.
func (h *Highlight) UnmarshalJSON(data []byte) error {
	var on bool
	if json.Unmarshal(data, &on) == nil {
		*h = Highlight{off: !on}
		return nil
	}
	type object Highlight
	var o object
	if err := strictjson.Decode(data, &o); err != nil {
		return braid.Errorf(braid.InvalidArgument, "highlight must be true, false or an object such as {\"fragments\": 2, \"length\": 200}: %s", braid.Public(err).Message).In("highlight")
	}
	*h = Highlight(o)
	return nil
}

func (h *Highlight) wanted() bool { return h != nil && !h.off }

func (h *Highlight) validate() error {
	if !h.wanted() {
		return nil
	}
	if f := h.Fragments; f != nil && (*f < 0 || *f > MaxFragments) {
		return braid.Errorf(braid.InvalidArgument, "highlight.fragments is %d, want 0 to %d", *f, MaxFragments).In("highlight.fragments")
	}
	if l := h.Length; l != nil && (*l < MinFragmentLength || *l > MaxFragmentLength) {
		return braid.Errorf(braid.InvalidArgument, "highlight.length is %d, want %d to %d characters", *l, MinFragmentLength, MaxFragmentLength).In("highlight.length")
	}
	return nil
}

// Highlights says where a hit matches the query and its variants. Places are byte
// offsets into the hit's title and text and lie between characters.
type Highlights struct {
	// Title and Text are where the terms of the lexical branch stand, by ascending
	// start; they do not overlap.
	Title []Match `json:"title,omitempty"`
	Text  []Match `json:"text,omitempty"`
	// Tokens are what SPLADE matched, the largest contribution first; absent if the
	// sparse branch did not find the document.
	Tokens []MatchedToken `json:"tokens,omitempty"`
	// Fragments are the title, if anything in it matches, and the pieces of the text
	// that match best, in the order of the text. What is marked are the lexical
	// matches or, of a hit without any, the tokens of SPLADE. Where nothing in the
	// text matches, the fragment is its beginning.
	Fragments []Fragment `json:"fragments,omitempty"`
	// Partial says that not all is listed: the text is longer than
	// MaxHighlightedBytes, or there are more than MaxMatches places.
	Partial bool `json:"partial,omitempty"`
}

// Span is a place in a text: from byte Start to byte End, which is not included.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Match is where terms of the query stand, several where one word holds several.
type Match struct {
	Span
	Terms []string `json:"terms"`
}

// MatchedToken is a token that the SPLADE expansions of query and document share.
type MatchedToken struct {
	SparseShare
	// InQuery says that the token is one of the query's own; else the model added it.
	InQuery bool `json:"in_query,omitempty"`
	// Title and Text are where it stands in the hit; both are absent if the model
	// added it to the document, too.
	Title []Span `json:"title,omitempty"`
	Text  []Span `json:"text,omitempty"`
}

// Fragment is a piece of a hit's title or text, from byte Start to byte End.
type Fragment struct {
	Field string `json:"field"` // "title" or "text"
	Span
	// Parts are the piece, cut where a match begins or ends. There is no markup to
	// escape: what a client shows is its own affair.
	Parts []Part `json:"parts"`
}

// Part is a stretch of a fragment.
type Part struct {
	Text  string `json:"text"`
	Match bool   `json:"match,omitempty"`
}

// highlight says where the answer's hits match the query, if that was asked for. It
// never fails an answer: what cannot be said is named in Degraded.
func (s *Service) highlight(ctx context.Context, c index.Collection, p plan, answer *Response) {
	if !p.Highlight.wanted() {
		return
	}
	start := time.Now()
	defer func() { answer.Timings.Highlight = milliseconds(time.Since(start)) }()
	matched, err := s.matchedTokens(ctx, c, p, answer.Hits)
	if err != nil {
		answer.Degraded = append(answer.Degraded, s.degrade(ctx, c.Info().Name, "highlight", err))
	}
	terms := p.lexicalTerms(c)
	for i := range answer.Hits {
		h := &answer.Hits[i]
		h.Highlights = &Highlights{}
		text := head(h.Text, MaxHighlightedBytes)
		h.Highlights.Partial = len(text) < len(h.Text)
		if matched != nil {
			h.Highlights.Tokens = matched[i]
		}
		h.Highlights.find(c, terms, h.Title, text)
		h.Highlights.cut(p.Highlight, terms, h.Title, text)
		h.Highlights.bound()
	}
}

// head returns the first n bytes of a text, or fewer, as whole characters.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// lexicalTerms returns what the lexical branch looked for in all wordings of the
// query, and what each term weighs; nil if the branch is none of the mode's.
func (p plan) lexicalTerms(c index.Explainer) map[string]float64 {
	if !slices.Contains(p.Mode.branches(), braid.Lexical) {
		return nil
	}
	weights := map[string]float64{}
	for _, w := range p.wordings(braid.Lexical) {
		for _, t := range c.AnalyzeQuery(w.text).Terms {
			weights[t.Term] = max(weights[t.Term], t.Weight)
		}
	}
	return weights
}

// find fills in the lexical matches.
func (h *Highlights) find(c index.Explainer, weights map[string]float64, title, text string) {
	if len(weights) == 0 {
		return
	}
	terms := make([]string, 0, len(weights))
	for t := range weights {
		terms = append(terms, t)
	}
	h.Title, h.Text = disjoint(c.Locate(title, terms)), disjoint(c.Locate(text, terms))
}

// disjoint makes one match of places that overlap.
func disjoint(places []index.Place) []Match {
	var matches []Match
	for _, p := range places {
		if n := len(matches); n > 0 && p.Start < matches[n-1].End {
			last := &matches[n-1]
			last.End = max(last.End, p.End)
			if !slices.Contains(last.Terms, p.Term) {
				last.Terms = append(last.Terms, p.Term)
			}
			continue
		}
		matches = append(matches, Match{Span{p.Start, p.End}, []string{p.Term}})
	}
	return matches
}

// bound keeps the lists to MaxMatches places.
func (h *Highlights) bound() {
	for _, list := range []*[]Match{&h.Title, &h.Text} {
		if len(*list) > MaxMatches {
			*list, h.Partial = (*list)[:MaxMatches], true
		}
	}
	var titles, texts int
	for i := range h.Tokens {
		t := &h.Tokens[i]
		for _, list := range []struct {
			spans *[]Span
			n     *int
		}{{&t.Title, &titles}, {&t.Text, &texts}} {
			if room := MaxMatches - *list.n; len(*list.spans) > room {
				*list.spans, h.Partial = (*list.spans)[:room], true
			}
			*list.n += len(*list.spans)
		}
	}
}

// cut fills in the fragments.
func (h *Highlights) cut(opts *Highlight, weights map[string]float64, title, text string) {
	n, length := DefaultFragments, DefaultFragmentLength
	if opts.Fragments != nil {
		n = *opts.Fragments
	}
	if opts.Length != nil {
		length = *opts.Length
	}
	if n == 0 {
		return
	}
	titles, texts := lexicalMarks(h.Title, weights), lexicalMarks(h.Text, weights)
	if titles == nil && texts == nil {
		titles, texts = sparseMarks(h.Tokens)
	}
	if titles != nil {
		h.Fragments = fragments("title", title, titles, 1, length)
	}
	h.Fragments = append(h.Fragments, fragments("text", text, texts, n, length)...)
}
