package split

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxNesting bounds the lists and quotes that one line of Markdown is in. The
// parser's time grows with the square of it.
const maxNesting = 64

// readMarkdown reads the blocks at the top of a Markdown document; what is inside
// of lists and quotes is left to lines and sentences. Their text is the source,
// markup and all. Only headings are read without markup.
func readMarkdown(source string) reading {
	r := reading{text: source}
	if tooDeep(source) {
		r.blocks = paragraphs(source)
		return r
	}
	body := frontMatter(source)
	if body > 0 {
		r.blocks = appendBlock(r.blocks, source, block{end: body, whole: true})
	}
	// No inline parsers: only blocks are looked at, and inlines can take long. No
	// link reference definitions, for the same reason: they are paragraphs here.
	p := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
	)
	parsed := []byte(source[body:])
	root := p.Parse(text.NewReader(parsed))
	// Blocks reach to the next one, so that fences and all else is in one of them.
	at := body
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		end := len(source)
		if next := node.NextSibling(); next != nil {
			end = max(at, lineStart(source, body+position(next)))
		}
		b := block{start: at, end: end}
		if describe(&b, node, source, parsed) {
			r.blocks = appendBlock(r.blocks, source, b)
		}
		at = end
	}
	return r
}

// tooDeep reports whether a line has more than maxNesting markers of lists and
// quotes before its text, or one that is indented as far as that many.
func tooDeep(source string) bool {
	for at := 0; at < len(source); {
		n := lineLen(source[at:])
		markers, indented := 0, 0
		for _, c := range []byte(source[at : at+n]) {
			switch c {
			case ' ', '\t':
				indented++
				continue
			case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
				continue
			case '>', '-', '*', '+', '.', ')':
				markers = max(markers+1, indented/2)
				continue
			}
			break
		}
		if markers > maxNesting {
			return true
		}
		at += n
	}
	return false
}

// frontMatter returns the length of the YAML at the start of source, 0 if there is
// none. A parser of Markdown would take its last line for the mark of a heading.
func frontMatter(source string) int {
	at := lineLen(source)
	if strings.TrimRight(source[:at], " \t\r\n") != "---" {
		return 0
	}
	for at < len(source) && at < 16<<10 {
		n := lineLen(source[at:])
		line := strings.TrimRight(source[at:at+n], " \t\r\n")
		if at += n; line == "---" || line == "..." {
			return at
		}
	}
	return 0
}

// position returns where node begins in what was parsed.
func position(node ast.Node) int {
	if node.Kind() == extast.KindTable && node.FirstChild() != nil {
		return node.FirstChild().Pos() // the table's own is that of the paragraph it was found in
	}
	return node.Pos()
}

func lineStart(source string, at int) int {
	return strings.LastIndexByte(source[:at], '\n') + 1
}

// describe says what the block of node is, and reports whether it is read.
// Positions in node are in parsed, the end of source.
func describe(b *block, node ast.Node, source string, parsed []byte) bool {
	switch n := node.(type) {
	case *ast.Heading:
		b.level = min(n.Level, 6)
		b.heading = headingText(n.Lines().Value(parsed))
	case *ast.ThematicBreak:
		return false
	case *ast.HTMLBlock:
		b.whole = true
		return n.HTMLBlockType != ast.HTMLBlockType2 || // a comment
			!strings.HasSuffix(strings.TrimSpace(source[b.start:b.end]), "-->")
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		b.whole = true
	case *ast.List:
		b.whole = true
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if at := lineStart(source, len(source)-len(parsed)+item.Pos()); at > b.start {
				b.parts = append(b.parts, at)
			}
		}
	default:
		b.whole = node.Kind() == extast.KindTable
	}
	return true
}

// headingText returns what a heading shows.
func headingText(markdown []byte) string {
	// Without markup, or too long for a heading: see boundHeadings.
	if len(markdown) > 2*MaxHeadingBytes || !bytes.ContainsAny(markdown, "*_`[<\\&") {
		return strings.Join(strings.Fields(string(markdown)), " ")
	}
	p := parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 100)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
	)
	var shown bytes.Buffer
	// The walk fails only if the function does.
	_ = ast.Walk(p.Parse(text.NewReader(markdown)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			shown.Write(n.Segment.Value(markdown))
			if n.SoftLineBreak() || n.HardLineBreak() {
				shown.WriteByte(' ')
			}
		case *ast.AutoLink:
			shown.Write(n.Label(markdown))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(shown.String()), " ")
}
