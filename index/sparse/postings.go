package sparse

import (
	"context"
	"math"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/topk"
)

// Postings is a set of sparse vectors, inverted. Searches may run at the same
// time as each other, not as Add or Remove: the caller holds a lock.
type Postings struct {
	index *postings.Index[float32] // of weights
	// top is the weight that code 255 stands for: a power of two, or 0 as long
	// as there was no vector.
	top   float64
	codes []uint8 // Add's buffer
}

// topCode is the largest code; 0 is not used.
const topCode = 255

// New returns an empty index.
func New() *Postings { return &Postings{index: postings.New[float32]()} }

// Add stores a copy of vector under ord, which should be above those used
// before (see postings.Index.Add). An empty vector is none.
func (p *Postings) Add(ord uint32, vector braid.SparseVector) {
	if len(vector.Indices) == 0 {
		return
	}
	p.raise(vector.Values)
	p.codes = p.codes[:0]
	for _, w := range vector.Values {
		p.codes = append(p.codes, p.code(w))
	}
	p.index.Add(ord, vector.Indices, p.codes, vector.Values)
}

// code returns the smallest code that stands for w or more: code c stands for
// c/topCode of top, which is no less than w.
func (p *Postings) code(w float32) uint8 { return uint8(math.Ceil(float64(w) / p.top * topCode)) }

// raise makes top no less than any of values. A model's weights are of one size,
// so that this happens for its first vectors only.
func (p *Postings) raise(values []float32) {
	var highest float64
	for _, w := range values {
		highest = max(highest, float64(w))
	}
	if highest <= p.top {
		return
	}
	_, exponent := math.Frexp(highest)
	p.top = math.Ldexp(1, exponent)
	for window := range p.index.Windows() {
		p.index.Recode(window, func(part postings.Part[float32], i int) uint8 { return p.code(part.Exact[i]) })
	}
}

// Remove forgets the vector under ord, if there is one.
func (p *Postings) Remove(ord uint32) { p.index.Remove(ord) }

// Search returns the best matches of query among the vectors that share an
// index with it. It fails only when ctx ends.
func (p *Postings) Search(ctx context.Context, query braid.SparseVector, scan topk.Scan) ([]topk.Match, error) {
	terms := make([]postings.Term, len(query.Indices))
	for i, index := range query.Indices {
		terms[i] = postings.Term{ID: index, Weight: float64(query.Values[i]) * p.top / topCode}
	}
	return p.index.Search(ctx, postings.Query[float32]{
		Terms: terms,
		Share: func(term int, _ uint32, w float32) float64 { return float64(query.Values[term]) * float64(w) },
	}, scan)
}

// MemoryBytes estimates what the index holds in memory: seven bytes a posting,
// and little else.
func (p *Postings) MemoryBytes() int64 { return p.index.MemoryBytes() }
