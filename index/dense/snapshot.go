package dense

import (
	"math/bits"

	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the vectors: which rows are there, the number of blocks, and the
// blocks. It only reads the index.
func (x *Exact) Save(w *snapshot.Writer) {
	w.Uint64s(x.live)
	w.Uint64(uint64(len(x.blocks)))
	for _, block := range x.blocks {
		w.Float32s(block.vectors)
	}
}

// Load reads what Save has written, vectors with dim components under ordinals
// below end. It fails with r's error, or with braid.Corrupt when what was read
// is something else.
func Load(r *snapshot.Reader, end uint64, dim int) (*Exact, error) {
	x := New(dim)
	x.live = r.Uint64s()
	if n := uint64(len(x.live)); n > (end+63)/64 || n == (end+63)/64 && end%64 != 0 && x.live[n-1]>>(end%64) != 0 {
		r.Fail("there are vectors of ordinals from %d on", end)
	}
	blocks := r.Uint64()
	for range blocks {
		block := r.Float32s()
		if r.Err() == nil && len(block) != x.perBlock*x.dim {
			r.Fail("a block of %d numbers, want %d", len(block), x.perBlock*x.dim)
		}
		if r.Err() != nil {
			break
		}
		x.blocks = append(x.blocks, x.newBlock(block))
	}
	if last := x.last(); last >= len(x.blocks)*x.perBlock {
		r.Fail("the vector of ordinal %d is in none of %d blocks", last, len(x.blocks))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for row := range x.last() + 1 {
		if x.live[row/64]>>(row%64)&1 != 0 {
			x.blocks[row/x.perBlock].encode(row%x.perBlock, x.dim)
		}
	}
	return x, nil
}

// last returns the largest ordinal that has a vector, -1 if none has.
func (x *Exact) last() int {
	for i := len(x.live) - 1; i >= 0; i-- {
		if x.live[i] != 0 {
			return 64*i + 63 - bits.LeadingZeros64(x.live[i])
		}
	}
	return -1
}

// Len returns the number of vectors.
func (x *Exact) Len() int {
	n := 0
	for _, word := range x.live {
		n += bits.OnesCount64(word)
	}
	return n
}
