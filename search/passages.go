package search

import (
	"context"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search/split"
)

// Defaults of how documents are split.
const (
	// DefaultPassageTokens is the most a passage has, where the models read as much.
	// More would be less precise a hit, and no longer what the reranker can read
	// together with a query.
	DefaultPassageTokens  = 510
	DefaultPassageOverlap = 32
)

// Settings are what a collection is made with and keeps.
type Settings struct {
	Passages *PassageSettings `json:"passages,omitempty"`
}

// PassageSettings say how documents are split into passages, in tokens of the dense
// model, else of the sparse one, else in words.
type PassageSettings struct {
	// Tokens is the most a passage has, title and headings included: from
	// split.MinTokens to what the model reads; 0 does not split. By default it is
	// DefaultPassageTokens, or what each of the models reads where that is less.
	Tokens *int `json:"tokens,omitempty"`
	// Overlap is how much of a passage the next one may repeat, from 0 to half of
	// Tokens; DefaultPassageOverlap by default.
	Overlap *int `json:"overlap,omitempty"`
}

// are reports whether the settings ask for nothing else than size.
func (g PassageSettings) are(size index.PassageSize) bool {
	return (g.Tokens == nil || *g.Tokens == size.Tokens) && (g.Overlap == nil || *g.Overlap == size.Overlap)
}

// passageSize returns what the settings mean for the loaded models.
func (s *Service) passageSize(ctx context.Context, settings Settings) (index.PassageSize, error) {
	var given PassageSettings
	if settings.Passages != nil {
		given = *settings.Passages
	}
	room, fallback, err := s.passageRoom(ctx)
	if err != nil {
		return index.PassageSize{}, err
	}
	size := index.PassageSize{Tokens: fallback}
	if given.Tokens != nil {
		size.Tokens = *given.Tokens
	}
	if size.Tokens == 0 || given.Tokens == nil && size.Tokens < split.MinTokens {
		if given.Overlap != nil && *given.Overlap != 0 {
			return size, braid.Errorf(braid.InvalidArgument, "passages.overlap is %d where documents are not split: leave it out", *given.Overlap).In("passages.overlap")
		}
		return index.PassageSize{}, nil
	}
	if size.Tokens < split.MinTokens || size.Tokens > room {
		return size, braid.Errorf(braid.InvalidArgument, "passages.tokens is %d, want %d to %d, which is what the model reads, or 0 not to split", size.Tokens, split.MinTokens, room).In("passages.tokens")
	}
	size.Overlap = min(DefaultPassageOverlap, size.Tokens/2)
	if given.Overlap != nil {
		size.Overlap = *given.Overlap
	}
	if size.Overlap < 0 || size.Overlap > size.Tokens/2 {
		return size, braid.Errorf(braid.InvalidArgument, "passages.overlap is %d, want 0 to half of the tokens (%d)", size.Overlap, size.Tokens/2).In("passages.overlap")
	}
	return size, nil
}

// passageRoom returns the largest passage that the model that counts reads, and the
// default.
func (s *Service) passageRoom(ctx context.Context) (room, fallback int, err error) {
	room, fallback = split.MaxTokens, DefaultPassageTokens
	for _, m := range []struct {
		loaded bool
		model  tokenCounter
	}{{s.models.Sparse != nil, s.models.Sparse}, {s.models.Dense != nil, s.models.Dense}} {
		if !m.loaded {
			continue
		}
		reads, err := m.model.PassageRoom(ctx)
		if err != nil {
			return 0, 0, err
		}
		room, fallback = min(split.MaxTokens, reads), min(fallback, reads)
	}
	return room, fallback, nil
}

// counts returns what counts tokens for a collection of schema, whose models are
// the loaded ones.
func (s *Service) counts(schema index.Schema) func(context.Context, []string) ([]int, error) {
	switch {
	case schema.Dense.Name != "":
		return s.models.Dense.Count
	case schema.Sparse.Name != "":
		return s.models.Sparse.Count
	}
	return func(_ context.Context, texts []string) ([]int, error) {
		counts := make([]int, len(texts))
		for i, text := range texts {
			counts[i] = len(strings.Fields(text))
		}
		return counts, nil
	}
}

// entryOf splits d as the collection's schema says. Its passages are not encoded.
func (s *Service) entryOf(ctx context.Context, schema index.Schema, d braid.Document, fingerprint [32]byte) (index.Entry, error) {
	size := schema.Passages
	if size.Tokens == 0 {
		return index.Whole(d, fingerprint), nil
	}
	pieces, err := split.Split(ctx, d, split.Options{Tokens: size.Tokens, Overlap: size.Overlap, Count: s.counts(schema)})
	if err != nil {
		return index.Entry{}, braid.Errorf(braid.CodeOf(err), "document %q: split: %w", d.ID, err)
	}
	if len(pieces) > index.MaxPassages {
		return index.Entry{}, braid.Errorf(braid.TooLarge, "document %q has %d passages of at most %d tokens, the limit is %d: split the document, or make a collection with longer passages", d.ID, len(pieces), size.Tokens, index.MaxPassages)
	}
	if len(pieces) == 1 && pieces[0].Passage() == d.Passage() {
		return index.Whole(d, fingerprint), nil
	}
	e := index.Entry{Document: d, Fingerprint: fingerprint, Passages: make([]index.Passage, len(pieces))}
	for i, p := range pieces {
		e.Passages[i] = index.Passage{Text: p.Passage(), Start: p.Start, End: p.End, Section: p.Section}
	}
	return e, nil
}
