package split

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// meaning is what an element of HTML is here.
type meaning int

const (
	inline   meaning = iota // no border of words, sentences or blocks
	leftOut                 // shows no text, or none of the document's
	together                // kept in one piece where it fits
	item                    // a part of that
	cell
	paragraph // ends the one before it, and its end does
	lineBreak
	heading
)

// meaningOf returns what an element is, and the level of a heading.
func meaningOf(tag atom.Atom) (meaning, int) {
	switch tag {
	// A menu is the same on every page of a site, and the labels of a form are no
	// prose; the others show nothing, or what they hold is for programs that do not
	// know them.
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Noembed, atom.Noframes,
		atom.Iframe, atom.Object, atom.Svg, atom.Canvas, atom.Audio, atom.Video,
		atom.Nav, atom.Button, atom.Select, atom.Datalist, atom.Textarea:
		return leftOut, 0
	case atom.Ul, atom.Ol, atom.Dl, atom.Menu, atom.Table, atom.Pre, atom.Listing:
		return together, 0
	case atom.Li, atom.Dt, atom.Tr, atom.Caption:
		return item, 0
	case atom.Td, atom.Th:
		return cell, 0
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Aside, atom.Main, atom.Header,
		atom.Footer, atom.Blockquote, atom.Figure, atom.Figcaption, atom.Address, atom.Details,
		atom.Summary, atom.Form, atom.Fieldset, atom.Legend, atom.Hr, atom.Body, atom.Head, atom.Html,
		atom.Hgroup, atom.Center, atom.Dialog, atom.Search, atom.Dd, atom.Tbody, atom.Thead, atom.Tfoot:
		return paragraph, 0
	case atom.Br:
		return lineBreak, 0
	case atom.Title:
		return heading, 0
	case atom.H1:
		return heading, 1
	case atom.H2:
		return heading, 2
	case atom.H3:
		return heading, 3
	case atom.H4:
		return heading, 4
	case atom.H5:
		return heading, 5
	case atom.H6:
		return heading, 6
	}
	return inline, 0
}

// readHTML reads what a page shows. The tags are read one after the other, without
// a tree: how deep they are nested does not matter, and where each stands is known.
func readHTML(source string) reading {
	unclosed := map[atom.Atom]bool{}
	for {
		p := page{source: source, keep: unclosed}
		p.read()
		if p.skipped == 0 {
			p.flush()
			return reading{text: p.text.String(), blocks: p.blocks, marks: p.marks}
		}
		// An element that is left out has no end, and all that follows is in it: it
		// is broken, and it is better to read too much than nothing. This happens
		// once for each kind of element at most.
		unclosed[p.skipped] = true
	}
}

// page is a page of HTML while it is read.
type page struct {
	source string
	keep   map[atom.Atom]bool // read though they would be left out

	text   strings.Builder
	marks  []mark
	blocks []block

	skipped atom.Atom // the element that is being left out, 0 for none
	depth   int       // how many of its kind are open
	nested  int       // how many elements kept together are open
	pre     int       // how many of them keep their white space
	open    block     // the block under way, its end not known yet
	started bool      // whether open has text
	heading bool      // whether open is a heading
	pending byte      // white space that stands before the next text of open, 0 for none
	item    bool      // whether the next text begins an item
}

func (p *page) read() {
	z := html.NewTokenizer(strings.NewReader(p.source))
	for at := 0; ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return
		}
		size := len(z.Raw())
		switch kind {
		case html.TextToken:
			if p.skipped == 0 {
				p.shown(at, at+size)
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			p.tag(atom.Lookup(name), kind)
		}
		at += size
	}
}

func (p *page) tag(tag atom.Atom, kind html.TokenType) {
	if p.skip(tag, kind) {
		return
	}
	start := kind == html.StartTagToken
	switch means, level := meaningOf(tag); means {
	case heading:
		p.flush()
		if p.heading = start; start {
			p.open.level = level
		}
	case together:
		p.enclose(tag, start)
	case item:
		p.item = p.item || start
		p.line()
	case cell:
		p.space('\t')
	case lineBreak:
		p.space('\n')
	case paragraph, leftOut: // but it is kept, see readHTML
		p.line()
	}
}

