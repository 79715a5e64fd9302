package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/rerank"
)

const (
	// MaxExplained is the largest Request.Limit of an answer that is explained or
	// highlighted.
	MaxExplained = 100
	// MaxShownTokens is how many of the tokens of a query's expansion are shown,
	// those of the largest weights.
	MaxShownTokens = 50
)

// Explanation says what the scores of a hit consist of, as far as the hit itself
// does not say so.
type Explanation struct {
	// Lexical is nil if the branch did not find the document by the query itself.
	Lexical *LexicalExplanation `json:"lexical,omitempty"`
	// Sparse is nil if the branch did not find the document by the query itself.
	Sparse *SparseExplanation `json:"sparse,omitempty"`
	// Fusion are the votes of which the fused score is the sum, one for each branch
	// and wording that found the document; absent if there was but one ranking.
	Fusion []Vote `json:"fusion,omitempty"`
	// Rerank is nil if the cross-encoder did not score the hit.
	Rerank *RerankExplanation `json:"rerank,omitempty"`
}

// LexicalExplanation is a BM25 score by terms.
type LexicalExplanation struct {
	Score float64 `json:"score"`
	// Terms add up to Score; the largest contribution is first.
	Terms []LexicalShare `json:"terms"`
	// Changed says that the document was written after it was found. What its score
	// consisted of is not known any more, and Terms is empty.
	Changed bool `json:"changed,omitempty"`
}

// LexicalShare is what one term gave to a BM25 score:
// Contribution = Weight·IDF·Frequency/(Frequency + Norm).
type LexicalShare struct {
	Term         string  `json:"term"`   // as the index has it: folded and stemmed
	Weight       float64 `json:"weight"` // of the term in the query
	Frequency    int     `json:"tf"`     // how often the document holds it
	IDF          float64 `json:"idf"`    // ln(1 + (N − n + 0.5)/(n + 0.5)): n of N documents hold it
	Norm         float64 `json:"norm"`   // k1·(1 − b + b·length/average length)
	Contribution float64 `json:"contribution"`
}

// SparseExplanation is the score of a SPLADE expansion by tokens.
type SparseExplanation struct {
	Score float64 `json:"score"`
	// Tokens add up to Score; the largest contribution is first.
	Tokens []SparseShare `json:"tokens"`
	// Changed is as in LexicalExplanation.
	Changed bool `json:"changed,omitempty"`
}

// SparseShare is what one token of the vocabulary gave to a sparse score:
// Contribution = Query·Document.
type SparseShare struct {
	Token        string  `json:"token"`
	Query        float32 `json:"query"`    // its weight in the expansion of the query
	Document     float32 `json:"document"` // and in that of the document
	Contribution float64 `json:"contribution"`

	index uint32
}

// Vote is what one ranking gave to a fused score.
type Vote struct {
	Branch braid.Branch `json:"branch"`
	// Variant and Hypothetical are as in VariantFound; both absent for the query
	// itself.
	Variant      int     `json:"variant,omitempty"`
	Hypothetical bool    `json:"hypothetical,omitempty"`
	Rank         int     `json:"rank"`
	Score        float64 `json:"score"` // the branch's own
	// Scaled is the score as "minmax" and "dbsf" scale it, 0 to 1; absent with
	// "rrf", which goes by the rank.
	Scaled       *float64 `json:"scaled,omitempty"`
	Weight       float64  `json:"weight"`
	Contribution float64  `json:"contribution"`
}

// RerankExplanation says how the cross-encoder's judgement and the score of the
// first stage became the hit's score: Weight·ScaledLogit + (1 − Weight)·ScaledFirst,
// both scaled so that the lowest of those scored is 0 and the highest 1. With
// Weight 1 it is the probability, and nothing is scaled.
type RerankExplanation struct {
	Weight      float64  `json:"weight"`
	Logit       float64  `json:"logit"`
	ScaledLogit *float64 `json:"scaled_logit,omitempty"`
	First       float64  `json:"first"` // the fused score, or that of the mode's branch
	ScaledFirst *float64 `json:"scaled_first,omitempty"`
	Score       float64  `json:"score"`
}

