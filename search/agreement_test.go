package search

import (
	"maps"
	"testing"

	"github.com/braid-search/braid"
)

// hits returns a ranking of one-letter ids, best first.
func hits(ids string) []braid.Hit {
	var out []braid.Hit
	for i, id := range ids {
		out = append(out, braid.Hit{ID: string(id), Score: float64(len(ids) - i)})
	}
	return out
}

func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		name                   string
		dense, sparse, lexical string
		want                   Agreement
	}{
		{"in half and nothing", "abcdefghijkl", "ajbicxyzuv", "klmnopqrst", Agreement{braid.Sparse: 0.5, braid.Lexical: 0}},
		{"the order does not count", "abcdefghij", "jihgfedcba", "ba", Agreement{braid.Sparse: 1, braid.Lexical: 1}},
		{"few hits", "abc", "axyz", "", Agreement{braid.Sparse: 0.25}},
		{"the eleventh does not count", "abcdefghijk", "k", "ak", Agreement{braid.Sparse: 0, braid.Lexical: 0.5}},
		{"no dense hits", "", "abc", "abc", nil},
	} {
		got := agreement([]branchResult{
			{branch: braid.Dense, hits: hits(c.dense)}, {branch: braid.Sparse, hits: hits(c.sparse)}, {branch: braid.Lexical, hits: hits(c.lexical)},
		})
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAgreementIsOfPassages(t *testing.T) {
	got := agreement([]branchResult{
		{branch: braid.Dense, hits: []braid.Hit{{ID: "a", Passage: 1}, {ID: "b"}}},
		{branch: braid.Sparse, hits: []braid.Hit{{ID: "a", Passage: 2}, {ID: "b"}}},
	})
	if want := (Agreement{braid.Sparse: 0.5}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWeigh(t *testing.T) {
	found := []branchResult{
		{branch: braid.Dense, hits: hits("abcd")}, {branch: braid.Sparse, hits: hits("abxy")}, {branch: braid.Lexical, hits: hits("uvwx")},
	}
	plans := func(req Request) plan {
		p := req.plan(true)
		p.route()
		p.weigh(found)
		return p
	}
	p := plans(Request{Query: "what does the pump do"})
	base := Routing{Kind: KindQuestion}.defaults().weights
	want := Weights{braid.Dense: base[braid.Dense], braid.Sparse: base[braid.Sparse] * 0.5, braid.Lexical: base[braid.Lexical] * leastAgreement}
	if !maps.Equal(p.Fusion.Weights, want) {
		t.Errorf("a question has weights %v, want %v", p.Fusion.Weights, want)
	}
	if p.routing.Agreement[braid.Sparse] != 0.5 {
		t.Errorf("the answer shows agreement %v, want 0.5 of sparse", p.routing.Agreement)
	}
	if p.rerankWeight != 0.5 {
		t.Errorf("the cross-encoder's share is %v, want SPLADE's agreement 0.5", p.rerankWeight)
	}
	if p := plans(Request{Query: "what does the pump do", Fusion: &Fusion{}}); p.rerankWeight != 0.5 || p.Fusion.Weights != nil {
		t.Errorf("with a fusion of its own: share %v, weights %v", p.rerankWeight, p.Fusion.Weights)
	}
	share := 0.9
	if p := plans(Request{Query: "what does the pump do", RerankWeight: &share}); p.rerankWeight != 0.9 || !maps.Equal(p.Fusion.Weights, want) {
		t.Errorf("with a share of its own: share %v, weights %v", p.rerankWeight, p.Fusion.Weights)
	}
	said := &Fusion{Weights: Weights{braid.Sparse: 3}}
	off := false
	for name, req := range map[string]Request{
		"all said":   {Query: "what does the pump do", Fusion: said, RerankWeight: &share},
		"no routing": {Query: "what does the pump do", Routing: &off},
		"other":      {Query: "pump pressure"},
		"identifier": {Query: "ERR-104"},
	} {
		before := req.plan(true)
		before.route()
		p := plans(req)
		if !maps.Equal(p.Fusion.Weights, before.Fusion.Weights) || p.routing != nil && p.routing.Agreement != nil {
			t.Errorf("%s: weights %v (%v), want %v", name, p.Fusion.Weights, p.routing, before.Fusion.Weights)
		}
	}
}
