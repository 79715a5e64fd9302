package hnsw

import (
	"math"
	"slices"

	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the graph: M, EfConstruction and the seed, the entry, the number
// of segments, and of each segment the sets, the vectors, their codes, the links
// and the twins. What else follows from these is computed anew by Load. A form of
// version 1 had no codes. Insertions wait until
// it has ended, searches do not; what is removed meanwhile may be in it.
func (g *Graph) Save(w *snapshot.Writer) {
	g.vacuum.Lock()
	defer g.vacuum.Unlock()
	g.gate.Lock()
	defer g.gate.Unlock()
	s := g.searcher()
	defer g.release(s)
	w.Uint64s([]uint64{uint64(g.opts.M), uint64(g.opts.EfConstruction), g.opts.Seed, g.entry.Load(), uint64(len(s.segments))})
	chained := s.chained()
	for i := range s.segments {
		s.save(w, i, chained)
	}
}

// save writes segment i. Nodes that are stored and not linked yet are left out,
// and so are the links of those that Vacuum took out of the graph.
func (s *searcher) save(w *snapshot.Writer, i int, chained bitset) {
	segment, rows := s.segments[i], s.rows()
	known, live := make([]uint64, rows/64), make([]uint64, rows/64)
	bottom, upper, twins := slices.Clone(segment.bottom), slices.Clone(segment.upper), slices.Clone(segment.twins)
	for row := range rows {
		inChain := chained.has(uint32(i)<<s.shift + row)
		switch {
		case has(segment.linked, row):
		case !has(segment.known, row), !inChain && has(segment.live, row):
			continue
		default:
			clear(bottom[int(row)*s.width(0):][:s.width(0)])
			clear(upper[int(segment.upperAt[row])*s.width(1) : int(segment.upperAt[row+1])*s.width(1)])
			if !inChain {
				twins[row] = 0
			}
		}
		known[row/64] |= 1 << (row % 64)
		if has(segment.live, row) {
			live[row/64] |= 1 << (row % 64)
		}
	}
	w.Uint64s(known)
	w.Uint64s(live)
	w.Uint64s(segment.linked)
	w.Float32s(segment.vectors)
	w.Int8s(segment.codes)
	w.Float32s(segment.scales)
	w.Float32s(segment.missed)
	w.Uint32s(bottom)
	w.Uint32s(upper)
	w.Uint32s(twins)
}

// chained returns the twins of all linked nodes.
func (s *searcher) chained() bitset {
	all := make(bitset, s.end()/64)
	for i, segment := range s.segments {
		for row := range s.rows() {
			if has(segment.linked, row) {
				for twin := range s.chain(uint32(i)<<s.shift + row) {
					all[twin/64] |= 1 << (twin % 64)
				}
			}
		}
	}
	return all
}

// Load reads what Save has written, vectors with dim components under ordinals
// below end. It fails with r's error, or with braid.Corrupt when what was read
// is something else. The graph keeps the options it was made with.
func Load(r *snapshot.Reader, end uint64, dim int) (*Graph, error) {
	head := r.Uint64s()
	if r.Err() == nil && len(head) != 5 {
		r.Fail("a graph of %d numbers, want 5", len(head))
	}
	if r.Err() != nil {
		return nil, r.Err()
	}
	if head[0] < 1 || head[0] > maxM || head[1] < 1 || head[1] > maxEfConstruction {
		r.Fail("a graph with M %d and EfConstruction %d", head[0], head[1])
		return nil, r.Err()
	}
	g, err := New(dim, Options{M: int(head[0]), EfConstruction: int(head[1]), Seed: head[2]})
	if err != nil {
		r.Fail("%w", err)
		return nil, r.Err()
	}
	l := loader{Reader: r, graph: g, layout: *g.layout.Load(), end: min(end, lastNode+1)}
	for range head[4] {
		if l.segment(); r.Err() != nil {
			return nil, r.Err()
		}
	}
	l.check(head[3])
	if r.Err() != nil {
		return nil, r.Err()
	}
	g.layout.Store(&l.layout)
	g.entry.Store(head[3])
	return g, nil
}

// loader fills a graph that nobody else sees yet.
type loader struct {
	*snapshot.Reader
	graph *Graph
	layout
	end uint64
}

// segment reads the next one and checks what can be checked without the others.
func (l *loader) segment() {
	first := uint64(len(l.segments)) << l.shift
	if first >= l.end {
		l.Fail("there are vectors of ordinals from %d on", l.end)
		return
	}
	s, rows := bareSegment(l.geometry, uint32(first)), int(l.rows())
	s.known = array(l, "known", l.Uint64s(), rows/64)
	s.live = array(l, "live", l.Uint64s(), rows/64)
	s.linked = array(l, "linked", l.Uint64s(), rows/64)
	s.vectors = array(l, "vectors", l.Float32s(), rows*l.dim)
	coded := l.Version() > 1
	if coded {
		s.codes = array(l, "codes", l.Int8s(), rows*l.dim)
		s.scales = array(l, "scales", l.Float32s(), rows)
		s.missed = array(l, "missed", l.Float32s(), rows)
	} else {
		s.makeCodes(l.geometry)
	}
	s.bottom = array(l, "bottom", l.Uint32s(), rows*l.width(0))
	s.upper = array(l, "upper", l.Uint32s(), int(s.upperAt[rows])*l.width(1))
	s.twins = array(l, "twins", l.Uint32s(), rows)
	if l.Err() != nil {
		return
	}
	for row := range uint32(rows) {
		node := first + uint64(row)
		known, live, linked := has(s.known, row), has(s.live, row), has(s.linked, row)
		if known && node >= l.end || !known && (live || linked) {
			l.Fail("node %d is known: %t, live: %t, linked: %t, of %d", node, known, live, linked, l.end)
			return
		}
		if !known {
			continue
		}
		at := int(row) * l.dim
		vector := s.vectors[at:][:l.dim]
		if norm := simd.Dot(vector, vector); norm-norm != 0 {
			l.Fail("the vector of node %d has a component that is not finite", node)
			return
		}
		if !coded {
			s.encode(row, l.dim)
		} else if scale, missed := s.scales[row], s.missed[row]; !(scale >= 0) || scale > math.MaxFloat32 || !(missed >= 0) {
			l.Fail("the codes of node %d have a scale of %v and miss %v", node, scale, missed)
			return
		}
	}
	l.add(s)
}

// array checks the length of what was read.
func array[T any](l *loader, name string, v []T, want int) []T {
	if len(v) != want {
		l.Fail("segment %d: %s has %d elements, want %d", len(l.segments), name, len(v), want)
	}
	return v
}

// check sees that every link leads to a node that is in the layer, every chain to
// nodes that have the vector it is for and nothing else to them, and that entry
// is one. It counts what is there.
func (l *loader) check(entry uint64) {
	chained := make(bitset, len(l.segments)<<l.shift/64)
	any := false
	for i, segment := range l.segments {
		for row := range l.rows() {
			node := uint32(i)<<l.shift + row
			if !has(segment.linked, row) {
				if !has(segment.known, row) && segment.twins[row] != 0 {
					l.Fail("node %d is not there and has a twin", node)
				}
				continue
			}
			any = true
			for layer := range segment.level(row) + 1 {
				l.checkLinks(node, layer)
			}
			l.checkChain(node, chained)
			if l.Err() != nil {
				return
			}
		}
	}
	node := uint32(entry) - 1
	switch {
	case entry == 0 && !any:
	case entry == 0 || !l.linkedAt(node, int(min(entry>>32, maxLevel+1))):
		l.Fail("searches would begin at %#x", entry)
	}
	l.count(chained)
}

func (l *loader) linkedAt(node uint32, layer int) bool {
	if !l.holds(node) {
		return false
	}
	segment, row := l.at(node)
	return has(segment.linked, row) && segment.level(row) >= layer
}

func (l *loader) checkLinks(node uint32, layer int) {
	links := l.links(node, layer)
	ended := false
	for _, link := range links {
		switch {
		case link == 0:
			ended = true
		case ended || link-1 == node || !l.linkedAt(link-1, layer):
			l.Fail("node %d has a link to %d in layer %d", node, link-1, layer)
			return
		case layer == 0:
			segment, row := l.at(link - 1)
			segment.inbound[row]++
		}
	}
}

// checkChain follows the twins of a node and adds them to chained.
func (l *loader) checkChain(node uint32, chained bitset) {
	p := l.probe(node)
	for at := node; ; {
		segment, row := l.at(at)
		next := segment.twins[row]
		if next == 0 {
			return
		}
		at = next - 1
		if !l.holds(at) || chained.has(at) {
			l.Fail("node %d has %d as a twin", node, at)
			return
		}
		segment, row = l.at(at)
		if !has(segment.known, row) || has(segment.linked, row) || !slices.Equal(p.codes, l.probe(at).codes) {
			l.Fail("node %d has %d as a twin", node, at)
			return
		}
		chained[at/64] |= 1 << (at % 64)
		l.graph.twins.Store(true)
	}
}

// count sets the numbers of vectors, and sees that searches can come to each.
func (l *loader) count(chained bitset) {
	for i, segment := range l.segments {
		for row := range l.rows() {
			node := uint32(i)<<l.shift + row
			reachable := has(segment.linked, row) || chained.has(node)
			switch {
			case has(segment.live, row) && !reachable:
				l.Fail("node %d is live and not linked", node)
				return
			case has(segment.live, row):
				l.graph.live.Add(1)
			case reachable:
				l.graph.removed.Add(1)
			case segment.twins[row] != 0:
				l.Fail("node %d is not linked and has a twin", node)
				return
			}
		}
	}
}