// QueryExplanation says what was looked for.
type QueryExplanation struct {
	// Filter is the request's.
	Filter *braid.Filter `json:"filter,omitempty"`
	// Terms are what the lexical branch looked for, each once, in the order of the
	// query; absent if the branch did not run.
	Terms []LexicalTerm `json:"terms,omitempty"`
	// Dropped are the words of the query that are too common to look for.
	Dropped []string `json:"dropped,omitempty"`
	// Tokens is the query's SPLADE expansion, the largest weights first, at most
	// MaxShownTokens of TokensInAll; absent if the branch did not run.
	Tokens      []WeightedToken `json:"tokens,omitempty"`
	TokensInAll int             `json:"tokens_in_all,omitempty"`
}

// LexicalTerm is a term that was looked for.
type LexicalTerm struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
	// Start and End are where it was first made from, in bytes of the query.
	Start int `json:"start"`
	End   int `json:"end"`
}

// WeightedToken is a token of the sparse model's vocabulary.
type WeightedToken struct {
	Token  string  `json:"token"`
	Weight float32 `json:"weight"`
}

// making is what the stages noted of a hit for its explanation.
type making struct {
	votes []fusion.Vote
	first float64 // the score before the rerank
	item  rerank.Item
}

func (r Request) validateExplain() error {
	field := "highlight"
	switch {
	case r.Explain:
		field = "explain"
	case r.Highlight == nil:
		return nil
	}
	if limit := orDefault(r.Limit, DefaultLimit); limit > MaxExplained {
		return braid.Errorf(braid.InvalidArgument, "%s is for at most %d hits, limit is %d: ask for fewer", field, MaxExplained, limit).In(field)
	}
	return r.Highlight.validate()
}

// explain says what the scores of the answer's hits consist of, if that was asked
// for. It never fails an answer: what cannot be said is named in Degraded.
func (s *Service) explain(ctx context.Context, c index.Collection, p plan, answer *Response) {
	if !p.Explain {
		return
	}
	start := time.Now()
	defer func() { answer.Timings.Explain = milliseconds(time.Since(start)) }()
	answer.Explain = s.explainQuery(c, p, answer)
	for i := range answer.Hits {
		h := &answer.Hits[i]
		h.Explain = &Explanation{Fusion: p.explainFusion(h.made.votes), Rerank: explainRerank(p.rerankWeight, *h)}
	}
	err := s.explainLexical(ctx, c, p, answer.Hits)
	if err == nil {
		err = s.explainSparse(ctx, c, p, answer.Hits)
	}
	if err != nil {
		answer.Degraded = append(answer.Degraded, s.degrade(ctx, c.Info().Name, "explain", err))
	}
}

func (s *Service) explainQuery(c index.Explainer, p plan, answer *Response) *QueryExplanation {
	q := &QueryExplanation{Filter: p.Filter, TokensInAll: len(p.expansion.Indices)}
	if _, ran := answer.Candidates[braid.Lexical]; ran {
		analysed := c.AnalyzeQuery(p.Query)
		for _, t := range analysed.Terms {
			q.Terms = append(q.Terms, LexicalTerm(t))
		}
		q.Dropped = analysed.Dropped
	}
	for i, token := range p.expansion.Indices {
		q.Tokens = append(q.Tokens, WeightedToken{Token: s.models.Sparse.Token(token), Weight: p.expansion.Values[i]})
	}
	slices.SortStableFunc(q.Tokens, func(a, b WeightedToken) int { return cmp.Compare(b.Weight, a.Weight) })
	q.Tokens = q.Tokens[:min(MaxShownTokens, len(q.Tokens))]
	return q
}

