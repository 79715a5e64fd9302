package sparse

import (
	"context"
	"slices"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/topk"
)

// Postings is a set of sparse vectors, inverted. Searches may run at the same
// time as each other, not as Add or Remove: the caller holds a lock.
type Postings struct {
	lists map[uint32]*list
	// indices holds each ordinal's vocabulary indices, so that Remove finds
	// its postings; nil for an ordinal without any.
	indices [][]uint32
	entries int64
	sums    sync.Pool // *[]float64, all zero
}

// list holds the postings of one vocabulary index by ascending ordinal.
type list struct {
	ords    []uint32
	weights []float32
}

// New returns an empty index.
func New() *Postings { return &Postings{lists: map[uint32]*list{}} }

// Add stores a copy of vector under ord, which holds none.
func (p *Postings) Add(ord uint32, vector braid.SparseVector) {
	if len(vector.Indices) == 0 {
		return
	}
	for len(p.indices) <= int(ord) {
		p.indices = append(p.indices, nil)
	}
	p.indices[ord] = slices.Clone(vector.Indices)
	p.entries += int64(len(vector.Indices))
	for i, index := range vector.Indices {
		l := p.lists[index]
		if l == nil {
			l = &list{}
			p.lists[index] = l
		}
		// Ordinals mostly ascend; one that is used again goes between.
		at := len(l.ords)
		if at > 0 && l.ords[at-1] > ord {
			at, _ = slices.BinarySearch(l.ords, ord)
		}
		l.ords = slices.Insert(l.ords, at, ord)
		l.weights = slices.Insert(l.weights, at, vector.Values[i])
	}
}

// Remove forgets the vector under ord, if there is one.
func (p *Postings) Remove(ord uint32) {
	if int(ord) >= len(p.indices) {
		return
	}
	for _, index := range p.indices[ord] {
		l := p.lists[index]
		at, _ := slices.BinarySearch(l.ords, ord)
		l.ords = slices.Delete(l.ords, at, at+1)
		l.weights = slices.Delete(l.weights, at, at+1)
		if len(l.ords) == 0 {
			delete(p.lists, index)
		}
	}
	p.entries -= int64(len(p.indices[ord]))
	p.indices[ord] = nil
}

// Search returns the best matches of query among the vectors that share an
// index with it. It fails only when ctx ends.
func (p *Postings) Search(ctx context.Context, query braid.SparseVector, q topk.Scan) ([]topk.Match, error) {
	sums := p.takeSums()
	defer p.sums.Put(sums)
	// The sums go back zeroed, whether collect has read them or not.
	defer clear(*sums)
	for i, index := range query.Indices {
		if err := ctx.Err(); err != nil {
			return nil, braid.Errorf(braid.CodeOf(err), "sparse search: %w", err)
		}
		if l := p.lists[index]; l != nil {
			l.accumulate(*sums, float64(query.Values[i]))
		}
	}
	best := topk.NewCollector(q)
	for ord, sum := range *sums {
		if sum > 0 {
			best.Offer(uint32(ord), sum)
		}
	}
	return best.Matches(), nil
}

func (l *list) accumulate(sums []float64, weight float64) {
	weights := l.weights[:len(l.ords)]
	for i, ord := range l.ords {
		sums[ord] += weight * float64(weights[i])
	}
}

// takeSums returns a zero sum for each ordinal.
func (p *Postings) takeSums() *[]float64 {
	n := len(p.indices)
	if sums, ok := p.sums.Get().(*[]float64); ok && cap(*sums) >= n {
		*sums = (*sums)[:n]
		return sums
	}
	// A quarter to spare, so that a growing index does not allocate each time.
	sums := make([]float64, n, n+n/4)
	return &sums
}

// MemoryBytes estimates what the index holds in memory: 8 bytes a posting, 4
// for the way back, and the two tables.
func (p *Postings) MemoryBytes() int64 {
	const listBytes, indicesBytes = 80, 24
	return p.entries*12 + int64(len(p.lists))*listBytes + int64(cap(p.indices))*indicesBytes
}
