package hnsw

import (
	"slices"
	"sync/atomic"

	"github.com/braid-search/braid/index/dense/ranking"
)

// link makes a node that is stored a part of the graph.
func (g *Graph) link(node uint32) {
	g.gate.RLock()
	linked := g.tryLink(node, false)
	g.gate.RUnlock()
	if !linked {
		g.gate.Lock()
		g.tryLink(node, true)
		g.gate.Unlock()
	}
}

// tryLink links a node, or reports false when that would change the entry. Alone,
// which is while no other node is being linked, it changes the entry too.
func (g *Graph) tryLink(node uint32, alone bool) bool {
	entry := g.entry.Load()
	if level := g.level(node); entry == 0 || level > int(entry>>32) {
		if !alone {
			return false
		}
	}
	if entry == 0 {
		g.enter(node)
		return true
	}
	s := g.searcher()
	defer g.release(s)
	chosen, equal, isTwin := s.neighbours(node, entry)
	switch {
	case isTwin:
		s.twin(equal, node)
	case len(chosen[0]) > 0:
		seg, row := s.at(node)
		set(seg.linked, row)
		s.connect(node, chosen)
		if g.level(node) > int(entry>>32) {
			g.enter(node)
		}
	case alone:
		// All that can be reached was removed: begin anew.
		g.enter(node)
	default:
		return false
	}
	return true
}

// enter makes a node the entry.
func (g *Graph) enter(node uint32) {
	seg, row := g.layout.Load().at(node)
	set(seg.linked, row)
	g.entry.Store(uint64(g.level(node))<<32 | uint64(node+1))
}

// neighbours chooses those of a new node, in every layer that it shares with
// others. If there is a live node with an equal vector, it returns that instead.
func (s *searcher) neighbours(node uint32, entry uint64) (chosen [][]uint32, twin uint32, isTwin bool) {
	s.target = s.probe(node)
	top, level := int(entry>>32), s.level(node)
	from := s.descend(s.start(entry), top, level)
	chosen = make([][]uint32, min(level, top)+1)
	for layer := len(chosen) - 1; layer >= 0; layer-- {
		s.forget()
		s.visit(from.Ord())
		s.candidates = append(s.candidates[:0], from)
		s.around(layer, s.enough())
		// A node that is linked already may find itself.
		found := slices.DeleteFunc(s.results, func(c ranking.Scored) bool { return c.Ord() == node })
		slices.Sort(found)
		slices.Reverse(found)
		if layer == 0 {
			if twin, ok := s.equal(node, found); ok {
				return nil, twin, true
			}
		}
		if len(found) > 0 {
			from = found[0]
		}
		chosen[layer] = s.diverse(found, s.opts.M, nil)
	}
	return chosen, 0, false
}

// enough is how many neighbours a search looks for. Among nodes that were removed
// it ends after some multiple of the usual number of steps, if there are any results.
func (s *searcher) enough() func() int {
	steps := 0
	return func() int {
		steps++
		if steps < 8*s.opts.EfConstruction || len(s.results) < s.opts.M {
			return s.opts.EfConstruction
		}
		return 0
	}
}

// equal returns the node among found that is quantised as node is.
func (s *searcher) equal(node uint32, found []ranking.Scored) (uint32, bool) {
	own := s.probe(node)
	for _, c := range found {
		if other := s.probe(c.Ord()); other.scale == own.scale && slices.Equal(other.codes, own.codes) {
			return c.Ord(), true
		}
	}
	return 0, false
}

// twin chains a node to the linked one that has the same vector.
func (s *searcher) twin(linked, node uint32) {
	s.graph.twins.Store(true)
	lock := &s.graph.locks[linked%lockStripes]
	lock.Lock()
	defer lock.Unlock()
	first, row := s.at(linked)
	own, ownRow := s.at(node)
	atomic.StoreUint32(&own.twins[ownRow], atomic.LoadUint32(&first.twins[row]))
	atomic.StoreUint32(&first.twins[row], node+1)
}

