package split

import (
	"sort"
	"strings"

	"github.com/braid-search/braid"
)

// reading is a document as it is read: its blocks in order, and where each byte
// comes from.
type reading struct {
	text   string // what is read; of plain text and Markdown the source itself
	blocks []block
	marks  []mark // by ascending at; nil if text is the source
}

// block is a part of a document that is read in one go.
type block struct {
	start, end int // in reading.text, without white space at its ends
	// heading is the plain text of a heading, whose level is from 0 (the title of
	// a page) to 6; "" for all other blocks.
	heading string
	level   int
	// whole says that the block is kept together where it fits: a list, a table,
	// code. parts is where its items or rows begin; without any it has lines.
	whole bool
	parts []int
}

// mark says where the text from at on, to the next mark, comes from: byte by byte
// from src on, or, if end is not 0, as one from src to end.
type mark struct{ at, src, end int }

// source returns where text[start:end] comes from.
func (r reading) source(start, end int) (from, to int) {
	if r.marks == nil || start >= end {
		return start, end
	}
	first, last := r.markOf(start), r.markOf(end-1)
	from, to = first.src, last.end
	if first.end == 0 {
		from += start - first.at
	}
	if last.end == 0 {
		to = last.src + end - last.at
	}
	return from, to
}

func (r reading) markOf(at int) mark {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].at > at })
	return r.marks[i-1]
}

func read(source string, format braid.Format) reading {
	switch format {
	case braid.FormatMarkdown:
		return readMarkdown(source)
	case braid.FormatHTML:
		return readHTML(source)
	}
	return reading{text: source, blocks: paragraphs(source)}
}

// paragraphs returns the runs of lines that are not blank.
func paragraphs(text string) []block {
	var blocks []block
	start := -1 // of the paragraph under way
	for at := 0; at < len(text); {
		end := at + lineLen(text[at:])
		switch blank := strings.TrimSpace(text[at:end]) == ""; {
		case blank && start >= 0:
			blocks = appendBlock(blocks, text, block{start: start, end: at})
			start = -1
		case !blank && start < 0:
			start = at
		}
		at = end
	}
	if start >= 0 {
		blocks = appendBlock(blocks, text, block{start: start, end: len(text)})
	}
	return blocks
}

// lineLen is the length of the first line of text, its end included.
func lineLen(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// appendBlock appends b without the white space at its ends, if anything is left.
func appendBlock(blocks []block, text string, b block) []block {
	b.start, b.end = trim(text, b.start, b.end)
	if b.start == b.end {
		return blocks
	}
	return append(blocks, b)
}

// trim returns the bounds of text[start:end] without white space at its ends.
func trim(text string, start, end int) (int, int) {
	t := strings.TrimSpace(text[start:end])
	if t == "" {
		return start, start
	}
	start += strings.Index(text[start:end], t)
	return start, start + len(t)
}