// skip reports whether tag begins, ends or is in what is left out.
func (p *page) skip(tag atom.Atom, kind html.TokenType) bool {
	if p.skipped == 0 {
		if means, _ := meaningOf(tag); means == leftOut && kind == html.StartTagToken && !p.keep[tag] {
			p.skipped, p.depth = tag, 1
			if tag == atom.Nav {
				p.line()
			}
		}
		return p.skipped != 0
	}
	if tag == p.skipped {
		switch kind {
		case html.StartTagToken:
			p.depth++
		case html.EndTagToken:
			p.depth--
		}
		if p.depth == 0 {
			p.skipped = 0
		}
	}
	return true
}

// enclose begins or ends an element that is kept together.
func (p *page) enclose(tag atom.Atom, start bool) {
	change := -1
	if start {
		change = 1
	}
	if p.nested == 0 || p.nested+change == 0 {
		p.flush()
	} else {
		p.space('\n')
	}
	p.nested = max(0, p.nested+change)
	if tag == atom.Pre || tag == atom.Listing {
		p.pre = max(0, p.pre+change)
	}
}

// line ends a paragraph, or within a list, table or heading a line.
func (p *page) line() {
	if p.nested > 0 || p.heading {
		p.space('\n')
		return
	}
	p.flush()
}

// space sees that white space stands before the next text of the block; the end of
// a line is more than the end of a cell, and that more than a space.
func (p *page) space(c byte) {
	if p.pending != '\n' && (p.pending != '\t' || c == '\n') {
		p.pending = c
	}
}

// flush ends the block under way.
func (p *page) flush() {
	if p.started {
		p.open.start, p.open.end = trim(p.text.String(), p.open.start, p.text.Len())
		if p.heading {
			p.open.heading = strings.Join(strings.Fields(p.text.String()[p.open.start:p.open.end]), " ")
		}
		if p.open.start < p.open.end {
			p.blocks = append(p.blocks, p.open)
		}
		p.text.WriteString("\n\n")
	}
	p.open, p.started, p.heading, p.pending = block{}, false, false, 0
}

// shown adds the text source[start:end].
func (p *page) shown(start, end int) {
	for at := start; at < end; {
		r, n := utf8.DecodeRuneInString(p.source[at:end])
		decoded := ""
		if r == '&' {
			n = referenceLen(p.source[at:end])
			decoded = html.UnescapeString(p.source[at : at+n])
			if first, size := utf8.DecodeRuneInString(decoded); size == len(decoded) {
				r = first
			}
		}
		switch {
		case unicode.IsSpace(r) && p.pre == 0:
			p.space(' ')
		case decoded != "" && decoded != p.source[at:at+n]:
			p.begin()
			p.marks = append(p.marks, mark{at: p.text.Len(), src: at, end: at + n})
			p.text.WriteString(decoded)
		default:
			p.begin()
			p.verbatim(at, n)
		}
		at += n
	}
}

// begin writes what stands before the next text: the start of a block, white
// space, the start of an item.
func (p *page) begin() {
	if !p.started {
		p.started = true
		p.open.start, p.open.whole = p.text.Len(), p.nested > 0 && !p.heading
		p.pending, p.item = 0, false
		return
	}
	if p.pending != 0 {
		// A mark of its own: nothing of it is ever at the end of a piece.
		p.marks = append(p.marks, mark{at: p.text.Len()})
		p.text.WriteByte(p.pending)
		p.pending = 0
	}
	if p.item && p.open.whole {
		p.open.parts = append(p.open.parts, p.text.Len())
	}
	p.item = false
}

// verbatim adds the n bytes of the source from at on.
func (p *page) verbatim(at, n int) {
	if k := len(p.marks); k == 0 || p.marks[k-1].end != 0 || p.marks[k-1].src+p.text.Len()-p.marks[k-1].at != at {
		p.marks = append(p.marks, mark{at: p.text.Len(), src: at})
	}
	p.text.WriteString(p.source[at : at+n])
}

// referenceLen is the length of what may be a character reference at the start of
// text, which is an ampersand.
func referenceLen(text string) int {
	const longest = 40
	for i := 1; i < len(text) && i < longest; i++ {
		c := text[i]
		if c == ';' {
			return i + 1
		}
		if c != '#' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return i
		}
	}
	return min(len(text), longest)
}
