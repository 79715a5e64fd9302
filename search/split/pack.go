package split

import (
	"context"
	"unicode/utf8"
)

// span is a stretch of the text that is not cut any further, or not yet.
type span struct {
	start, end int
	grain      grain
	border     border // what is before it
	tokens     int    // 0: not counted yet
	parts      []int  // of a whole block
}

// grain is what a span is, and so what it is cut into when it is too long.
type grain int

const (
	whole    grain = iota // a list, table or code: into its parts
	part                  // an item, row or line: into sentences
	sentence              // into fragments
	fragment              // some words, or letters: into smaller ones
)

// border is how good a place it is to end a piece, the higher the better.
type border int

const (
	atFragment border = iota
	atSentence
	atPart
	atBlock
)

// run is a piece: units from to end, those before fresh repeated from the piece
// before.
type run struct{ from, fresh, end int }

// bounds returns where the run begins and ends in the text.
func (r run) bounds(units []span) (start, end int) {
	return units[r.from].start, units[r.end-1].end
}

// packer puts the blocks of sections into pieces.
type packer struct {
	counter
	view string
	opts Options
}

// pack sets the units and runs of sections. What the parts of a piece count may
// be less than what it counts as a whole, so pieces are counted too, and a section
// with one that is too large is packed again with less room.
func (p packer) pack(ctx context.Context, sections []section) error {
	todo := make([]*section, len(sections))
	for i := range sections {
		s := &sections[i]
		s.units = p.firstUnits(s.blocks)
		todo[i] = s
	}
	for len(todo) > 0 {
		if err := p.refine(ctx, todo); err != nil {
			return err
		}
		for _, s := range todo {
			s.runs = packUnits(s.units, s.room, min(p.opts.Overlap, s.room/2))
		}
		var err error
		if todo, err = p.tooLarge(ctx, todo); err != nil {
			return err
		}
	}
	return nil
}

// firstUnits are the sentences of paragraphs, and whole blocks.
func (p packer) firstUnits(blocks []block) []span {
	var units []span
	for _, b := range blocks {
		s := span{start: b.start, end: b.end, grain: part, border: atBlock}
		if b.whole {
			s.grain, s.parts = whole, b.parts
			units = append(units, s)
			continue
		}
		units = p.cut(units, s, 0)
	}
	return units
}

// refine counts the units of sections and cuts those that are larger than the
// room, until none is or it is a single character.
func (p packer) refine(ctx context.Context, sections []*section) error {
	for {
		var texts []string
		var counted []*span
		for _, s := range sections {
			for i := range s.units {
				if u := &s.units[i]; u.tokens == 0 {
					texts, counted = append(texts, p.view[u.start:u.end]), append(counted, u)
				}
			}
		}
		counts, err := p.all(ctx, texts)
		if err != nil {
			return err
		}
		for i, u := range counted {
			u.tokens = max(1, counts[i])
		}
		again := false
		for _, s := range sections {
			var cut bool
			s.units, cut = p.cutLarge(s.units, s.room)
			again = again || cut
		}
		if !again {
			return nil
		}
	}
}

// cutLarge cuts each unit that is larger than room once.
func (p packer) cutLarge(units []span, room int) ([]span, bool) {
	var finer []span
	cut := false
	for i, u := range units {
		if u.tokens <= room || p.single(u) {
			if finer != nil {
				finer = append(finer, u)
			}
			continue
		}
		if finer == nil {
			finer = append(make([]span, 0, len(units)+8), units[:i]...)
		}
		finer, cut = p.cut(finer, u, room), true
	}
	if !cut {
		return units, false
	}
	return finer, true
}

func (p packer) single(u span) bool {
	_, n := utf8.DecodeRuneInString(p.view[u.start:u.end])
	return n == u.end-u.start
}

