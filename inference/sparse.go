package inference

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// Sparse turns texts into SPLADE expansions: weights over the model's
// vocabulary. It is safe for concurrent use.
type Sparse struct {
	head    *head
	tokens  []string  // by id
	weights []float32 // of query tokens by id, or nil: queries are run like passages
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
	if m.QueryWeights != "" {
		if s.weights, err = queryWeights(m, file, tokens); err != nil {
			h.close()
			return nil, loadError(m, "query weights", err)
		}
	}
	h.selfTest = func(ctx context.Context) error {
		// As a passage: a query may not need the graph.
		_, _, err := s.Expand(ctx, Request{Texts: []string{"self-test"}, Role: RolePassage})
		return err
	}
	r.add(h)
	return s, nil
}

// Expand returns one expansion a text, in order, or an error and none; errors
// as for Dense.Embed, a zero vector being valid here. Queries of a model with a
// token-weight table cost tokenising only: they never wait in a lane.
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
	if req.Role == RoleQuery && s.weights != nil {
		for i, sequence := range sequences {
			expansions[i] = Expansion{Vector: weigh(sequence.ids, s.weights), Usage: usage[i]}
		}
		return expansions, timing, nil
	}
	timing.Queue, timing.Compute, err = h.compute(ctx, req.Lane, sequences, func(item int, output []float32) error {
		weights, ok := poolLogits(h.model.Manifest, output)
		if !ok {
			return h.faulty(item, nonFinite)
		}
		expansions[item] = Expansion{Vector: positive(weights), Usage: usage[item]}
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

// poolLogits makes a text's weights of the graph's output: the output itself, or
// of token logits, [tokens, dimensions] flattened, the maximum over the tokens
// as the model's pooling scales it. It reports false for a non-finite output.
func poolLogits(m models.Manifest, output []float32) ([]float32, bool) {
	if m.Output.Form != models.TokenLogits {
		return output, finite(output)
	}
	highest := slices.Clone(output[:m.Dimensions])
	var poison float32 // 0 as long as every value is finite: ∞-∞ and NaN-NaN are NaN
	for row := output; len(row) > 0; row = row[m.Dimensions:] {
		for i, x := range row[:m.Dimensions] {
			highest[i] = max(highest[i], x)
			poison += x - x
		}
	}
	for i, x := range highest {
		x := math.Log1p(float64(max(x, 0)))
		if m.Pooling == models.DoubleLogPooling {
			x = math.Log1p(x)
		}
		highest[i] = float32(x)
	}
	return highest, poison == 0
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
