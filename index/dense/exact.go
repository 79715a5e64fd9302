package dense

import "github.com/braid-search/braid/index/dense/quant"

// blockFloats is the size of one block of rows: 1 MiB, small enough to be the
// least a collection costs, with a quarter more for codes, and the most a scan
// does between two looks at its context (about 0.1 ms).
const blockFloats = 1 << 18

// Exact is a set of vectors of one length, searched exhaustively: all are compared
// with the query, where that pays by their codes first, and then exactly those that
// the bound of the codes' error leaves among the best. Searches may
// run at the same time as each other, not as Put or Remove: the caller holds a
// lock.
type Exact struct {
	dim      int
	perBlock int // rows
	blocks   []block
	live     []uint64 // one bit a row
}

// block is a run of rows.
type block struct {
	vectors []float32
	codes   []int8    // the same, quantised
	scales  []float32 // of a code's unit, one a row
	missed  []float32 // what the codes of a row miss
	norm    float32   // of the longest row there ever was
}

// newBlock returns one of vectors that have no codes yet.
func (x *Exact) newBlock(vectors []float32) block {
	return block{vectors: vectors, codes: make([]int8, x.perBlock*x.dim), scales: make([]float32, x.perBlock), missed: make([]float32, x.perBlock)}
}

// encode makes the codes of a row.
func (b *block) encode(row, dim int) {
	vector, codes := b.vectors[row*dim:][:dim], b.codes[row*dim:][:dim]
	var norm float32
	b.scales[row] = quant.Encode(vector, codes)
	b.missed[row], norm = quant.Missed(vector, codes, b.scales[row])
	b.norm = max(b.norm, norm)
}

// New returns an empty index of vectors with dim components, at least 1.
func New(dim int) *Exact {
	return &Exact{dim: dim, perBlock: max(1, blockFloats/dim)}
}

// Dimensions is the number of components of a vector.
func (x *Exact) Dimensions() int { return x.dim }

// Put stores a copy of vector under ord, in place of the one there was.
func (x *Exact) Put(ord uint32, vector []float32) {
	row := int(ord)
	for len(x.blocks) <= row/x.perBlock {
		x.blocks = append(x.blocks, x.newBlock(make([]float32, x.perBlock*x.dim)))
	}
	for len(x.live) <= row/64 {
		x.live = append(x.live, 0)
	}
	b, at := &x.blocks[row/x.perBlock], row%x.perBlock
	copy(b.vectors[at*x.dim:][:x.dim], vector)
	b.encode(at, x.dim)
	x.live[row/64] |= 1 << (row % 64)
}

// Remove forgets the vector under ord, if there is one.
func (x *Exact) Remove(ord uint32) {
	if row := int(ord); row/64 < len(x.live) {
		x.live[row/64] &^= 1 << (row % 64)
	}
}

// MemoryBytes is what the index holds in memory.
func (x *Exact) MemoryBytes() int64 {
	return int64(len(x.blocks))*int64(x.perBlock)*(int64(x.dim)*5+8) + int64(cap(x.live))*8
}
