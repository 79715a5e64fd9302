package inference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/braid-search/braid"
)

// Room is how many tokens of query and passage together the model reads, its
// special tokens not counted.
func (p *Pair) Room() int {
	return p.head.model.MaxTokens - overhead(p.head.tokenizer.template.pair)
}

// Tokens returns the token ids of each text, without special tokens and cut to
// what the model can ever read, to be stored and later given to Score. The
// caller owns them; none is nil.
func (p *Pair) Tokens(ctx context.Context, texts []string) ([][]uint32, error) {
	return p.FirstTokens(ctx, texts, p.Room())
}

// FirstTokens is Tokens cut to limit instead, which may be more than the model
// reads at once.
func (p *Pair) FirstTokens(ctx context.Context, texts []string, limit int) ([][]uint32, error) {
	h := p.head
	if limit < 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "limit is %d tokens, want 0 or more", limit).In("limit")
	}
	if err := h.runtime.begin(); err != nil {
		return nil, err
	}
	defer h.runtime.calls.Done()
	tokens := make([][]uint32, len(texts))
	err := h.forEach(ctx, len(texts), func(i int) error {
		e, err := h.tokenizer.encode(texts[i], limit)
		if err != nil {
			return braid.Errorf(braid.InvalidArgument, "text %d %w", i, err)
		}
		if tokens[i] = e.ids; e.ids == nil {
			tokens[i] = []uint32{}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

// Special returns the ids of the tokenizer's special tokens. The caller owns them.
func (p *Pair) Special() []uint32 { return slices.Clone(p.special) }

// Vocabulary identifies which id stands for which token: ids of two models with
// the same Vocabulary mean the same.
func (p *Pair) Vocabulary() string { return p.vocabulary }

// Vocabulary is as that of Pair.
func (s *Sparse) Vocabulary() string { return digest(s.tokens) }

// digest is the hex SHA-256 of the tokens by id.
func digest(tokens []string) string {
	sum := sha256.New()
	for _, token := range tokens {
		_, _ = fmt.Fprintf(sum, "%d %s", len(token), token) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil))
}
