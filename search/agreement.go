package search

import (
	"maps"

	"github.com/braid-search/braid"
)

// agreementDepth is how many hits at the top of two branches are compared.
const agreementDepth = 10

// leastAgreement keeps a branch that agrees in nothing from having no vote, and
// what it alone found from the answer.
const leastAgreement = 0.05

// Agreement says how far branches found what the dense branch found: the share of
// a branch's first agreementDepth hits, or of all it has, that are among the dense
// branch's first agreementDepth. A branch without hits is not in it.
type Agreement map[braid.Branch]float64

// agreement compares the rankings of found; nil if the dense branch has no hits.
func agreement(found []branchResult) Agreement {
	top := func(hits []braid.Hit) map[braid.Hit]bool {
		set := map[braid.Hit]bool{}
		for _, h := range hits[:min(agreementDepth, len(hits))] {
			set[h.Place()] = true
		}
		return set
	}
	var dense map[braid.Hit]bool
	for _, r := range found {
		if r.branch == braid.Dense {
			dense = top(r.hits)
		}
	}
	if len(dense) == 0 {
		return nil
	}
	a := Agreement{}
	for _, r := range found {
		if r.branch == braid.Dense || len(r.hits) == 0 {
			continue
		}
		own, shared := top(r.hits), 0
		for p := range own {
			if dense[p] {
				shared++
			}
		}
		a[r.branch] = float64(shared) / float64(len(own))
	}
	return a
}

// weigh makes the votes of branches count as far as they agree with the dense
// branch, and trusts the cross-encoder as far as SPLADE agrees, where the query's
// kind asks for it and nothing else was said.
func (p *plan) weigh(found []branchResult) {
	if !p.byAgreement || p.fusionSaid && p.RerankWeight != nil {
		return
	}
	p.routing.Agreement = agreement(found)
	if share, known := p.routing.Agreement[braid.Sparse]; known && p.RerankWeight == nil {
		p.rerankWeight = share
	}
	if p.fusionSaid {
		return
	}
	weights := maps.Clone(p.Fusion.Weights)
	for branch, share := range p.routing.Agreement {
		weights[branch] *= max(share, leastAgreement)
	}
	p.Fusion = &Fusion{Method: p.Fusion.Method, K: p.Fusion.K, Weights: weights}
}
