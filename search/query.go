package search

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// Search answers one query over the collection called name.
//
// It fails when the request is malformed, the collection does not exist, the
// caller went away, or no branch could answer; anything less is an answer with
// Degraded set. When ctx has a deadline, the stages that do not finish in time
// are left out of the answer.
func (s *Service) Search(ctx context.Context, name string, req Request) (*Response, error) {
	start := time.Now()
	// What is wrong with the request itself comes before a collection that is not there.
	if err := req.validate(); err != nil {
		return nil, err
	}
	c, err := s.open(ctx, name)
	if err != nil {
		return nil, err
	}
	s = s.using(c)
	p, err := s.prepare(ctx, c, name, req)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, c, p, start)
}

// prepare completes a valid request with what the collection called name keeps, and finds
// out what it needs.
func (s *Service) prepare(ctx context.Context, c index.Collection, name string, req Request) (plan, error) {
	req, version, err := withProfile(name, c.Profile(), req)
	if err != nil {
		return plan{}, err
	}
	p := req.plan(s.models.Pair != nil)
	p.profile, p.filter = version, s.filter(p.Filter)
	s.understand(ctx, c, &p)
	p.route()
	p.widen(c.Info().Schema)
	p.branches, err = p.branchesIn(c.Info())
	return p, err
}

// answer carries out what prepare found, begun at start.
func (s *Service) answer(ctx context.Context, c index.Collection, p plan, start time.Time) (*Response, error) {
	answer := &Response{Hits: []Hit{}, Mode: p.Mode, Candidates: map[braid.Branch]int{}, Routing: p.routing, ProfileVersion: p.profile}
	var err error
	if p.allowed, err = s.allow(ctx, c, p.filter, answer); err != nil {
		return nil, err
	}
	if err = s.match(ctx, c, &p, answer); err != nil {
		return nil, err
	}

	found, err := s.retrieve(ctx, c, p, answer)
	if err != nil {
		return nil, err
	}
	answer.VariantWeight = p.variantWeight()
	p.expansion = expansionOf(found)
	p.identify(ctx, c, found)
	if p.weigh(found); p.fuses() {
		answer.Fusion = p.Fusion.used(p.branches)
	}

	hits, err := fuse(p, found, &answer.Timings)
	if err != nil {
		return nil, err
	}
	// From here on the time is spent on what has been found already: a deadline
	// may cut the rerank short, but not keep the answer back.
	finishing := context.WithoutCancel(ctx)
	hits, read, err := fetch(finishing, c, p, hits, &answer.Timings)
	if err != nil {
		return nil, err
	}
	if p.rerank {
		hits = s.rerank(ctx, c.Info(), p, hits, read, answer)
	}
	if p.MinScore != nil && p.rerank && len(hits) > 0 && answer.Reranked == 0 {
		answer.Degraded = append(answer.Degraded, Degradation{Stage: "min_score", Code: braid.Unavailable,
			Message: "min_score was not applied: it is compared with the reranker's probabilities, and there are none"})
		p.MinScore = nil
	}
	answer.Hits = page(p, s.abstain(p, p.group(hits), answer))
	s.explain(finishing, c, p, answer)
	s.highlight(finishing, c, p, answer)
	answer.Timings.Total = milliseconds(time.Since(start))
	if ctx.Err() == context.Canceled {
		return nil, ctx.Err()
	}
	return answer, nil
}

// allow resolves filter once for all branches; nil is all documents.
func (s *Service) allow(ctx context.Context, c index.Collection, filter braid.Filter, answer *Response) (index.Set, error) {
	start := time.Now()
	set, err := s.resolve(ctx, c, filter)
	if err != nil || set == nil {
		return nil, err
	}
	n := set.Len()
	answer.Allowed = &n
	answer.Timings.Filter = milliseconds(time.Since(start))
	return set, nil
}

// branchesIn returns the branches of the mode that the collection has.
func (p plan) branchesIn(info index.Info) ([]braid.Branch, error) {
	var branches []braid.Branch
	for _, b := range p.Mode.branches() {
		if b == braid.Dense && info.Schema.Dense.Name == "" || b == braid.Sparse && info.Schema.Sparse.Name == "" {
			continue
		}
		branches = append(branches, b)
	}
	if len(branches) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "collection %q was made without a %s branch: use another mode", info.Name, p.Mode).In("mode")
	}
	if p.Hypothetical != "" && !slices.Contains(branches, braid.Dense) {
		return nil, braid.Errorf(braid.InvalidArgument, "hypothetical is for the dense branch, and collection %q was made without one", info.Name).In("hypothetical")
	}
	return branches, nil
}

// branchResult is what one branch brought back.
type branchResult struct {
	branch    braid.Branch
	hits      []braid.Hit  // of the query itself
	others    []ranking    // of its other wordings
	method    index.Method // of the dense branch
	usage     inference.Usage
	timing    inference.Timing   // of the encoder
	search    time.Duration      // of the index
	expansion braid.SparseVector // of the query, by the sparse branch
	err       error
}