// diverse chooses up to width of found, which is sorted best first, by algorithm
// 4 of Malkov and Yashunin 2016: a node is taken if it is nearer to the target
// than to every node taken before. What must be taken is taken in any case, and
// everything if it is few: without that the upper layers, which hold few nodes
// of each cluster, lose the links between clusters.
func (s *searcher) diverse(found []ranking.Scored, width int, must []uint32) []uint32 {
	taken := make([]uint32, 0, width)
	few := len(found) < width
	for _, c := range found {
		if i := slices.Index(must, c.Ord()); i >= 0 {
			must = slices.Delete(slices.Clone(must), i, i+1)
			taken = append(taken, c.Ord())
		} else if few || len(taken)+len(must) < width && s.stands(c, taken) {
			taken = append(taken, c.Ord())
		}
	}
	return taken
}

// stands reports whether c is nearer to the target than to each of taken.
func (s *searcher) stands(c ranking.Scored, taken []uint32) bool {
	const few = 4 // compared before looking at the outcome
	var products [few]int32
	var scores [few]float32
	p := s.probe(c.Ord())
	for len(taken) > 0 {
		n := min(few, len(taken))
		s.compare(p, taken[:n], products[:n], scores[:n])
		for _, x := range scores[:n] {
			if x > c.Score() {
				return false
			}
		}
		taken = taken[n:]
	}
	return true
}

// connect writes the links of a new node and those back to it: its own first,
// and the bottom before the layers above, so that whoever comes to it finds a
// way on.
func (s *searcher) connect(node uint32, chosen [][]uint32) {
	for layer, neighbours := range chosen {
		links := s.links(node, layer)
		for i, n := range neighbours {
			s.count(n, layer, 1)
			atomic.StoreUint32(&links[i], n+1)
		}
	}
	for layer, neighbours := range chosen {
		for _, n := range neighbours {
			s.backlink(n, node, layer, false)
		}
	}
	s.connectTo(node, chosen[0])
}

// connectTo sees that there is a link to a node at the bottom, from one of
// neighbours.
func (s *searcher) connectTo(node uint32, neighbours []uint32) {
	seg, row := s.at(node)
	for _, n := range neighbours {
		if atomic.LoadUint32(&seg.inbound[row]) > 0 {
			return
		}
		s.backlink(n, node, 0, true)
	}
}

// count adds to the number of links to a node, if they are at the bottom.
func (s *searcher) count(node uint32, layer, n int) {
	if layer == 0 {
		seg, row := s.at(node)
		atomic.AddUint32(&seg.inbound[row], uint32(n))
	}
}

// backlink adds node to the links of n. If they are full, it chooses anew among
// them, keeping those that are the only ones to a node, and the new one if it
// must.
func (s *searcher) backlink(n, node uint32, layer int, must bool) {
	lock := &s.graph.locks[n%lockStripes]
	lock.Lock()
	defer lock.Unlock()
	links := s.links(n, layer)
	s.batch = s.batch[:0]
	for other := range each(links) {
		if other == node {
			return
		}
		s.batch = append(s.batch, other)
	}
	if len(s.batch) < len(links) {
		s.count(node, layer, 1)
		atomic.StoreUint32(&links[len(s.batch)], node+1)
		return
	}
	s.batch = append(s.batch, node)
	s.choose(n, layer, func(other uint32) bool { return must && other == node })
}

// choose makes the links of n the best of the batch: the neighbours it has, or
// some of them, and others. The caller holds the lock of n.
func (s *searcher) choose(n uint32, layer int, must func(uint32) bool) {
	links := s.links(n, layer)
	old := slices.Collect(each(links))
	var keep []uint32
	for _, other := range s.batch {
		s.reach(other)
		if must(other) || layer == 0 && s.sole(other) && slices.Contains(old, other) {
			keep = append(keep, other)
		}
	}
	s.target = s.probe(n)
	s.score()
	found := s.results[:0]
	for i, other := range s.batch {
		found = append(found, ranking.New(s.scores[i], other))
	}
	slices.Sort(found)
	slices.Reverse(found)
	s.results = found
	taken := s.diverse(found, len(links), keep)
	for _, other := range taken {
		if !slices.Contains(old, other) {
			s.count(other, layer, 1)
		}
	}
	for i := range links {
		var to uint32
		if i < len(taken) {
			to = taken[i] + 1
		}
		atomic.StoreUint32(&links[i], to)
	}
	for _, other := range old {
		if !slices.Contains(taken, other) {
			s.count(other, layer, -1)
		}
	}
}

// sole reports whether at most one link at the bottom leads to a node.
func (s *searcher) sole(node uint32) bool {
	seg, row := s.at(node)
	return atomic.LoadUint32(&seg.inbound[row]) <= 1
}
