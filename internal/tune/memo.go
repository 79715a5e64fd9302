package tune

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// memo keeps values by key. It is safe for concurrent use; two callers who miss
// the same key at once both compute it.
type memo[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]V
}

func (m *memo[K, V]) get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.kept[k]
	return v, ok
}

func (m *memo[K, V]) put(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[K]V)
	}
	m.kept[k] = v
}

// memoise returns models of which each encodes a text and scores a pair once.
// What a head says of one item does not depend on the others of a request, so
// the results are those of the heads.
func memoise(m search.Models) search.Models {
	if m.Dense != nil {
		m.Dense = &denseMemo{DenseEncoder: m.Dense}
	}
	if m.Sparse != nil {
		m.Sparse = &sparseMemo{SparseEncoder: m.Sparse}
	}
	if m.Pair != nil {
		m.Pair = &pairMemo{PairScorer: m.Pair}
	}
	return m
}

// textKey is all that the encoding of a text depends on.
type textKey struct {
	text   string
	role   inference.Role
	whole  bool
	length inference.Length
}

func keyOf(req inference.Request, text string) textKey {
	return textKey{text, req.Role, req.Whole, req.Length}
}

type denseMemo struct {
	search.DenseEncoder
	kept memo[textKey, inference.Embedding]
}

func (m *denseMemo) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	out, timing, err := recall(ctx, &m.kept, req, m.DenseEncoder.Embed)
	for i := range out {
		out[i].Vector = slices.Clone(out[i].Vector) // the caller owns it
	}
	return out, timing, err
}

type sparseMemo struct {
	search.SparseEncoder
	kept memo[textKey, inference.Expansion]
}

func (m *sparseMemo) Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	out, timing, err := recall(ctx, &m.kept, req, m.SparseEncoder.Expand)
	for i := range out {
		v := out[i].Vector
		out[i].Vector = braid.SparseVector{Indices: slices.Clone(v.Indices), Values: slices.Clone(v.Values)}
	}
	return out, timing, err
}

// recall answers from what is kept and encodes the texts that are new.
func recall[V any](ctx context.Context, kept *memo[textKey, V], req inference.Request, encode func(context.Context, inference.Request) ([]V, inference.Timing, error)) ([]V, inference.Timing, error) {
	out := make([]V, len(req.Texts))
	fresh := req
	fresh.Texts = nil
	var at []int
	for i, text := range req.Texts {
		var known bool
		if out[i], known = kept.get(keyOf(req, text)); !known {
			fresh.Texts, at = append(fresh.Texts, text), append(at, i)
		}
	}
	if len(at) == 0 {
		return out, inference.Timing{}, nil
	}
	encoded, timing, err := encode(ctx, fresh)
	if err != nil {
		return nil, timing, err
	}
	for i, v := range encoded {
		kept.put(keyOf(req, fresh.Texts[i]), v)
		out[at[i]] = v
	}
	return out, timing, nil
}

// pairKey is all that the score of a pair depends on. Passages are kept as
// digests: there may be many.
type pairKey struct {
	query   string
	passage [sha256.Size]byte
	whole   bool
}

type pairMemo struct {
	search.PairScorer
	kept memo[pairKey, inference.PairScore]
}

func (m *pairMemo) Score(ctx context.Context, req inference.PairRequest) ([]inference.PairScore, inference.Timing, error) {
	if !req.Until.IsZero() { // how many are scored depends on the time
		return m.PairScorer.Score(ctx, req)
	}
	out := make([]inference.PairScore, len(req.Passages))
	fresh := req
	fresh.Passages = nil
	var at []int
	for i, p := range req.Passages {
		var known bool
		if out[i], known = m.kept.get(pairKey{req.Query, digest(p), req.Whole}); !known {
			fresh.Passages, at = append(fresh.Passages, p), append(at, i)
		}
	}
	if len(at) == 0 {
		return out, inference.Timing{}, nil
	}
	scores, timing, err := m.PairScorer.Score(ctx, fresh)
	if err != nil {
		return nil, timing, err
	}
	for i, s := range scores {
		m.kept.put(pairKey{req.Query, digest(fresh.Passages[i]), req.Whole}, s)
		out[at[i]] = s
	}
	return out, timing, nil
}

// digest identifies what the head reads of a passage: its tokens, or its text
// where it has none.
func digest(p inference.Passage) [sha256.Size]byte {
	if p.Tokens == nil {
		return sha256.Sum256([]byte("text " + p.Text))
	}
	data := []byte("tokens ")
	for _, id := range p.Tokens {
		data = binary.LittleEndian.AppendUint32(data, id)
	}
	return sha256.Sum256(data)
}
