package split

import (
	"context"
	"strings"
)

// separator is what stands between headings in Piece.Section.
const separator = " > "

// section is what stands between two headings.
type section struct {
	path    string // the headings above
	context string // title and path, as models read them
	blocks  []block

	// What the packer fills in.
	room  int    // tokens left by the context
	units []span // what pieces are made of
	runs  []run  // the pieces
}

// sectionsOf sorts the blocks under their headings. A heading with nothing under
// it is a block itself.
func sectionsOf(r reading, title string) []section {
	blocks := boundHeadings(r.blocks)
	var sections []section
	var above []block // the headings above, the last one innermost
	bare := false     // whether nothing is under the last heading yet
	addBare := func() {
		last := above[len(above)-1]
		sections = append(sections, newSection(title, above[:len(above)-1], block{start: last.start, end: last.end}))
	}
	for i, b := range blocks {
		switch {
		case b.heading != "":
			if bare && b.level <= above[len(above)-1].level {
				addBare()
			}
			for len(above) > 0 && above[len(above)-1].level >= b.level {
				above = above[:len(above)-1]
			}
			above, bare = append(above, b), true
		case i == 0 || blocks[i-1].heading != "":
			sections, bare = append(sections, newSection(title, above, b)), false
		default:
			last := &sections[len(sections)-1]
			last.blocks = append(last.blocks, b)
		}
	}
	if bare {
		addBare()
	}
	return sections
}

// boundHeadings turns headings into paragraphs, from the lowest level, until there
// are no more than MaxSections, and those that are too long for one.
func boundHeadings(blocks []block) []block {
	var levels [7]int
	for i, b := range blocks {
		switch {
		case b.heading == "":
		case len(b.heading) > MaxHeadingBytes:
			blocks[i].heading = ""
		default:
			levels[b.level]++
		}
	}
	total, lowest := 0, 0
	for ; lowest < len(levels) && total+levels[lowest] <= MaxSections; lowest++ {
		total += levels[lowest]
	}
	for i, b := range blocks {
		if b.level >= lowest {
			blocks[i].heading = ""
		}
	}
	return blocks
}

func newSection(title string, above []block, first block) section {
	var path []string
	for _, h := range above {
		if len(path) == 0 || path[len(path)-1] != h.heading {
			path = append(path, h.heading)
		}
	}
	s := section{path: strings.Join(path, separator), blocks: []block{first}}
	s.context = contextOf(title, s.path)
	return s
}

// contextOf returns title and headings as they are read before a piece. A page that
// is headed by its title has it once.
func contextOf(title, path string) string {
	first, below, _ := strings.Cut(path, separator)
	if strings.EqualFold(first, strings.TrimSpace(title)) {
		path = below
	}
	return join(title, path)
}

// Text returns the Text of a piece from what else is known of it: the title of its
// document, Section and Passage. Where the context had been cut short and the text
// begins as the context would have gone on, a word of the text may be missing.
func Text(title, section, passage string) string {
	context := contextOf(title, section)
	if context == "" {
		return passage
	}
	same := 0
	for same < len(context) && same < len(passage) && context[same] == passage[same] {
		same++
	}
	if same < len(context) { // cut short, before the last space they have in common
		same = strings.LastIndexByte(passage[:min(same+1, len(passage))], ' ')
	}
	return strings.TrimPrefix(passage[max(0, same):], " ")
}

// fitContexts cuts contexts to half of limit tokens and notes the room they leave.
func (c counter) fitContexts(ctx context.Context, sections []section, limit int) error {
	fitted := map[string]string{}
	rooms := map[string]int{"": limit}
	for todo := contextsOf(sections); len(todo) > 0; {
		counts, err := c.all(ctx, todo)
		if err != nil {
			return err
		}
		var over []string
		for i, text := range todo {
			if counts[i] <= limit/2 {
				rooms[text] = limit - counts[i]
				continue
			}
			cut := shorten(text, counts[i], limit/2)
			fitted[text] = cut
			if cut != "" {
				over = append(over, cut)
			}
		}
		todo = over
	}
	for i := range sections {
		s := &sections[i]
		for cut, again := fitted[s.context]; again; cut, again = fitted[s.context] {
			s.context = cut
		}
		s.room = rooms[s.context]
	}
	return nil
}

// contextsOf returns each context that is not empty once.
func contextsOf(sections []section) []string {
	var contexts []string
	seen := map[string]bool{"": true}
	for _, s := range sections {
		if !seen[s.context] {
			seen[s.context] = true
			contexts = append(contexts, s.context)
		}
	}
	return contexts
}

// shorten returns the first words of text, which counts n tokens, that should
// count no more than limit; always less than all of them.
func shorten(text string, n, limit int) string {
	size := min(len(text)*limit/n, len(text)-1)
	if size <= 0 {
		return ""
	}
	cut := borderBefore(text, size)
	if cut >= len(text) {
		return ""
	}
	return strings.TrimSpace(text[:cut])
}
