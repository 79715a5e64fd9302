package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// printer writes lines and remembers the first failure.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, harmless(fmt.Sprintf(format, args...)))
	}
}

// harmless keeps what documents say from steering the terminal they are shown
// on: control characters and those that change the direction of writing.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// json prints v on one line.
func (p *printer) json(v any) {
	if p.err != nil {
		return
	}
	e := json.NewEncoder(p.out)
	e.SetEscapeHTML(false)
	p.err = e.Encode(v)
}

// session asks queries of one collection, prints the answers and counts how
// often a relevant document came first.
type session struct {
	printer
	backend    backend
	collection string
	asJSON     bool
	judged     int            // compared queries that name relevant documents
	firsts     map[string]int // per way of answering
}

// ask answers one query.
func (s *session) ask(ctx context.Context, q query, req search.Request) error {
	answer, err := s.backend.Search(ctx, s.collection, req)
	if err != nil {
		return err
	}
	s.show(q, answer)
	return nil
}

// show prints the answer to one query.
func (s *session) show(q query, answer *search.Response) {
	if s.asJSON {
		s.json(answer)
		return
	}
	s.line("%s", q.Text)
	s.hits(answer.Hits, q, len(answer.Hits))
	if len(answer.Hits) == 0 {
		s.line("  nothing found")
	}
	s.understood(answer)
	s.costs(answer)
	s.line("")
}

// hits prints the first n hits, each with what every stage said about it.
func (p *printer) hits(hits []search.Hit, q query, n int) {
	for _, h := range hits[:min(n, len(hits))] {
		title := h.Title
		if title == "" {
			title = h.Text
		}
		p.line("  %2d %s %-14s %s", h.Rank, mark(h.ID, q), h.ID, clip(title, 72))
		if where := h.Passage; where != nil {
			p.line("       passage %d of %d%s: %s", where.Number+1, where.Of, under(where.Section), clip(h.Text, 72))
		}
		p.line("       %s", journey(h))
		p.highlights(h)
		p.explanation(h)
	}
}

// under names the headings above a passage.
func under(section string) string {
	if section == "" {
		return ""
	}
	return " (" + clip(section, 40) + ")"
}

func mark(id string, q query) string {
	if slices.Contains(q.Relevant, id) {
		return "✓"
	}
	return " "
}

// journey tells how a hit came to its place, in one line.
func journey(h search.Hit) string {
	var parts []string
	for _, b := range braid.Branches() {
		if f, found := h.Branches[b]; found {
			parts = append(parts, fmt.Sprintf("%s #%d (%.4g)", b, f.Rank, f.Score))
		} else if h.Fused != nil {
			parts = append(parts, fmt.Sprintf("%s –", b))
		}
	}
	text := strings.Join(parts, "  ")
	for _, v := range h.Variants {
		name := "answer"
		if v.Variant > 0 {
			name = fmt.Sprintf("variant %d", v.Variant)
		}
		text += fmt.Sprintf("  %s %s #%d (%.4g)", name, v.Branch, v.Rank, v.Score)
	}
	if h.Fused != nil {
		text += fmt.Sprintf("  → fused #%d (%.4g)", h.Fused.Rank, h.Fused.Score)
	}
	if r := h.Rerank; r != nil {
		text += fmt.Sprintf("  → reranked #%d (logit %.2f, p %.3g)", r.After, r.Logit, r.Probability)
		if moved := r.Before - r.After; moved != 0 {
			text += fmt.Sprintf(" %+d", moved)
		}
	}
	return text
}

// costs prints the milliseconds of each stage, and what is missing.
func (p *printer) costs(a *search.Response) {
	t := a.Timings
	p.line("  %.1f ms: queue %.1f, tokenise %.1f, dense %.1f + %.1f, sparse %.1f + %.1f, lexical %.1f, fuse %.1f, fetch %.1f, rerank %.1f",
		t.Total, t.Queue, t.Tokenise, t.DenseEncode, t.DenseSearch, t.SparseEncode, t.SparseSearch, t.LexicalSearch, t.Fuse, t.Fetch, t.Rerank)
	if a.Allowed != nil {
		p.line("  %d documents pass the filter (%.1f ms)", *a.Allowed, t.Filter)
	}
	if a.Query.Truncated {
		p.line("  the query has %d tokens; the models read the first part of it", a.Query.Tokens)
	}
	for _, d := range a.Degraded {
		p.line("  without %s: %s", d.Stage, d.Message)
	}
}

