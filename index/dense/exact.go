package dense

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/viterin/vek/vek32"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/topk"
)

// blockFloats is the size of one block of rows: 1 MiB, small enough to be the
// least a collection costs and the most a scan does between two looks at its
// context (about 0.1 ms).
const blockFloats = 1 << 18

// serialBlocks is how many blocks one goroutine scans before a second one pays
// for its start.
const serialBlocks = 2

// Exact is a set of vectors of one length, searched exhaustively. Searches may
// run at the same time as each other, not as Put or Remove: the caller holds a
// lock.
type Exact struct {
	dim    int
	rows   int // per block
	blocks [][]float32
	live   []uint64 // one bit a row
}

// New returns an empty index of vectors with dim components, at least 1.
func New(dim int) *Exact {
	return &Exact{dim: dim, rows: max(1, blockFloats/dim)}
}

// Dimensions is the number of components of a vector.
func (x *Exact) Dimensions() int { return x.dim }

// Put stores a copy of vector under ord, in place of the one there was.
func (x *Exact) Put(ord uint32, vector []float32) {
	row := int(ord)
	for len(x.blocks) <= row/x.rows {
		x.blocks = append(x.blocks, make([]float32, x.rows*x.dim))
	}
	for len(x.live) <= row/64 {
		x.live = append(x.live, 0)
	}
	copy(x.row(row), vector)
	x.live[row/64] |= 1 << (row % 64)
}

// Remove forgets the vector under ord, if there is one.
func (x *Exact) Remove(ord uint32) {
	if row := int(ord); row/64 < len(x.live) {
		x.live[row/64] &^= 1 << (row % 64)
	}
}

// Search returns the best matches of query, which has as many components as
// the stored vectors. It fails only when ctx ends.
func (x *Exact) Search(ctx context.Context, query []float32, q topk.Scan) ([]topk.Match, error) {
	workers := min(runtime.GOMAXPROCS(0), (len(x.blocks)+serialBlocks-1)/serialBlocks)
	var next atomic.Int64
	parts := make([]*topk.Collector, max(1, workers))
	scan := func(part int) {
		parts[part] = topk.NewCollector(q)
		for ctx.Err() == nil {
			block := int(next.Add(1)) - 1
			if block >= len(x.blocks) {
				return
			}
			x.scanBlock(block, query, parts[part])
		}
	}
	var wg sync.WaitGroup
	for part := 1; part < len(parts); part++ {
		wg.Go(func() { scan(part) })
	}
	scan(0)
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "dense search: %w", err)
	}
	best := parts[0]
	for _, part := range parts[1:] {
		for _, m := range part.Matches() {
			best.Offer(m.Ord, m.Score)
		}
	}
	return best.Matches(), nil
}

func (x *Exact) scanBlock(block int, query []float32, c *topk.Collector) {
	first := block * x.rows
	last := min(first+x.rows, 64*len(x.live))
	for row := first; row < last; row++ {
		if x.live[row/64]&(1<<(row%64)) != 0 {
			c.Offer(uint32(row), float64(vek32.Dot(x.row(row), query)))
		}
	}
}

// row returns the components stored at row, whose block exists.
func (x *Exact) row(row int) []float32 {
	at := row % x.rows * x.dim
	return x.blocks[row/x.rows][at : at+x.dim]
}

// MemoryBytes is what the index holds in memory.
func (x *Exact) MemoryBytes() int64 {
	return int64(len(x.blocks))*int64(x.rows*x.dim)*4 + int64(cap(x.live))*8
}
