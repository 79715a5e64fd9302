package inference

import (
	"context"
	"math"
	"time"

	"github.com/braid-search/braid/models"
)

// Dense turns texts into embeddings. It is safe for concurrent use.
type Dense struct{ head *head }

// Embedding is one text's vector.
type Embedding struct {
	// Vector has the model's dimensions, finite components and, if the manifest
	// or the request say so, length 1. The caller owns it.
	Vector []float32
	Usage
}

// NewDense loads a dense model. It fails with braid.InvalidArgument when m is
// of another kind and with braid.Corrupt when its files are not what the
// manifest says.
func (r *Runtime) NewDense(m *models.Model) (*Dense, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.calls.Done()
	h, _, err := r.open(m, models.Dense, r.options.BatchTokens)
	if err != nil {
		return nil, err
	}
	d := &Dense{head: h}
	h.selfTest = func(ctx context.Context) error {
		_, _, err := d.Embed(ctx, Request{Texts: []string{"self-test"}})
		return err
	}
	r.add(h)
	return d, nil
}

// Embed returns one embedding a text, in order, or an error and none. Errors:
// InvalidArgument (no texts, a text that is not UTF-8), TooLarge (Whole only),
// Overloaded (not LaneIngest), DeadlineExceeded, Canceled, Unavailable (closed), Corrupt (non-finite
// or zero vector; names the item).
func (d *Dense) Embed(ctx context.Context, req Request) (_ []Embedding, timing Timing, err error) {
	h := d.head
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
	unit := req.Length == LengthOne || req.Length == LengthOfManifest && h.model.Normalize
	embeddings := make([]Embedding, len(sequences))
	timing.Queue, timing.Compute, err = h.compute(ctx, req.Lane, sequences, func(item int, output []float32) error {
		vector := pool(h.model.Manifest, output)
		if !finite(vector) {
			return h.faulty(item, nonFinite)
		}
		if unit && !normalise(vector) {
			return h.faulty(item, "a zero vector, which has no direction")
		}
		embeddings[item] = Embedding{Vector: vector, Usage: usage[item]}
		return nil
	})
	if err != nil {
		return nil, Timing{}, err
	}
	return embeddings, timing, nil
}

// pool makes a new vector of one text's output, [tokens, dimensions] flattened,
// or [dimensions] when the graph pools or gives the first token's state alone.
func pool(m models.Manifest, output []float32) []float32 {
	vector := make([]float32, m.Dimensions)
	if m.Output.Form != models.HiddenStates || m.Pooling == models.CLSPooling {
		copy(vector, output)
		return vector
	}
	tokens := len(output) / m.Dimensions
	for i := range vector {
		var sum float64
		for at := i; at < len(output); at += m.Dimensions {
			sum += float64(output[at])
		}
		vector[i] = float32(sum / float64(tokens))
	}
	return vector
}

// normalise scales vector to length 1; false when it has no direction.
func normalise(vector []float32) bool {
	var sum float64
	for _, v := range vector {
		sum += float64(v) * float64(v)
	}
	if sum == 0 {
		return false
	}
	length := math.Sqrt(sum)
	for i, v := range vector {
		vector[i] = float32(float64(v) / length)
	}
	return true
}
