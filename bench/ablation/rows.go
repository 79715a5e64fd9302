package main

import (
	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/search"
)

// stage is a group of rows that are compared with the first of them.
type stage struct {
	name string
	rows []row
}

// row is a way to ask.
type row struct {
	name   string
	what   string // says what differs from the defaults
	off    bool   // an idea is left out; else one is done in another way
	timed  bool   // the answers depend on the times
	change func(r *search.Request, kind search.Routing)
}

// request is how the row asks for a query.
func (s stage) request(w row, query string) search.Request {
	rerank := s.name == reranked
	r := search.Request{Query: query, Rerank: &rerank}
	if w.change != nil {
		w.change(&r, search.Route(query))
	}
	return r
}

const (
	firstStage = "first stage"
	reranked   = "reranked"
)

func stages() []stage {
	return []stage{
		{firstStage, append([]row{{name: "defaults", what: "rerank off"}}, fusionRows()...)},
		{reranked, append([]row{{name: "defaults", what: "depth 20, windows of 160"}}, rerankRows()...)},
	}
}

func minmax(dense, sparse, lexical float64) *search.Fusion {
	return &search.Fusion{Method: fusion.MinMax, Weights: search.Weights{braid.Dense: dense, braid.Sparse: sparse, braid.Lexical: lexical}}
}

// The weights of docs/decisions/defaults.md, as they are before a query's hits are
// looked at.
func questionWeights() *search.Fusion   { return minmax(1, 1.6, 0.4) }
func identifierWeights() *search.Fusion { return minmax(0.2, 0.2, 1) }
func otherWeights() *search.Fusion      { return minmax(1, 0.5, 0.7) }

const otherShare = 0.3 // of the cross-encoder

func fusionRows() []row {
	return []row{
		{name: "no routing", what: "every query has the weights of kind other", off: true, change: noRouting},
		{name: "no agreement", what: "questions have fixed weights, 1 : 1.6 : 0.4", off: true, change: noAgreement},
		{name: "no identifiers", what: "queries of codes have the weights of kind other", off: true, change: noIdentifiers},
		{name: "identifiers not looked up", what: "codes that no document holds are trusted too", off: true, change: func(r *search.Request, kind search.Routing) {
			if kind.Kind == search.KindIdentifier {
				r.Fusion = identifierWeights()
			}
		}},
		{name: "no syntax", what: "quotes and minus signs are text", off: true, change: noSyntax},
		{name: "no weights", what: "min-max 1 : 1 : 1", off: true, change: func(r *search.Request, _ search.Routing) { r.Fusion = minmax(1, 1, 1) }},
		{name: "RRF", what: "k = 60, 1 : 1 : 1", change: rrf},
		{name: "dense only", what: "mode dense", off: true, change: mode(search.ModeDense)},
		{name: "SPLADE only", what: "mode sparse", off: true, change: mode(search.ModeSparse)},
		{name: "BM25 only", what: "mode lexical", off: true, change: mode(search.ModeLexical)},
	}
}

func rerankRows() []row {
	return []row{
		{name: "no rerank", what: "the fused order", off: true, change: func(r *search.Request, _ search.Routing) { off := false; r.Rerank = &off }},
		{name: "logit only", what: "the cross-encoder alone orders", off: true, change: share(1)},
		{name: "share ½", what: "of the cross-encoder, for every query", change: share(0.5)},
		{name: "no agreement", what: "fixed weights, and a share of 0.3", off: true, change: noAgreement},
		{name: "no routing", what: "every query is of kind other", off: true, change: noRouting},
		{name: "RRF", what: "k = 60, 1 : 1 : 1", change: rrf},
		{name: "no window", what: "the beginning of a passage, up to 512 tokens", off: true, change: window(0)},
		{name: "window 128", what: "tokens", change: window(128)},
		{name: "window 96", what: "tokens", change: window(96)},
		{name: "depth 10", what: "candidates", change: depth(10)},
		{name: "depth 40", what: "candidates", change: depth(40)},
		{name: "budget 50", what: "ms", timed: true, change: budget(50)},
		{name: "budget 100", what: "ms", timed: true, change: budget(100)},
		{name: "budget 200", what: "ms", timed: true, change: budget(200)},
	}
}

func noRouting(r *search.Request, _ search.Routing) { off := false; r.Routing = &off }
func noSyntax(r *search.Request, _ search.Routing)  { off := false; r.Syntax = &off }

func rrf(r *search.Request, _ search.Routing) { r.Fusion = &search.Fusion{Method: fusion.RRF} }

// noAgreement fixes what depends on it.
func noAgreement(r *search.Request, kind search.Routing) {
	if kind.Kind != search.KindQuestion || kind.Identifiers != nil {
		return
	}
	weight := otherShare
	r.Fusion = questionWeights()
	if r.Rerank != nil && *r.Rerank {
		r.RerankWeight = &weight
	}
}

func noIdentifiers(r *search.Request, kind search.Routing) {
	if kind.Kind == search.KindIdentifier {
		r.Fusion = otherWeights()
	}
}

func mode(m search.Mode) func(*search.Request, search.Routing) {
	return func(r *search.Request, _ search.Routing) { r.Mode = m }
}

func share(weight float64) func(*search.Request, search.Routing) {
	return func(r *search.Request, _ search.Routing) { r.RerankWeight = &weight }
}

func window(tokens int) func(*search.Request, search.Routing) {
	return func(r *search.Request, _ search.Routing) { r.RerankWindow = &tokens }
}

func depth(candidates int) func(*search.Request, search.Routing) {
	return func(r *search.Request, _ search.Routing) { r.RerankDepth = &candidates }
}

func budget(ms int) func(*search.Request, search.Routing) {
	return func(r *search.Request, _ search.Routing) { r.BudgetMS = &ms }
}
