package hnsw

// Unreachable counts the live vectors that no way along the bottom leads to from
// the entry, or from where a search that begins there comes down.
func Unreachable(g *Graph) int {
	entry := g.entry.Load()
	if entry == 0 {
		return g.Len()
	}
	s := g.searcher()
	defer g.release(s)
	left := g.Len()
	todo := []uint32{uint32(entry) - 1}
	s.visit(todo[0])
	for len(todo) > 0 {
		node := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.isLive(node) {
			left--
		}
		for twin := range s.chain(node) {
			if s.isLive(twin) {
				left--
			}
		}
		for layer := range s.level(node) + 1 {
			for n := range each(s.links(node, layer)) {
				if s.visit(n) {
					todo = append(todo, n)
				}
			}
		}
	}
	return left
}

// RemoveEntry removes what searches begin at, and reports whether there was
// anything.
func (g *Graph) RemoveEntry() bool {
	entry := g.entry.Load()
	if entry == 0 {
		return false
	}
	s := g.searcher()
	defer g.release(s)
	g.Remove(uint32(entry) - 1)
	for twin := range s.chain(uint32(entry) - 1) {
		g.Remove(twin)
	}
	return true
}

// Live reports whether the vector under ord is there.
func Live(g *Graph, ord uint32) bool { return g.layout.Load().isLive(ord) }

// PreferWalks makes steps cheap, so that a small graph is walked as a large one is.
func PreferWalks(g *Graph) { g.PaysFrom(0) }

// PreferWalksTo makes a step as cheap as comparing so many codes.
func PreferWalksTo(g *Graph, codes int) { g.stepPrice = codes }

// SplitScans makes scans use all cores, however little they read.
func SplitScans(g *Graph) { g.serialBytes = 1 }
