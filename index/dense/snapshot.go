package dense

import (
	"math"
	"math/bits"

	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the vectors: which rows are there, the number of blocks, and of each
// block the vectors, their codes, the codes' scales, what the codes miss, and the
// length of the longest vector. A form of version 2 or less has the vectors alone.
// It only reads the index.
func (x *Exact) Save(w *snapshot.Writer) {
	w.Uint64s(x.live)
	w.Uint64(uint64(len(x.blocks)))
	for _, block := range x.blocks {
		w.Float32s(block.vectors)
		w.Int8s(block.codes)
		w.Float32s(block.scales)
		w.Float32s(block.missed)
		w.Float32s([]float32{block.norm})
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
	for range r.Uint64() {
		if x.loadBlock(r); r.Err() != nil {
			return nil, r.Err()
		}
	}
	if last := x.last(); last >= len(x.blocks)*x.perBlock {
		r.Fail("the vector of ordinal %d is in none of %d blocks", last, len(x.blocks))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for row := range x.last() + 1 {
		if x.live[row/64]>>(row%64)&1 == 0 {
			continue
		}
		b, at := &x.blocks[row/x.perBlock], row%x.perBlock
		if r.Version() < codedVersion {
			b.encode(at, dim)
		} else if scale, missed := b.scales[at], b.missed[at]; !(scale >= 0) || scale > math.MaxFloat32 || !(missed >= 0) {
			r.Fail("the codes of ordinal %d have a scale of %v and miss %v", row, scale, missed)
			return nil, r.Err()
		}
	}
	return x, nil
}

// codedVersion is that of the first form that has codes.
const codedVersion = 3

// loadBlock reads the next block; one without codes gets room for them.
func (x *Exact) loadBlock(r *snapshot.Reader) {
	b := block{vectors: r.Float32s()}
	if r.Version() < codedVersion {
		b = x.newBlock(b.vectors)
	} else {
		b.codes, b.scales, b.missed = r.Int8s(), r.Float32s(), r.Float32s()
		if norm := r.Float32s(); len(norm) == 1 && norm[0] >= 0 {
			b.norm = norm[0]
		} else {
			r.Fail("the longest vectors of a block are %v long", norm)
		}
	}
	numbers := x.perBlock * x.dim
	if r.Err() == nil && (len(b.vectors) != numbers || len(b.codes) != numbers || len(b.scales) != x.perBlock || len(b.missed) != x.perBlock) {
		r.Fail("a block of %d numbers, %d codes, %d scales and %d errors, want %d rows of %d", len(b.vectors), len(b.codes), len(b.scales), len(b.missed), x.perBlock, x.dim)
	}
	x.blocks = append(x.blocks, b)
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
