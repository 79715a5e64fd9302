package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
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
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// ask answers one query and prints the answer.
func ask(ctx context.Context, b backend, collection string, q query, req search.Request, p *printer, asJSON bool) error {
	answer, err := b.Search(ctx, collection, req)
	if err != nil {
		return err
	}
	if asJSON {
		encodeLine(p, answer)
		return nil
	}
	p.line("%s", q.Text)
	p.hits(answer.Hits, q, len(answer.Hits))
	if len(answer.Hits) == 0 {
		p.line("  nothing found")
	}
	p.costs(answer)
	p.line("")
	return nil
}

// hits prints the first n hits, each with what every stage said about it.
func (p *printer) hits(hits []search.Hit, q query, n int) {
	for _, h := range hits[:min(n, len(hits))] {
		title := h.Title
		if title == "" {
			title = h.Text
		}
		p.line("  %2d %s %-14s %s", h.Rank, mark(h.ID, q), h.ID, clip(title, 72))
		p.line("       %s", journey(h))
	}
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

// compare answers a query in every way and prints the answers side by side.
func compare(ctx context.Context, b backend, collection string, q query, req search.Request, p *printer, asJSON bool) error {
	answers := map[string]*search.Response{}
	var columns [][]string
	for _, w := range ways() {
		r := req
		r.Mode, r.Rerank = w.mode, &w.rerank
		if w.mode != search.ModeHybrid {
			r.Fusion = nil
		}
		answer, err := b.Search(ctx, collection, r)
		if err != nil {
			return err
		}
		answers[w.name] = answer
		column := []string{w.name}
		for _, h := range answer.Hits[:min(compareTop, len(answer.Hits))] {
			column = append(column, fmt.Sprintf("%d %s%s", h.Rank, mark(h.ID, q), h.ID))
		}
		columns = append(columns, column)
	}
	if asJSON {
		encodeLine(p, struct {
			Query   string                      `json:"query"`
			Answers map[string]*search.Response `json:"answers"`
		}{q.Text, answers})
		return nil
	}
	p.line("“%s”", q.Text)
	if q.Shows != "" {
		p.line("  %s", q.Shows)
	}
	p.line("")
	p.table(columns)
	p.line("\n  %s", reranked)
	best := answers[reranked]
	p.hits(best.Hits, q, compareTop)
	p.costs(best)
	p.line("")
	return nil
}

// table prints columns of different length.
func (p *printer) table(columns [][]string) {
	if p.err != nil {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 8, 3, ' ', 0)
	for row := range compareTop + 1 {
		for _, c := range columns {
			cell := ""
			if row < len(c) {
				cell = c[row]
			}
			_, _ = fmt.Fprintf(w, "  %s\t", cell) // buffered: Flush reports
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
