package hnsw

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"
)

// bridge is the number of candidates, in multiples of M, that a node which lost
// neighbours chooses new ones from. With 8 the recall of a graph whose half was
// removed fell by a point against a graph made afresh, with 32 by nothing.
const bridge = 32

// Vacuum takes removed vectors out of the graph: nodes that have links to them
// choose new neighbours among the neighbours of those. Until then removed
// vectors cost searches time, as much as if they were there, but no recall.
//
// It works beside searches, insertions and removals. When ctx ends it stops,
// leaving a graph that is good but in which the removed nodes still are.
func (g *Graph) Vacuum(ctx context.Context) error {
	g.vacuum.Lock()
	defer g.vacuum.Unlock()
	condemned, removed := g.condemn()
	if removed == 0 {
		return nil
	}
	s := g.searcher()
	defer g.release(s)
	for i, segment := range s.segments {
		if err := stopped(ctx); err != nil {
			return err
		}
		for row := range g.rows() {
			if node := uint32(i)<<g.shift + row; has(segment.linked, row) && !condemned.has(node) {
				s.mend(node, condemned)
			}
		}
	}
	for _, node := range s.abandon(condemned) {
		s.reconnect(node)
	}
	g.removed.Add(-removed)
	return nil
}

// bitset is a set of nodes.
type bitset []uint64

func (b bitset) has(node uint32) bool {
	word := int(node / 64)
	return word < len(b) && b[word]>>(node%64)&1 != 0
}

func (b bitset) all(yield func(uint32) bool) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			if !yield(uint32(i*64 + bits.TrailingZeros64(word))) {
				return
			}
		}
	}
}

// condemn returns the linked nodes that serve no vector, and how many vectors
// were removed until now. From here on no new link leads to a condemned node,
// and the entry is not one.
func (g *Graph) condemn() (bitset, int64) {
	g.gate.Lock()
	defer g.gate.Unlock()
	s := g.searcher()
	defer g.release(s)
	removed := g.removed.Load()
	condemned := make(bitset, len(s.segments)<<g.shift/64)
	entry, top := uint64(0), -1
	for i, segment := range s.segments {
		for row := range g.rows() {
			node := uint32(i)<<g.shift + row
			switch level := segment.level(row); {
			case !has(segment.linked, row):
			case !s.serves(node):
				condemned[node/64] |= 1 << (node % 64)
			case level > top:
				top = level
				entry = uint64(level)<<32 | uint64(node+1)
			}
		}
	}
	if now := g.entry.Load(); now == 0 || condemned.has(uint32(now)-1) {
		g.entry.Store(entry)
	}
	return condemned, removed
}

// mend gives a node new neighbours for those that are condemned, in all its
// layers, and takes removed twins off its chain.
func (s *searcher) mend(node uint32, condemned bitset) {
	if s.graph.twins.Load() {
		s.prune(node)
	}
	for layer := range s.level(node) + 1 {
		lost, kept := s.bridge(node, layer, condemned)
		if !lost {
			continue
		}
		for n := range each(s.links(node, layer)) {
			if !slices.Contains(kept, n) {
				s.backlink(n, node, layer, false)
			}
		}
	}
}

// bridge replaces the condemned neighbours of a node in one layer. It reports
// whether there were any, and those that were not.
func (s *searcher) bridge(node uint32, layer int, condemned bitset) (lost bool, kept []uint32) {
	lock := &s.graph.locks[node%lockStripes]
	lock.Lock()
	defer lock.Unlock()
	s.forget()
	s.visit(node)
	s.batch = s.batch[:0]
	var gone []uint32
	meet := func(n uint32, serves bool) {
		if !s.visit(n) {
			return
		}
		if condemned.has(n) {
			gone = append(gone, n)
		} else if serves || s.serves(n) {
			s.batch = append(s.batch, n)
		}
	}
	for n := range each(s.links(node, layer)) {
		meet(n, true)
	}
	if len(gone) == 0 {
		return false, nil
	}
	kept = slices.Clone(s.batch)
	for len(gone) > 0 && len(s.batch) < bridge*s.opts.M {
		next := gone[0]
		gone = gone[1:]
		for n := range each(s.links(next, layer)) {
			meet(n, false)
		}
	}
	s.choose(node, layer, func(uint32) bool { return false })
	return true, kept
}

// prune takes the removed twins of a linked node off its chain.
func (s *searcher) prune(node uint32) {
	lock := &s.graph.locks[node%lockStripes]
	lock.Lock()
	defer lock.Unlock()
	last := node
	for twin := range s.chain(node) {
		if s.isLive(twin) {
			s.follow(last, twin+1)
			last = twin
		}
	}
	s.follow(last, 0)
}

// follow makes next, a node plus one or 0, the one after node in a chain.
func (s *searcher) follow(node, next uint32) {
	seg, row := s.at(node)
	atomic.StoreUint32(&seg.twins[row], next)
}

// abandon takes the condemned nodes out of the graph and returns the nodes that
// only they had links to.
func (s *searcher) abandon(condemned bitset) []uint32 {
	var alone []uint32
	for node := range condemned.all {
		seg, row := s.at(node)
		unset(seg.linked, row)
		for n := range each(s.links(node, 0)) {
			s.reach(n)
			seg, row := s.at(n)
			if atomic.AddUint32(&seg.inbound[row], ^uint32(0)) == 0 && !condemned.has(n) {
				alone = append(alone, n)
			}
		}
	}
	return alone
}

// reconnect makes links to a linked node that has none.
func (s *searcher) reconnect(node uint32) {
	entry := s.graph.entry.Load()
	if entry == 0 || uint32(entry)-1 == node {
		return
	}
	chosen, equal, isEqual := s.neighbours(node, entry)
	if isEqual {
		chosen = [][]uint32{{equal}}
	}
	s.connectTo(node, chosen[0])
}