// way is one way of answering that is compared.
type way struct {
	name   string
	mode   search.Mode
	rerank bool
}

const reranked = "hybrid+rerank"

// ways are all modes, then hybrid with the reranker.
func ways() []way {
	var all []way
	for _, m := range search.Modes() {
		all = append(all, way{string(m), m, false})
	}
	return append(all, way{reranked, search.ModeHybrid, true})
}

// compareTop is the number of hits shown per way of answering.
const compareTop = 3

// compare answers a query in every way and puts the answers side by side.
func (s *session) compare(ctx context.Context, q query, req search.Request) error {
	answers := map[string]*search.Response{}
	for _, w := range ways() {
		r := req
		r.Mode, r.Rerank = w.mode, &w.rerank
		if w.mode != search.ModeHybrid {
			r.Fusion = nil
		}
		if w.mode == search.ModeSparse || w.mode == search.ModeLexical {
			r.Hypothetical = ""
		}
		answer, err := s.backend.Search(ctx, s.collection, r)
		if err != nil {
			return err
		}
		answers[w.name] = answer
	}
	s.count(q, answers)
	if s.asJSON {
		s.json(struct {
			Query   string                      `json:"query"`
			Answers map[string]*search.Response `json:"answers"`
		}{q.Text, answers})
		return nil
	}
	s.line("“%s”", q.Text)
	if q.Shows != "" {
		s.line("  %s", q.Shows)
	}
	s.line("")
	s.sideBySide(q, answers)
	s.line("\n  %s", reranked)
	best := answers[reranked]
	s.hits(best.Hits, q, compareTop)
	s.costs(best)
	s.line("")
	return nil
}

func (s *session) count(q query, answers map[string]*search.Response) {
	if len(q.Relevant) == 0 {
		return
	}
	if s.firsts == nil {
		s.firsts = map[string]int{}
	}
	s.judged++
	for name, a := range answers {
		if len(a.Hits) > 0 && slices.Contains(q.Relevant, a.Hits[0].ID) {
			s.firsts[name]++
		}
	}
}

// tally prints how often each way of answering had a relevant document first.
func (s *session) tally() {
	if s.judged < 2 || s.asJSON {
		return
	}
	s.line("A relevant document came first, of %d queries:", s.judged)
	var columns [][]string
	for _, w := range ways() {
		columns = append(columns, []string{w.name, fmt.Sprint(s.firsts[w.name])})
	}
	s.table(columns)
}

// sideBySide prints the first hits of every answer.
func (s *session) sideBySide(q query, answers map[string]*search.Response) {
	var columns [][]string
	for _, w := range ways() {
		column := []string{w.name}
		hits := answers[w.name].Hits
		for _, h := range hits[:min(compareTop, len(hits))] {
			column = append(column, fmt.Sprintf("%d %s%s", h.Rank, mark(h.ID, q), h.ID))
		}
		columns = append(columns, column)
	}
	s.table(columns)
}

// table prints columns of different length.
func (p *printer) table(columns [][]string) {
	if p.err != nil {
		return
	}
	height := 0
	for _, c := range columns {
		height = max(height, len(c))
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 3, ' ', 0)
	for row := range height {
		for _, c := range columns {
			cell := ""
			if row < len(c) {
				cell = c[row]
			}
			_, _ = fmt.Fprintf(w, "  %s\t", harmless(cell)) // buffered: Flush reports
		}
		_, _ = fmt.Fprintln(w)
	}
	p.err = w.Flush()
}

// clip shortens text to n characters, on one line.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "…"
}
