package hnsw

import (
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense/quant"
	"github.com/braid-search/braid/index/dense/simd"
)

// lockStripes is how many locks guard the lists of links: so many that two
// insertions rarely wait for each other.
const lockStripes = 512

// Graph is a set of vectors of one length, searched approximately. All methods
// are safe for concurrent use.
type Graph struct {
	geometry
	layout atomic.Pointer[layout]
	grow   sync.Mutex // held while the layout is replaced

	// entry is where searches begin: the node plus one in the lower half, its
	// level in the upper; 0 when nothing is linked.
	entry atomic.Uint64
	// gate is held shared while a node is stored or linked, and alone to change
	// the entry and to see no node half linked.
	gate sync.RWMutex
	// locks guard the lists of links and twins against two changes at once: those
	// of node n by lock n modulo lockStripes. Reading takes none.
	locks [lockStripes]sync.Mutex
	// vacuum is held by Vacuum.
	vacuum sync.Mutex

	// hidden is the first ordinal that searches do not return, 1<<32 if they return
	// all.
	hidden atomic.Uint64

	live, removed atomic.Int64
	twins         atomic.Bool // whether there ever was one
	searchers     sync.Pool
	stepPrice     int // see pace
	serialBytes   int // see quant.SerialBytes
}

// New returns an empty graph of vectors with dim components. Options that are
// not usable are braid.InvalidArgument.
func New(dim int, opts Options) (*Graph, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if dim < 1 {
		return nil, braid.Errorf(braid.InvalidArgument, "a graph of vectors with %d components, want 1 or more", dim)
	}
	g := &Graph{geometry: newGeometry(dim, opts.withDefaults()), stepPrice: stepPrice, serialBytes: quant.SerialBytes}
	g.layout.Store(&layout{geometry: &g.geometry})
	g.hidden.Store(1 << 32)
	g.searchers.New = func() any { return &searcher{graph: g} }
	return g, nil
}

// HideFrom keeps searches that begin later from returning vectors under ord and
// the ordinals after it, which are part of the graph and counted all the same. With
// the end of the ordinals in use, it lets many be added while searches go on, and
// shown at one moment by the next call: a search under way returns none of them.
func (g *Graph) HideFrom(ord uint32) { g.hidden.Store(uint64(ord)) }

// ShowBelow is HideFrom for an ordinal not below the one that it was last given; a
// lower one changes nothing.
func (g *Graph) ShowBelow(ord uint32) {
	for {
		now := g.hidden.Load()
		if uint64(ord) <= now || g.hidden.CompareAndSwap(now, uint64(ord)) {
			return
		}
	}
}

// Len returns how many vectors there are, without the removed ones.
func (g *Graph) Len() int { return int(g.live.Load()) }

// Removed returns how many vectors were removed since Vacuum last began.
func (g *Graph) Removed() int { return int(g.removed.Load()) }

// MemoryBytes is what the graph holds in memory.
func (g *Graph) MemoryBytes() int64 {
	var n int64
	for _, s := range g.layout.Load().segments {
		n += s.bytes()
	}
	return n
}

// Add stores a copy of vector, of length 1, under ord, which must be new: an
// ordinal that is or was in use is braid.Conflict. So that removed vectors take
// no more room than needed, ordinals should be given out in ascending order.
//
// A vector of another number of components or with one that is not finite is
// braid.InvalidArgument. After an error the graph is as before.
func (g *Graph) Add(ord uint32, vector []float32) error {
	if len(vector) != g.dim {
		return braid.Errorf(braid.InvalidArgument, "vector under ordinal %d has %d components, want %d", ord, len(vector), g.dim)
	}
	if norm := simd.Dot(vector, vector); norm-norm != 0 {
		return braid.Errorf(braid.InvalidArgument, "vector under ordinal %d has a component that is not finite", ord)
	}
	if ord > lastNode {
		return braid.Errorf(braid.TooLarge, "ordinal %d, want at most %d", ord, lastNode)
	}
	if err := g.store(ord, vector); err != nil {
		return err
	}
	g.link(ord)
	return nil
}

// store writes a vector to its row.
func (g *Graph) store(ord uint32, vector []float32) error {
	g.gate.RLock()
	defer g.gate.RUnlock()
	s, row := g.room(ord).at(ord)
	if !set(s.known, row) {
		return braid.Errorf(braid.Conflict, "ordinal %d is or was in use: give a vector a new one", ord)
	}
	copy(s.vectors[int(row)*g.dim:], vector)
	s.encode(row, g.dim)
	set(s.live, row)
	g.live.Add(1)
	return nil
}

// room returns a layout with a segment for node.
func (g *Graph) room(node uint32) *layout {
	if l := g.layout.Load(); l.holds(node) {
		return l
	}
	g.grow.Lock()
	defer g.grow.Unlock()
	l := g.layout.Load()
	if !l.holds(node) {
		l = l.grown(node)
		g.layout.Store(l)
	}
	return l
}

// Remove forgets the vector under ord, if there is one: from now on no search
// returns it. Its node stays a way through the graph until Vacuum.
func (g *Graph) Remove(ord uint32) {
	l := g.layout.Load()
	if !l.holds(ord) {
		return
	}
	if s, row := l.at(ord); unset(s.live, row) {
		g.live.Add(-1)
		g.removed.Add(1)
	}
}
