package search

import (
	"context"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/rerank"
)

// MaxWindowedTokens is how many tokens of a passage are looked at for a window.
const MaxWindowedTokens = 8192

// cutWindows leaves of each long passage the window that says most about the
// query, and returns the windows in the order of candidates: nil for a passage
// that is left whole, and no windows at all where none are wanted.
func (s *Service) cutWindows(ctx context.Context, p plan, candidates []rerank.Candidate) ([]*Window, error) {
	size, room := DefaultRerankWindow, s.models.Pair.Room()
	if p.RerankWindow != nil {
		size = *p.RerankWindow
	}
	if size == 0 {
		return nil, nil
	}
	size = min(size, room)
	if err := s.tokenise(ctx, candidates, room); err != nil {
		return nil, err
	}
	var weights map[uint32]float32
	windows := make([]*Window, len(candidates))
	for i := range candidates {
		tokens := candidates[i].Passage.Tokens
		if len(tokens) <= size || len(tokens) <= size*3/2 && len(tokens) <= room {
			continue
		}
		if weights == nil {
			var err error
			if weights, err = s.queryWeights(ctx, p); err != nil {
				return nil, err
			}
		}
		from, to := rerank.Window(tokens, weights, size)
		candidates[i].Passage.Tokens = tokens[from:to]
		windows[i] = &Window{From: from, To: to, Of: len(tokens)}
	}
	return windows, nil
}

// tokenise sees that every passage has its tokens: those stored are complete only
// if they do not fill the model's room.
func (s *Service) tokenise(ctx context.Context, candidates []rerank.Candidate, room int) error {
	var texts []string
	var at []int
	for i, c := range candidates {
		if c.Passage.Tokens == nil || len(c.Passage.Tokens) >= room {
			texts, at = append(texts, c.Passage.Text), append(at, i)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	tokens, err := s.models.Pair.FirstTokens(ctx, texts, MaxWindowedTokens)
	if err != nil {
		return err
	}
	for i, to := range at {
		candidates[to].Passage.Tokens = tokens[i]
	}
	return nil
}

// queryWeights returns what the query's tokens weigh, by the reranker's ids: the
// sparse model's weights if there are any and its ids are the same, else 1 for
// each of the query's own. Special tokens are left out.
func (s *Service) queryWeights(ctx context.Context, p plan) (map[uint32]float32, error) {
	weights := make(map[uint32]float32, len(p.expansion.Indices))
	if s.models.SharedVocabulary {
		for i, id := range p.expansion.Indices {
			weights[id] = p.expansion.Values[i]
		}
	}
	if len(weights) == 0 {
		own, err := s.models.Pair.FirstTokens(ctx, []string{p.Query}, s.models.Pair.Room())
		if err != nil {
			return nil, err
		}
		for _, id := range own[0] {
			weights[id] = 1
		}
	}
	for _, id := range s.models.Pair.Special() {
		delete(weights, id)
	}
	return weights, nil
}

// expansionOf returns the query as the sparse branch expanded it; empty if none
// did.
func expansionOf(found []branchResult) braid.SparseVector {
	for _, r := range found {
		if r.branch == braid.Sparse {
			return r.expansion
		}
	}
	return braid.SparseVector{}
}

// noteWindows says of each scored hit which window of it was read. windows are in
// the order the hits had before they were reranked.
func noteWindows(hits []Hit, windows []*Window) {
	if windows == nil {
		return
	}
	for _, h := range hits {
		if h.Rerank != nil {
			h.Rerank.Window = windows[h.Rerank.Before-1]
		}
	}
}
