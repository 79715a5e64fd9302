package inference

import (
	"context"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// Sparse turns texts into SPLADE expansions: weights over the model's
// vocabulary. It is safe for concurrent use.
type Sparse struct {
	head   *head
	tokens []string // by id
}

// Expansion is one text's sparse vector, as the model gives it: nothing pruned,
// special tokens' positions included in the maximum. The caller owns it.
type Expansion struct {
	Vector braid.SparseVector
	Usage
}

// NewSparse loads a sparse model; errors as for NewDense.
func (r *Runtime) NewSparse(m *models.Model) (*Sparse, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.calls.Done()
	h, file, err := r.open(m, models.Sparse, r.options.SparseBatchTokens)
	if err != nil {
		return nil, err
	}
	tokens, err := vocabulary(file)
	if err != nil {
		h.close()
		return nil, loadError(m, "vocabulary", err)
	}
	s := &Sparse{head: h, tokens: tokens}
	h.selfTest = func(ctx context.Context) error {
		_, _, err := s.Expand(ctx, Request{Texts: []string{"self-test"}})
		return err
	}
	r.add(h)
	return s, nil
}

// Expand returns one expansion a text, in order, or an error and none; errors
// as for Dense.Embed, a zero vector being valid here.
func (s *Sparse) Expand(ctx context.Context, req Request) (_ []Expansion, timing Timing, err error) {
	h := s.head
	if err := h.runtime.begin(); err != nil {
		return nil, Timing{}, err
	}
	defer h.runtime.calls.Done()
	var usage []Usage
	defer func() { h.report(req.Lane, usage, timing, err) }()
	start := time.Now()
	sequences, usage, err := h.tokenise(ctx, req)
	if err != nil {
		return nil, Timing{}, err
	}
	timing.Tokenise = time.Since(start)
	expansions := make([]Expansion, len(sequences))
	timing.Queue, timing.Compute, err = h.compute(ctx, req.Lane, sequences, func(item int, output []float32) error {
		if !finite(output) {
			return h.faulty(item, nonFinite)
		}
		expansions[item] = Expansion{Vector: positive(output), Usage: usage[item]}
		return nil
	})
	if err != nil {
		return nil, Timing{}, err
	}
	return expansions, timing, nil
}

// Token returns the vocabulary entry of an index, or "" for one that has none.
func (s *Sparse) Token(index uint32) string {
	if int64(index) >= int64(len(s.tokens)) {
		return ""
	}
	return s.tokens[index]
}

// positive collects the weights above zero.
func positive(weights []float32) braid.SparseVector {
	n := 0
	for _, w := range weights {
		if w > 0 {
			n++
		}
	}
	v := braid.SparseVector{Indices: make([]uint32, 0, n), Values: make([]float32, 0, n)}
	for i, w := range weights {
		if w > 0 {
			v.Indices = append(v.Indices, uint32(i))
			v.Values = append(v.Values, w)
		}
	}
	return v
}
