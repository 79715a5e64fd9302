package inference

import (
	"context"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// Pair scores how well passages answer a query, with a cross-encoder. It is
// safe for concurrent use.
type Pair struct {
	head       *head
	special    []uint32 // ids of special tokens
	vocabulary string   // see Vocabulary
}

// Passage is a text to score, or its token ids.
type Passage struct {
	Text string
	// Tokens, when not nil, is used instead of Text: ids made by Pair.Tokens of
	// the same model. The score is the text's, except that beside a query that
	// fills the model alone the passage may get one token more or less.
	Tokens []uint32
}

// PairScore is the model's answer for one passage.
type PairScore struct {
	// Logit is the raw score: any finite number, comparable between passages of
	// one query.
	Logit float32
	// Usage counts query, passage and special tokens. For a passage given as
	// ids that fill the model's limit, Tokens is a lower bound.
	Usage
}

// NewPair loads a cross-encoder with one logit; errors as for NewDense.
func (r *Runtime) NewPair(m *models.Model) (*Pair, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	defer r.calls.Done()
	h, file, err := r.open(m, models.CrossEncoder, r.options.BatchTokens)
	if err != nil {
		return nil, err
	}
	tokens, err := vocabulary(file)
	if err != nil {
		h.close()
		return nil, loadError(m, "vocabulary", err)
	}
	p := &Pair{head: h, vocabulary: digest(tokens)}
	if p.special, err = specialIDs(file); err != nil {
		h.close()
		return nil, loadError(m, "special tokens", err)
	}
	h.selfTest = func(ctx context.Context) error {
		_, _, err := p.Score(ctx, PairRequest{Query: "self-test", Passages: []Passage{{Text: "self-test"}}})
		return err
	}
	r.add(h)
	return p, nil
}

// Score returns one score a passage, in order, or an error and none; errors as
// for Dense.Embed. Query and passage are cut together to fit, the longer one
// first. With PairRequest.Until there may be fewer scores than passages.
func (p *Pair) Score(ctx context.Context, req PairRequest) (_ []PairScore, timing Timing, err error) {
	h := p.head
	if err := h.runtime.begin(); err != nil {
		return nil, Timing{}, err
	}
	defer h.runtime.calls.Done()
	var usage []Usage
	defer func() { h.report(req.Lane, usage, timing, err) }()
	start := time.Now()
	sequences, usage, err := p.tokenise(ctx, req)
	if err != nil {
		return nil, Timing{}, err
	}
	timing.Tokenise = time.Since(start)
	scores := make([]PairScore, len(req.Passages))
	keep := func(item int, output []float32) error {
		if !finite(output) {
			return h.faulty(item, nonFinite)
		}
		scores[item] = PairScore{Logit: output[0], Usage: usage[item]}
		return nil
	}
	if req.Until.IsZero() {
		timing.Queue, timing.Compute, err = h.compute(ctx, req.Lane, sequences, keep)
	} else {
		var done int
		done, timing.Queue, timing.Compute, err = h.computeUntil(ctx, req, sequences, keep)
		scores, usage = scores[:done], usage[:done]
	}
	if err != nil {
		return nil, Timing{}, err
	}
	return scores, timing, nil
}

// tokenise puts the query together with each passage.
func (p *Pair) tokenise(ctx context.Context, req PairRequest) ([]sequence, []Usage, error) {
	if len(req.Passages) == 0 {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "no passages: send at least one")
	}
	template, room := p.head.tokenizer.template.pair, p.Room()
	q, err := p.head.tokenizer.encode(req.Query, room)
	if err != nil {
		return nil, nil, braid.Errorf(braid.InvalidArgument, "query %w", err)
	}
	sequences := make([]sequence, len(req.Passages))
	usage := make([]Usage, len(req.Passages))
	err = p.head.forEach(ctx, len(req.Passages), func(i int) error {
		e, err := p.passage(req.Passages[i])
		if err != nil {
			return braid.Errorf(braid.InvalidArgument, "passage %d %w", i, err)
		}
		a, b := share(q.count, e.count, room)
		sequences[i] = assemble(template, q.ids[:a], e.ids[:b])
		usage[i] = Usage{Tokens: q.count + e.count + overhead(template), Truncated: a < q.count || b < e.count}
		if req.Whole && usage[i].Truncated {
			return p.head.tooLong("passage", i, usage[i])
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return sequences, usage, nil
}

// passage encodes one passage, or takes the ids it came with.
func (p *Pair) passage(passage Passage) (encoded, error) {
	if passage.Tokens == nil {
		return p.head.tokenizer.encode(passage.Text, p.Room())
	}
	ids := passage.Tokens
	return encoded{ids: ids[:min(len(ids), p.Room())], count: len(ids)}, nil
}