// retrieve runs every branch side by side and waits for all of them. A branch
// that failed has no hits and is named in the answer; the error is set when
// every branch failed.
func (s *Service) retrieve(ctx context.Context, c index.Collection, p plan, answer *Response) ([]branchResult, error) {
	start := time.Now()
	results := make([]branchResult, len(p.branches))
	var wg sync.WaitGroup
	for i, b := range p.branches {
		wg.Go(func() { results[i] = s.runBranch(ctx, c, b, p) })
	}
	wg.Wait()
	answer.Timings.FirstStage = milliseconds(time.Since(start))

	failed := 0
	for i, r := range results {
		answer.Timings.addBranch(r)
		answer.Query.Tokens = max(answer.Query.Tokens, r.usage.Tokens)
		answer.Query.Truncated = answer.Query.Truncated || r.usage.Truncated
		if r.err != nil {
			failed++
			results[i].hits, results[i].others = nil, nil
			continue
		}
		answer.Candidates[r.branch] = r.passages()
		if r.branch == braid.Dense {
			answer.DenseMethod = r.method
		}
	}
	if failed == len(results) {
		return nil, results[0].err
	}
	for _, r := range results {
		if r.err != nil {
			answer.Degraded = append(answer.Degraded, s.degrade(ctx, c.Info().Name, string(r.branch), r.err))
		}
	}
	return results, nil
}

// runBranch encodes the query, in all its wordings, for one branch and retrieves.
func (s *Service) runBranch(ctx context.Context, c index.Collection, b braid.Branch, p plan) branchResult {
	r := branchResult{branch: b}
	wordings := p.wordings(b)
	var retrieve func(i int, q index.Query) ([]braid.Hit, error)
	switch b {
	case braid.Dense:
		if r.err = s.fitsDense(c.Info().Schema); r.err != nil {
			return r
		}
		var out []inference.Embedding
		if out, r.timing, r.err = p.encoded.embed(ctx, s, wordings); r.err != nil {
			return r
		}
		for _, o := range out {
			r.use(o.Usage)
		}
		retrieve = func(i int, q index.Query) ([]braid.Hit, error) { return c.SearchDense(ctx, out[i].Vector, q) }
	case braid.Sparse:
		if r.err = s.fitsSparse(c.Info().Schema); r.err != nil {
			return r
		}
		var out []inference.Expansion
		if out, r.timing, r.err = p.encoded.expand(ctx, s, wordings); r.err != nil {
			return r
		}
		for _, o := range out {
			r.use(o.Usage)
		}
		r.expansion = out[0].Vector
		retrieve = func(i int, q index.Query) ([]braid.Hit, error) { return c.SearchSparse(ctx, out[i].Vector, q) }
	case braid.Lexical:
		retrieve = func(i int, q index.Query) ([]braid.Hit, error) { return c.SearchLexical(ctx, wordings[i].text, q) }
	}
	start := time.Now()
	r.find(p, wordings, retrieve)
	r.search = time.Since(start)
	return r
}

func (t *Timings) addBranch(r branchResult) {
	t.Queue = max(t.Queue, milliseconds(r.timing.Queue))
	t.Tokenise = max(t.Tokenise, milliseconds(r.timing.Tokenise))
	switch r.branch {
	case braid.Dense:
		t.DenseEncode, t.DenseSearch = milliseconds(r.timing.Compute), milliseconds(r.search)
	case braid.Sparse:
		t.SparseEncode, t.SparseSearch = milliseconds(r.timing.Compute), milliseconds(r.search)
	case braid.Lexical:
		t.LexicalSearch = milliseconds(r.search)
	}
}

// fuse merges the rankings of a hybrid query; a mode of one branch keeps that
// branch's ranking and scores.
func fuse(p plan, found []branchResult, timings *Timings) ([]Hit, error) {
	start := time.Now()
	defer func() { timings.Fuse = milliseconds(time.Since(start)) }()
	if !p.fuses() {
		only := found[0]
		hits := make([]Hit, len(only.hits))
		for i, h := range only.hits {
			hits[i] = Hit{ID: h.ID, number: h.Passage, Score: h.Score, ScoreType: ScoreType(only.branch),
				Branches: map[braid.Branch]Found{only.branch: {Rank: i + 1, Score: h.Score}}}
		}
		return hits, nil
	}
	fused, err := fusion.Fuse(rankings(p, found), p.Fusion.options())
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(fused))
	for i, f := range fused {
		hits[i] = Hit{ID: f.ID, number: f.Passage, Score: f.Score, ScoreType: ScoreFused,
			Branches: make(map[braid.Branch]Found, len(f.Votes)),
			Fused:    &Found{Rank: i + 1, Score: f.Score},
			made:     making{votes: f.Votes}}
		for _, v := range f.Votes {
			hits[i].note(p, v)
		}
	}
	return hits, nil
}

// page applies the score threshold, cuts the list and numbers what is left.
func page(p plan, hits []Hit) []Hit {
	if p.MinScore != nil {
		kept := hits[:0]
		for _, h := range hits {
			if h.Score >= *p.MinScore && (!p.rerank || h.Rerank != nil) {
				kept = append(kept, h)
			}
		}
		hits = kept
	}
	hits = hits[:min(p.limit, len(hits))]
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits
}
