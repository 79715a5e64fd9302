package split

import (
	"context"
	"fmt"
	"strings"

	"github.com/braid-search/braid"
)

// Limits on options and documents.
const (
	MinTokens = 16
	MaxTokens = 1 << 16
	// MaxSections bounds the headings that begin a section of their own, so that a
	// page of nothing but headings is no heap of tiny pieces. Of a document that
	// has more, the lowest levels are read as paragraphs.
	MaxSections = 1000
	// MaxHeadingBytes is where a heading is taken for a paragraph that was marked up
	// by mistake.
	MaxHeadingBytes = 512
)

// Options say how to split.
type Options struct {
	// Tokens is the most a piece may count, its title and headings included:
	// MinTokens to MaxTokens.
	Tokens int
	// Overlap is how much of a piece may be repeated at the start of the next one,
	// in tokens, from 0 to half of Tokens. Only whole sentences are.
	Overlap int
	// Count returns the number of tokens of each text, in order. It is called from
	// one goroutine, with many texts at a time, never with an empty one.
	Count func(ctx context.Context, texts []string) ([]int, error)
}

// Validate reports the first option that is out of bounds.
func (o Options) Validate() error {
	switch {
	case o.Tokens < MinTokens || o.Tokens > MaxTokens:
		return braid.Errorf(braid.InvalidArgument, "tokens is %d, want %d to %d", o.Tokens, MinTokens, MaxTokens).In("tokens")
	case o.Overlap < 0 || o.Overlap > o.Tokens/2:
		return braid.Errorf(braid.InvalidArgument, "overlap is %d, want 0 to half of the tokens (%d)", o.Overlap, o.Tokens/2).In("overlap")
	case o.Count == nil:
		return braid.Errorf(braid.InvalidArgument, "there is no function that counts tokens").In("count")
	}
	return nil
}

// Piece is a passage of a document.
type Piece struct {
	// Context is read before Text: the title of the document and the headings
	// above. It is cut short where it would take more than half of the tokens.
	Context string
	// Text is the passage itself. Of plain text and Markdown it is
	// Document.Text[Start:End], of HTML what that part shows.
	Text       string
	Start, End int // in bytes of Document.Text
	// Section is the headings above, from the top one, joined by " > ".
	Section string
}

// Passage is the piece as models and the lexical index read it.
func (p Piece) Passage() string { return join(p.Context, p.Text) }

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// Version changes when the same document and options give other pieces than with the
// version before.
const Version = 1

// Readable reports whether there is anything to read in doc: a title, or a text
// that is more than markup.
func Readable(doc braid.Document) bool {
	return strings.TrimSpace(doc.Title) != "" || len(read(doc.Text, doc.Format).blocks) > 0
}

// Title returns what the text of doc is headed by: the title of a page, or its first
// heading of the highest level; "" if nothing is.
func Title(doc braid.Document) string {
	for _, b := range read(doc.Text, doc.Format).blocks {
		if b.heading != "" && b.level <= 1 && len(b.heading) <= MaxHeadingBytes {
			return b.heading
		}
	}
	return ""
}

// Split cuts doc, which is valid, into pieces, at least one. A plain text that fits is one piece,
// whose Passage is that of the document. A document in which there is nothing to
// read is one piece without text.
//
// Errors: those of Options.Validate and of Options.Count.
func Split(ctx context.Context, doc braid.Document, opts Options) ([]Piece, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	c := counter{count: opts.Count}
	if doc.Format == "" || doc.Format == braid.FormatText {
		n, err := c.one(ctx, doc.Passage())
		if err != nil {
			return nil, err
		}
		if n <= opts.Tokens {
			return []Piece{{Context: doc.Title, Text: doc.Text, End: len(doc.Text)}}, nil
		}
	}
	r := read(doc.Text, doc.Format)
	sections := sectionsOf(r, doc.Title)
	if len(sections) == 0 {
		sections = []section{{context: doc.Title}}
	}
	if err := c.fitContexts(ctx, sections, opts.Tokens); err != nil {
		return nil, err
	}
	p := packer{counter: c, view: r.text, opts: opts}
	if err := p.pack(ctx, sections); err != nil {
		return nil, err
	}
	var pieces []Piece
	for _, s := range sections {
		for _, run := range s.runs {
			start, end := run.bounds(s.units)
			from, to := r.source(start, end)
			pieces = append(pieces, Piece{Context: s.context, Text: r.text[start:end], Start: from, End: to, Section: s.path})
		}
	}
	if len(pieces) == 0 {
		pieces = []Piece{{Context: sections[0].context}}
	}
	return pieces, nil
}

// counter asks the caller's function and checks its answers.
type counter struct {
	count func(ctx context.Context, texts []string) ([]int, error)
}

func (c counter) all(ctx context.Context, texts []string) ([]int, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	n, err := c.count(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("count tokens: %w", err)
	}
	if len(n) != len(texts) {
		return nil, fmt.Errorf("count tokens: %d answers for %d texts", len(n), len(texts))
	}
	return n, nil
}

func (c counter) one(ctx context.Context, text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := c.all(ctx, []string{text})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}
