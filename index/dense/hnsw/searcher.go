package hnsw

import (
	"slices"
	"sync/atomic"

	"github.com/braid-search/braid/index/dense/ranking"
	"github.com/braid-search/braid/index/dense/simd"
)

// searcher is what one search or one insertion works in. Searchers are reused;
// their slices keep their room.
type searcher struct {
	graph *Graph
	*layout
	target probe  // what nodes are compared with
	codes  []int8 // of a target that is not a node

	visited []uint64 // a bit a node
	touched []uint32 // the nodes in visited

	batch    []uint32 // nodes to compare
	products []int32
	scores   []float32 // of the batch

	bounds []float32  // of the scores of the nodes that a scan compares
	sharp  []float32  // of those whose codes are compared once more
	parts  []scanPart // of a scan, one a goroutine
	chosen []uint32   // nodes to compare exactly

	candidates ranking.Best  // nodes whose neighbours were not looked at yet
	results    ranking.Worst // the best ones found

	// eligible has a bit for each node that may be returned; nil is all that are
	// live.
	eligible []uint64
	// hidden is the first node that may not be returned though it is live.
	hidden uint64
	stats  Stats
}

func (g *Graph) searcher() *searcher {
	s := g.searchers.Get().(*searcher)
	s.layout = g.layout.Load()
	s.stats = Stats{}
	s.eligible, s.hidden = nil, 1<<32
	return s
}

func (g *Graph) release(s *searcher) {
	s.forget()
	g.searchers.Put(s)
}

// forget empties the set of visited nodes.
func (s *searcher) forget() {
	for _, n := range s.touched {
		s.visited[n/64] = 0
	}
	s.touched = s.touched[:0]
}

// reach makes sure that node, which may have come after the search began, is in
// the layout and has a bit in visited.
func (s *searcher) reach(node uint32) {
	if !s.holds(node) {
		s.layout = s.graph.layout.Load()
	}
	if words := len(s.segments) << s.shift / 64; words > len(s.visited) {
		s.visited = append(s.visited, make([]uint64, words-len(s.visited))...)
	}
}

// visit reports whether node was not visited yet, and remembers it.
func (s *searcher) visit(node uint32) bool {
	s.reach(node)
	word, bit := node/64, uint64(1)<<(node%64)
	if s.visited[word]&bit != 0 {
		return false
	}
	s.visited[word] |= bit
	s.touched = append(s.touched, node)
	return true
}

// aim makes vector the target.
func (s *searcher) aim(vector []float32) {
	s.codes = slices.Grow(s.codes[:0], s.dim)[:s.dim]
	s.target = probe{codes: s.codes, scale: quantise(vector, s.codes)}
}

// gather makes the batch the neighbours of node not visited yet, and visits
// them. Whether one was visited is as good as random, so nothing branches on
// it.
func (s *searcher) gather(node uint32, layer int) {
	links := s.links(node, layer)
	s.batch = slices.Grow(s.batch[:0], len(links))[:len(links)]
	fresh := 0
	for i := range links {
		n := atomic.LoadUint32(&links[i])
		if n == 0 {
			break
		}
		n--
		if int(n/64) >= len(s.visited) {
			s.reach(n)
		}
		word := &s.visited[n/64]
		s.batch[fresh] = n
		fresh += int(^*word >> (n % 64) & 1)
		*word |= 1 << (n % 64)
	}
	s.batch = s.batch[:fresh]
	s.touched = append(s.touched, s.batch...)
}

// score compares the batch with the target.
func (s *searcher) score() {
	n := len(s.batch)
	s.products = slices.Grow(s.products[:0], n)[:n]
	s.scores = slices.Grow(s.scores[:0], n)[:n]
	s.compare(s.target, s.batch, s.products, s.scores)
	s.stats.Scored += n
}

// start returns the entry, compared with the target.
func (s *searcher) start(entry uint64) ranking.Scored {
	node := uint32(entry) - 1
	s.visit(node)
	s.batch = append(s.batch[:0], node)
	s.score()
	return ranking.New(s.scores[0], node)
}

// descend goes down from layer top to above layer bottom, in each to the node
// nearest to the target that a walk from neighbour to neighbour reaches.
func (s *searcher) descend(from ranking.Scored, top, bottom int) ranking.Scored {
	for layer := top; layer > bottom; layer-- {
		for moved := true; moved; {
			moved = false
			s.gather(from.Ord(), layer)
			s.score()
			s.stats.Expanded++
			for i, n := range s.batch {
				if c := ranking.New(s.scores[i], n); c > from {
					from, moved = c, true
				}
			}
		}
		s.forget()
	}
	return from
}

// around collects in results the best nodes that may be returned and that a
// best-first search of a layer finds (Malkov and Yashunin 2016, algorithm 2). The
// search begins at the candidates, which are compared and visited. keep is asked
// before every step how many results there shall be; 0 ends it.
func (s *searcher) around(layer int, keep func() int) {
	s.results = s.results[:0]
	ef := keep()
	for _, c := range s.candidates {
		s.keep(c, ef)
	}
	for ; len(s.candidates) > 0 && ef > 0; ef = keep() {
		for len(s.results) > ef {
			s.results.Pop()
		}
		c := s.candidates.Pop()
		if len(s.results) == ef && c < s.results[0] {
			return
		}
		s.gather(c.Ord(), layer)
		s.score()
		s.stats.Expanded++
		for i, n := range s.batch {
			c := ranking.New(s.scores[i], n)
			if len(s.results) == ef && c < s.results[0] {
				continue
			}
			s.candidates.Push(c)
			simd.Prefetch(s.links(n, layer))
			s.keep(c, ef)
		}
	}
}

// keep puts c into the results if it may be returned and is good enough.
func (s *searcher) keep(c ranking.Scored, ef int) {
	full := len(s.results) == ef
	if full && c < s.results[0] || !s.serves(c.Ord()) {
		return
	}
	if full {
		s.results.Replace(c)
	} else {
		s.results.Push(c)
	}
}

// serves reports whether a linked node or one of its twins may be returned.
func (s *searcher) serves(node uint32) bool {
	if s.returnable(node) {
		return true
	}
	if s.graph.twins.Load() {
		for twin := range s.chain(node) {
			if s.returnable(twin) {
				return true
			}
		}
	}
	return false
}

func (s *searcher) returnable(node uint32) bool {
	if s.eligible != nil {
		word := int(node / 64)
		return word < len(s.eligible) && s.eligible[word]>>(node%64)&1 != 0
	}
	return s.isLive(node) && uint64(node) < s.hidden
}

// chain yields the twins of a linked node.
func (s *searcher) chain(node uint32) func(func(uint32) bool) {
	return func(yield func(uint32) bool) {
		for {
			seg, row := s.at(node)
			next := atomic.LoadUint32(&seg.twins[row])
			if next == 0 {
				return
			}
			node = next - 1
			if !s.holds(node) {
				s.layout = s.graph.layout.Load()
			}
			if !yield(node) {
				return
			}
		}
	}
}