// cut appends the parts of u to units; the first of them has u's border.
func (p packer) cut(units []span, u span, room int) []span {
	text := p.view[u.start:u.end]
	var starts []int
	next := span{}
	switch u.grain {
	case whole:
		next.grain, next.border = part, atPart
		for _, at := range u.parts {
			starts = append(starts, at-u.start)
		}
		if len(starts) == 0 {
			starts = lines(text)
		}
	case part:
		next.grain, next.border = sentence, atSentence
		starts = sentences(text)
	default:
		next.grain, next.border = fragment, atFragment
		starts = fragments(text, u.tokens, room)
	}
	first, at := u.border, 0
	for i := 0; i <= len(starts); i++ {
		end := len(text)
		if i < len(starts) {
			end = starts[i]
		}
		if end <= at {
			continue
		}
		s := next
		s.start, s.end = trim(p.view, u.start+at, u.start+end)
		at = end
		if s.start == s.end {
			continue
		}
		if first >= 0 {
			s.border, first = first, -1
		}
		units = append(units, s)
	}
	return units
}

// packUnits puts units together into runs of at most room tokens.
func packUnits(units []span, room, overlap int) []run {
	var runs []run
	for at := 0; at < len(units); {
		r := run{from: at, fresh: at, end: at}
		if len(runs) > 0 {
			r.from = repeatFrom(units, runs[len(runs)-1], room, overlap)
		}
		total := sum(units[r.from:at])
		for r.end < len(units) && (r.end == at || total+units[r.end].tokens <= room) {
			total += units[r.end].tokens
			r.end++
		}
		if r.end < len(units) {
			r.end = bestEnd(units, r, total)
		}
		runs = append(runs, r)
		at = r.end
	}
	return balanceTail(units, runs, room)
}

// repeatFrom returns where the run after r begins when it repeats the last
// sentences of r: at most overlap tokens, not all of r, and so many that the next
// unit still fits.
func repeatFrom(units []span, r run, room, overlap int) int {
	from, left := r.end, min(overlap, room-units[r.end].tokens)
	for from-1 > r.from && units[from-1].grain == sentence && units[from-1].tokens <= left {
		from--
		left -= units[from].tokens
	}
	return from
}

// bestEnd returns where to end the run r of total tokens: at the strongest border
// of its second half, the last of equals.
func bestEnd(units []span, r run, total int) int {
	best, tokens := r.end, total
	for end := r.end; end > r.fresh && 2*tokens >= total; end-- {
		if units[end].border > units[best].border {
			best = end
		}
		tokens -= units[end-1].tokens
	}
	return best
}

// balanceTail moves the border between the last two runs where the last one has
// little of its own: to the strongest border that leaves both enough, of equals
// the one nearest to the middle.
func balanceTail(units []span, runs []run, room int) []run {
	n := len(runs)
	if n < 2 {
		return runs
	}
	last, before := runs[n-1], runs[n-2]
	if 4*sum(units[last.fresh:]) >= room {
		return runs
	}
	left, right := sum(units[before.from:last.fresh]), sum(units[last.fresh:])
	best, bestGap := -1, 0
	for at := last.fresh - 1; at > before.fresh; at-- {
		left, right = left-units[at].tokens, right+units[at].tokens
		if 4*left < room || right > room {
			break
		}
		gap := max(left-right, right-left)
		if 4*right >= room && (best < 0 || units[at].border > units[best].border || units[at].border == units[best].border && gap < bestGap) {
			best, bestGap = at, gap
		}
	}
	if best < 0 {
		return runs
	}
	runs[n-2].end = best
	runs[n-1] = run{from: best, fresh: best, end: len(units)}
	return runs
}

func sum(units []span) int {
	total := 0
	for _, u := range units {
		total += u.tokens
	}
	return total
}

// tooLarge counts the pieces of sections and returns the sections with one that is
// over the limit, their rooms made smaller.
func (p packer) tooLarge(ctx context.Context, sections []*section) ([]*section, error) {
	var texts []string
	for _, s := range sections {
		for _, r := range s.runs {
			start, end := r.bounds(s.units)
			texts = append(texts, join(s.context, p.view[start:end]))
		}
	}
	counts, err := p.all(ctx, texts)
	if err != nil {
		return nil, err
	}
	var over []*section
	for _, s := range sections {
		excess := 0
		for _, r := range s.runs {
			if r.end-r.from > 1 || !p.single(s.units[r.from]) {
				excess = max(excess, counts[0]-p.opts.Tokens)
			}
			counts = counts[1:]
		}
		if excess > 0 && s.room > 1 {
			s.room = max(1, min(s.room-excess, s.room*9/10))
			over = append(over, s)
		}
	}
	return over, nil
}
