package search

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// maxTokenisedBytes is how much of a hit's text is searched for tokens, which are
// slower to find than terms. A passage that the models read whole is shorter.
const maxTokenisedBytes = 8 << 10

// matchedTokens returns, for each hit, the tokens of its sparse score with their
// places in the hit; nil if the sparse branch found none of the hits.
func (s *Service) matchedTokens(ctx context.Context, c index.Explainer, p plan, hits []Hit) ([][]MatchedToken, error) {
	explained, err := s.sparseShares(ctx, c, p, hits)
	if err != nil || explained == nil {
		return nil, err
	}
	texts := []string{p.Query}
	for i, e := range explained {
		if e != nil {
			texts = append(texts, hits[i].Title, head(hits[i].Text, maxTokenisedBytes))
		}
	}
	tokenised, err := s.models.Sparse.Tokenise(ctx, texts, false)
	if err != nil {
		return nil, err
	}
	own := places(texts[0], tokenised[0])
	matched := make([][]MatchedToken, len(hits))
	next := 1
	for i, e := range explained {
		if e == nil {
			continue
		}
		titles, inText := places(texts[next], tokenised[next]), places(texts[next+1], tokenised[next+1])
		next += 2
		for _, share := range e.Tokens {
			_, inQuery := own[share.index]
			matched[i] = append(matched[i], MatchedToken{SparseShare: share, InQuery: inQuery, Title: titles[share.index], Text: inText[share.index]})
		}
	}
	return matched, nil
}

// places returns where each token stands in the text it was made from, in bytes.
func places(text string, tokens []inference.Token) map[uint32][]Span {
	at := map[uint32][]Span{}
	bytes, runes := 0, 0
	for _, t := range tokens {
		if t.Start < runes {
			bytes, runes = 0, 0
		}
		for i := range text[bytes:] {
			if runes == t.Start {
				bytes += i
				break
			}
			runes++
		}
		// A tokenizer of bytes may cut inside a character, which cannot be marked.
		if end := bytes + len(t.Text); end > bytes && end <= len(text) && utf8.ValidString(text[bytes:end]) {
			at[t.ID] = append(at[t.ID], Span{bytes, withMarks(text, end)})
		}
	}
	return at
}

// withMarks returns where the character before byte end really ends: tokenizers that
// drop accents leave them out.
func withMarks(text string, end int) int {
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsMark(r) {
			break
		}
		end += n
	}
	return end
}