func (p plan) explainFusion(votes []fusion.Vote) []Vote {
	var shown []Vote
	scales := p.Fusion != nil && p.Fusion.Method != "" && p.Fusion.Method != fusion.RRF
	for _, v := range votes {
		vote := Vote{Branch: v.Branch, Rank: v.Rank, Score: v.Score, Weight: v.Weight, Contribution: v.Contribution}
		switch {
		case v.Wording > len(p.Variants):
			vote.Hypothetical = true
		default:
			vote.Variant = v.Wording
		}
		if scales {
			vote.Scaled = &v.Scaled
		}
		shown = append(shown, vote)
	}
	return shown
}

func explainRerank(weight float64, h Hit) *RerankExplanation {
	if h.Rerank == nil {
		return nil
	}
	item := h.made.item
	e := &RerankExplanation{Weight: weight, Logit: float64(item.Logit), First: h.made.first, Score: item.Score}
	if weight < 1 {
		e.ScaledLogit, e.ScaledFirst = &item.ScaledLogit, &item.ScaledScore
	}
	return e
}

func (s *Service) explainLexical(ctx context.Context, c index.Explainer, p plan, hits []Hit) error {
	found, at := foundBy(braid.Lexical, hits)
	if len(found) == 0 {
		return nil
	}
	shares, err := c.ExplainLexical(ctx, p.Query, found)
	if err != nil {
		return err
	}
	for i, to := range at {
		e := &LexicalExplanation{Score: found[i].Score, Terms: []LexicalShare{}}
		var sum float64
		for _, share := range shares[i] {
			e.Terms = append(e.Terms, LexicalShare(share))
			sum += share.Contribution
		}
		if e.Changed = !same(sum, e.Score); e.Changed {
			e.Terms = []LexicalShare{}
		}
		slices.SortStableFunc(e.Terms, func(a, b LexicalShare) int { return cmp.Compare(b.Contribution, a.Contribution) })
		hits[to].Explain.Lexical = e
	}
	return nil
}

func (s *Service) explainSparse(ctx context.Context, c index.Explainer, p plan, hits []Hit) error {
	explained, err := s.sparseShares(ctx, c, p, hits)
	for i, e := range explained {
		hits[i].Explain.Sparse = e
	}
	return err
}

// sparseShares returns for each hit what its sparse score consists of, nil for one
// that the branch did not find.
func (s *Service) sparseShares(ctx context.Context, c index.Explainer, p plan, hits []Hit) ([]*SparseExplanation, error) {
	found, at := foundBy(braid.Sparse, hits)
	if len(found) == 0 {
		return nil, nil
	}
	shares, err := c.ExplainSparse(ctx, p.expansion, found)
	if err != nil {
		return nil, err
	}
	explained := make([]*SparseExplanation, len(hits))
	for i, to := range at {
		e := &SparseExplanation{Score: found[i].Score, Tokens: []SparseShare{}}
		var sum float64
		for _, share := range shares[i] {
			e.Tokens = append(e.Tokens, SparseShare{Token: s.models.Sparse.Token(share.Index), Query: share.Query, Document: share.Document, Contribution: share.Contribution, index: share.Index})
			sum += share.Contribution
		}
		if e.Changed = !same(sum, e.Score); e.Changed {
			e.Tokens = []SparseShare{}
		}
		slices.SortStableFunc(e.Tokens, func(a, b SparseShare) int { return cmp.Compare(b.Contribution, a.Contribution) })
		explained[to] = e
	}
	return explained, nil
}

// same reports whether two sums of the same numbers may differ by their rounding
// only.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// foundBy returns the hits that a branch found as it ranked them, and their places
// in hits.
func foundBy(branch braid.Branch, hits []Hit) (found []braid.Hit, at []int) {
	for i, h := range hits {
		if f, ok := h.Branches[branch]; ok {
			found, at = append(found, braid.Hit{ID: h.ID, Passage: h.number, Score: f.Score}), append(at, i)
		}
	}
	return found, at
}
