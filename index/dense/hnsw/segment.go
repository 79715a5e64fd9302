package hnsw

import (
	"sync/atomic"

	"github.com/braid-search/braid/index/dense/quant"
)

// segment holds a run of nodes. Nothing in it moves: what grows is the list of
// segments.
//
// A link is the neighbour's number plus one; a list of links ends at the first 0
// or at its full width. Links, twins, inbound and the sets are read and written
// atomically. Vectors, codes and what belongs to them are written before the node
// is live and the first link leads to it, and never again, so whoever has seen
// either may read them.
type segment struct {
	vectors []float32 // a row a node
	codes   []int8    // the same, quantised
	scales  []float32 // of a code's unit, one a node
	missed  []float32 // what the codes of a node miss

	bottom []uint32 // 2M links a node
	// upper has M links for each layer above the bottom of each node: those of
	// row i are lists upperAt[i] to upperAt[i+1], lowest layer first.
	upper   []uint32
	upperAt []uint16
	// twins chains nodes with equal vectors: of a linked node, its first twin;
	// of a twin, the next. Plus one; 0 ends the chain.
	twins []uint32
	// inbound counts the bottom links to a node.
	inbound []uint32

	// Sets with a bit a node.
	known  []uint64 // was added
	live   []uint64 // was added and not removed
	linked []uint64 // has links, and others to it
}

// newSegment returns one that holds no node, the first of which is first.
func newSegment(g *geometry, first uint32) *segment {
	s := bareSegment(g, first)
	rows := g.rows()
	s.makeCodes(g)
	s.vectors = make([]float32, int(rows)*g.dim)
	s.bottom = make([]uint32, int(rows)*g.width(0))
	s.upper = make([]uint32, int(s.upperAt[rows])*g.width(1))
	s.twins = make([]uint32, rows)
	s.known = make([]uint64, rows/64)
	s.live = make([]uint64, rows/64)
	s.linked = make([]uint64, rows/64)
	return s
}

// bareSegment returns one without the arrays that are saved.
func bareSegment(g *geometry, first uint32) *segment {
	rows := g.rows()
	s := &segment{
		upperAt: make([]uint16, rows+1),
		inbound: make([]uint32, rows),
	}
	for row := range rows {
		s.upperAt[row+1] = s.upperAt[row] + uint16(g.level(first+row))
	}
	return s
}

// encode makes the codes of a row, whose vector is there.
func (s *segment) encode(row uint32, dim int) {
	vector, codes := s.vectors[int(row)*dim:][:dim], s.codes[int(row)*dim:][:dim]
	s.scales[row] = quantise(vector, codes)
	s.missed[row], _ = quant.Missed(vector, codes, s.scales[row])
}

// makeCodes makes room for the codes of all rows.
func (s *segment) makeCodes(g *geometry) {
	rows := int(g.rows())
	s.codes, s.scales, s.missed = make([]int8, rows*g.dim), make([]float32, rows), make([]float32, rows)
}

// level is the highest layer of the node at row.
func (s *segment) level(row uint32) int { return int(s.upperAt[row+1] - s.upperAt[row]) }

// bytes is the memory of a segment.
func (s *segment) bytes() int64 {
	return int64(len(s.vectors)+len(s.scales)+len(s.missed)+len(s.bottom)+len(s.upper)+len(s.twins)+len(s.inbound))*4 +
		int64(len(s.upperAt))*2 + int64(len(s.codes)) + int64(len(s.known)+len(s.live)+len(s.linked))*8
}

// Members of the sets: has, set and unset are atomic; set and unset report
// whether they changed anything.

func has(words []uint64, row uint32) bool {
	return atomic.LoadUint64(&words[row/64])>>(row%64)&1 != 0
}

func set(words []uint64, row uint32) bool {
	return atomic.OrUint64(&words[row/64], 1<<(row%64))>>(row%64)&1 == 0
}

func unset(words []uint64, row uint32) bool {
	return atomic.AndUint64(&words[row/64], ^(1<<(row%64)))>>(row%64)&1 != 0
}

// layout is the list of segments at one moment. It is replaced, not changed.
type layout struct {
	*geometry
	segments []*segment
	vectors  [][]float32 // those of the segments
	codes    [][]int8    // those of the segments
}

// grown returns a layout with a segment for node.
func (l *layout) grown(node uint32) *layout {
	next := *l
	for !next.holds(node) {
		next.add(newSegment(l.geometry, next.end()))
	}
	return &next
}

// add appends a segment. Those who read a copy of l look at nothing beyond its
// length.
func (l *layout) add(s *segment) {
	l.segments = append(l.segments, s)
	l.vectors = append(l.vectors, s.vectors)
	l.codes = append(l.codes, s.codes)
}

// end is the number of the first node that there is no segment for.
func (l *layout) end() uint32 { return uint32(len(l.segments)) << l.shift }

// holds reports whether there is a segment for node.
func (l *layout) holds(node uint32) bool { return int(node>>l.shift) < len(l.segments) }

// at returns the segment of a node and its row there.
func (l *layout) at(node uint32) (*segment, uint32) {
	return l.segments[node>>l.shift], node & l.mask
}

// links returns the list of a node in a layer that the node is in.
func (l *layout) links(node uint32, layer int) []uint32 {
	s, row := l.at(node)
	if layer == 0 {
		width := l.width(0)
		return s.bottom[int(row)*width:][:width]
	}
	width := l.width(layer)
	return s.upper[(int(s.upperAt[row])+layer-1)*width:][:width]
}

// each yields the neighbours in a list of links.
func each(links []uint32) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for i := range links {
			n := atomic.LoadUint32(&links[i])
			if n == 0 || !yield(n-1) {
				return
			}
		}
	}
}

func (l *layout) isLive(node uint32) bool {
	s, row := l.at(node)
	return has(s.live, row)
}
