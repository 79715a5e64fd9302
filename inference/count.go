package inference

import (
	"context"
	"math"

	"github.com/braid-search/braid"
)

// Count returns how many tokens each text has, special tokens and the manifest's
// prefix left out. Nothing is cut. Errors: as of Tokenise.
func (d *Dense) Count(ctx context.Context, texts []string) ([]int, error) {
	return d.head.counts(ctx, texts)
}

// PassageRoom is how many tokens of a passage the model reads beside its special
// tokens and the manifest's prefix; less than 1 if there is no room.
func (d *Dense) PassageRoom(ctx context.Context) (int, error) { return d.head.passageRoom(ctx) }

// Count is as that of Dense.
func (s *Sparse) Count(ctx context.Context, texts []string) ([]int, error) {
	return s.head.counts(ctx, texts)
}

// PassageRoom is as that of Dense.
func (s *Sparse) PassageRoom(ctx context.Context) (int, error) { return s.head.passageRoom(ctx) }

func (h *head) counts(ctx context.Context, texts []string) ([]int, error) {
	if err := h.runtime.begin(); err != nil {
		return nil, err
	}
	defer h.runtime.calls.Done()
	counts := make([]int, len(texts))
	err := h.forEach(ctx, len(texts), func(i int) error {
		e, err := h.tokenizer.encode(texts[i], math.MaxInt)
		if err != nil {
			return braid.Errorf(braid.InvalidArgument, "text %d %w", i, err)
		}
		counts[i] = e.count
		return nil
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

func (h *head) passageRoom(ctx context.Context) (int, error) {
	room := h.model.MaxTokens - overhead(h.tokenizer.template.single)
	if h.model.PassagePrefix == "" {
		return room, nil
	}
	prefix, err := h.counts(ctx, []string{h.model.PassagePrefix})
	if err != nil {
		return 0, err
	}
	return room - prefix[0], nil
}
