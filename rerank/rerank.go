package rerank

import (
	"context"
	"math"
	"slices"

	"github.com/braid-search/braid"
)

// DefaultDepth is how many candidates are scored where nothing else is asked
// for.
const DefaultDepth = 20

// Options says how to rerank; the zero value scores DefaultDepth candidates.
// Depth is a pointer so that a 0 that was asked for is told from one that was
// not, and refused: not to rerank is not to call Rerank.
type Options struct {
	Depth *int // how many candidates are scored, at least 1; nil is DefaultDepth
	// Weight is the share, from 0 to 1, of the cross-encoder in the order of what
	// it scored; the rest is the first stage's. nil is 1: the logit decides alone.
	Weight *float64
	// Partial lets the scorer, one with little time, answer for the first of the
	// passages only. The other candidates stay as they were.
	Partial bool
}

// Validate reports the rule the options break as a *braid.Error.
func (o Options) Validate() error {
	if o.Depth != nil && *o.Depth < 1 {
		return braid.Errorf(braid.InvalidArgument, "rerank depth is %d, want at least 1", *o.Depth).In("depth")
	}
	if w := o.weight(); !(w >= 0 && w <= 1) {
		return braid.Errorf(braid.InvalidArgument, "rerank weight is %v, want 0 to 1", w).In("weight")
	}
	return nil
}

func (o Options) weight() float64 {
	if o.Weight == nil {
		return 1
	}
	return *o.Weight
}

// Window returns how many of n candidates are scored: only these need a
// passage.
func (o Options) Window(n int) int {
	if o.Depth == nil {
		return min(n, DefaultDepth)
	}
	return min(n, *o.Depth)
}

// Passage is the text of a document as the cross-encoder reads it.
type Passage struct {
	Text   string
	Tokens []uint32 // token ids without special tokens; used instead of Text where not nil
}

// Candidate is one entry of the ranking to rerank.
type Candidate struct {
	ID      string
	Number  int     // of the passage in its document
	Score   float64 // of the first stage, finite; read where Options.Weight is below 1
	Passage Passage // read only within Options.Window
}

// Scorer is a cross-encoder.
type Scorer interface {
	// Score returns how well each passage answers the query, as one logit per
	// passage in the order of passages. A pair's logit does not depend on the
	// other passages. When ctx ends it returns promptly with an error. Where
	// Options.Partial allows it, there may be fewer logits: of the first passages.
	Score(ctx context.Context, query string, passages []Passage) ([]float32, error)
}

// Item is one entry of the reranked list.
type Item struct {
	ID     string
	Number int
	// Scored reports whether the cross-encoder saw the candidate; without it
	// Logit and Probability mean nothing.
	Scored      bool
	Logit       float32
	Probability float64 // see Probability
	// Score is what the scored candidates are ordered by: at weight 1 the
	// probability (by logit, where that rounds), else w·logit + (1−w)·score, both
	// scaled over the scored candidates so that the lowest is 0 and the highest 1.
	// Where all are equal each is 1.
	Score float64
	// ScaledLogit and ScaledScore are logit and first-stage score as they went into
	// Score; 0 at weight 1.
	ScaledLogit, ScaledScore float64

	From, To int // positions before and after, from 1
}

// Rerank scores the first candidates and returns all of them, the scored ones
// first. Candidates are in the order of the first stage, each passage once. Without
// candidates the scorer is not called.
//
// It fails with braid.DeadlineExceeded or braid.Canceled when ctx ended, with
// the scorer's code when that failed, and with braid.Corrupt when a logit is
// not finite or their number is not one that Scorer allows.
func Rerank(ctx context.Context, scorer Scorer, query string, candidates []Candidate, opts Options) ([]Item, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	items, err := unscored(candidates)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	window := items[:opts.Window(len(items))]
	passages := make([]Passage, len(window))
	for i := range window {
		passages[i] = candidates[i].Passage
	}
	logits, err := score(ctx, scorer, query, passages, opts.Partial)
	if err != nil {
		return nil, err
	}
	window = window[:len(logits)]
	for i, logit := range logits {
		if f := float64(logit); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, braid.Errorf(braid.Corrupt, "rerank: logit of %q, passage %d of %d, is %v: non-finite", window[i].ID, i+1, len(passages), logit)
		}
		window[i].Scored, window[i].Logit, window[i].Probability = true, logit, Probability(logit)
	}
	order(window, candidates, opts.weight())
	for i := range window {
		window[i].To = i + 1
	}
	return items, nil
}

// order sorts the scored items, which stand in the order of candidates.
func order(window []Item, candidates []Candidate, weight float64) {
	by := func(i Item) float64 { return i.Score }
	if weight == 1 {
		by = func(i Item) float64 { return float64(i.Logit) }
		for i, item := range window {
			window[i].Score = item.Probability
		}
	} else {
		logits, scores := make([]float64, len(window)), make([]float64, len(window))
		for i, item := range window {
			logits[i], scores[i] = float64(item.Logit), candidates[i].Score
		}
		scale(logits)
		scale(scores)
		for i := range window {
			window[i].ScaledLogit, window[i].ScaledScore = logits[i], scores[i]
			window[i].Score = weight*logits[i] + (1-weight)*scores[i]
		}
	}
	slices.SortFunc(window, func(a, b Item) int {
		if (braid.Hit{ID: a.ID, Passage: a.Number, Score: by(a)}).Before(braid.Hit{ID: b.ID, Passage: b.Number, Score: by(b)}) {
			return -1
		}
		return 1
	})
}

// scale maps values linearly so that the lowest is 0 and the highest 1; if they
// are equal each is 1.
func scale(values []float64) {
	if len(values) == 0 {
		return
	}
	low, high := slices.Min(values), slices.Max(values)
	for i, v := range values {
		values[i] = 1
		if high > low {
			// Halves, so that the difference of two large values is finite.
			values[i] = (v/2 - low/2) / (high/2 - low/2)
		}
	}
}

// unscored makes an item in its old place of every candidate.
func unscored(candidates []Candidate) ([]Item, error) {
	items := make([]Item, len(candidates))
	first := make(map[braid.Hit]int, len(candidates))
	for i, c := range candidates {
		passage := braid.Hit{ID: c.ID, Passage: c.Number}
		if at, twice := first[passage]; twice {
			return nil, braid.Errorf(braid.InvalidArgument, "rerank: passage %d of %q occurs twice, at positions %d and %d", c.Number, c.ID, at, i+1)
		}
		first[passage] = i + 1
		items[i] = Item{ID: c.ID, Number: c.Number, From: i + 1, To: i + 1}
	}
	return items, nil
}

// score calls the scorer and types its failure. Whatever a scorer says when it
// was interrupted, the cause is the end of ctx.
func score(ctx context.Context, scorer Scorer, query string, passages []Passage, partial bool) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "rerank %d passages: not started: %w", len(passages), err)
	}
	logits, err := scorer.Score(ctx, query, passages)
	if err != nil {
		code := braid.CodeOf(err)
		if ended := ctx.Err(); ended != nil {
			code = braid.CodeOf(ended)
		}
		return nil, braid.Errorf(code, "rerank %d passages: %w", len(passages), err)
	}
	if len(logits) > len(passages) || len(logits) < len(passages) && !partial {
		return nil, braid.Errorf(braid.Corrupt, "rerank: the scorer returned %d logits for %d passages", len(logits), len(passages))
	}
	return logits, nil
}
