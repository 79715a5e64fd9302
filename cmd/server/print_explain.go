package main

import (
	"fmt"
	"strings"

	"github.com/braid-search/braid/search"
)

// shownShares is how many parts of a sum are printed; the rest is added up.
const shownShares = 8

// highlights prints the pieces of a hit that match; nothing if that was not asked for.
func (p *printer) highlights(h search.Hit) {
	if h.Highlights == nil {
		return
	}
	for _, f := range h.Highlights.Fragments {
		var text strings.Builder
		for _, part := range f.Parts {
			if part.Match {
				text.WriteString("[" + part.Text + "]")
			} else {
				text.WriteString(part.Text)
			}
		}
		p.line("       “%s”", strings.Join(strings.Fields(text.String()), " "))
	}
}

// share is one part of a score, and how it came about.
type share struct {
	amount     float64
	name, made string
}

// explanation prints what the scores of a hit consist of, one part a line; nothing
// if that was not asked for.
func (p *printer) explanation(h search.Hit) {
	e := h.Explain
	if e == nil {
		return
	}
	if l := e.Lexical; l != nil {
		var shares []share
		for _, t := range l.Terms {
			shares = append(shares, share{t.Contribution, t.Term, fmt.Sprintf("weight %.3g × idf %.3f × tf %d/(%d + %.3f)", t.Weight, t.IDF, t.Frequency, t.Frequency, t.Norm)})
		}
		p.sum("lexical", l.Score, shares, l.Changed)
	}
	if s := e.Sparse; s != nil {
		var shares []share
		for _, t := range s.Tokens {
			shares = append(shares, share{t.Contribution, t.Token, fmt.Sprintf("query %.3f × document %.3f", t.Query, t.Document)})
		}
		p.sum("sparse", s.Score, shares, s.Changed)
	}
	if e.Fusion != nil {
		var shares []share
		for _, v := range e.Fusion {
			made := fmt.Sprintf("weight %.3g, rank %d", v.Weight, v.Rank)
			if v.Scaled != nil {
				made = fmt.Sprintf("weight %.3g × %.3f, which is %.4g scaled", v.Weight, *v.Scaled, v.Score)
			}
			shares = append(shares, share{v.Contribution, string(v.Branch) + wordingOf(v), made})
		}
		p.sum("fused", h.Fused.Score, shares, false)
	}
	if r := e.Rerank; r != nil {
		made := fmt.Sprintf("sigmoid of logit %.3f", r.Logit)
		if r.ScaledLogit != nil {
			made = fmt.Sprintf("%.3g × %.3f (logit %.3f scaled) + %.3g × %.3f (%.4g scaled)",
				r.Weight, *r.ScaledLogit, r.Logit, 1-r.Weight, *r.ScaledFirst, r.First)
		}
		p.line("       └ reranked %.4g = %s", r.Score, made)
	}
}

// sum prints a score and its parts.
func (p *printer) sum(what string, total float64, shares []share, changed bool) {
	p.line("       ├ %s %.4g", what, total)
	if changed {
		p.line("       │   the document was written after it was found: its parts are not known")
		return
	}
	var rest float64
	for i, s := range shares {
		if i < shownShares {
			p.line("       │ %8.4f  %-16s %s", s.amount, s.name, s.made)
		} else {
			rest += s.amount
		}
	}
	if n := len(shares) - shownShares; n > 0 {
		p.line("       │ %8.4f  %d more", rest, n)
	}
}

// wordingOf names the wording of the query that a vote is about, if it is not the
// query itself.
func wordingOf(v search.Vote) string {
	switch {
	case v.Hypothetical:
		return ", hypothetical"
	case v.Variant > 0:
		return fmt.Sprintf(", variant %d", v.Variant)
	}
	return ""
}

// understood prints what was looked for: phrases and excluded words, and the rest if
// that was asked for.
func (p *printer) understood(a *search.Response) {
	if q := a.Query; q.Matching != nil {
		var asked []string
		for _, phrase := range q.Phrases {
			asked = append(asked, "with “"+phrase+"”")
		}
		for _, words := range q.Excluded {
			asked = append(asked, "without “"+words+"”")
		}
		p.line("  %s: %d documents", strings.Join(asked, ", "), *q.Matching)
		if q.Unread > 0 {
			p.line("    %d more were not read to see whether they hold the phrase, and are left out", q.Unread)
		}
	}
	e := a.Explain
	if e == nil {
		return
	}
	if a.Routing != nil {
		p.line("  taken for: %s %s", a.Routing.Kind, strings.Join(a.Routing.Identifiers, ", "))
	}
	if e.Terms != nil {
		var terms []string
		for _, t := range e.Terms {
			terms = append(terms, fmt.Sprintf("%s (%.3g)", t.Term, t.Weight))
		}
		p.line("  terms: %s", strings.Join(terms, ", "))
	}
	if e.Dropped != nil {
		p.line("  not looked for, too common: %s", strings.Join(e.Dropped, ", "))
	}
	if e.Tokens != nil {
		var tokens []string
		for _, t := range e.Tokens {
			tokens = append(tokens, fmt.Sprintf("%s (%.2f)", t.Token, t.Weight))
		}
		p.line("  expansion: %s", strings.Join(tokens, ", "))
		if n := e.TokensInAll - len(tokens); n > 0 {
			p.line("    and %d lighter tokens", n)
		}
	}
}
