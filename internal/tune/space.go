package tune

import (
	"fmt"
	"maps"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/search"
)

// Space holds the values that are tried of each setting. A setting without
// values stays as it is.
type Space struct {
	Methods       []fusion.Method
	Ks            []int // of rrf
	Weights       []float64
	RerankWeights []float64
	RerankDepths  []int
	Candidates    []int
}

// DefaultSpace returns the values tried where nothing else is asked for. Weights
// count by their ratio, so steps are about half and double.
func DefaultSpace() Space {
	return Space{
		Methods:       fusion.Methods(),
		Ks:            []int{20, 40, 60, 80},
		Weights:       []float64{0, 0.2, 0.5, 1, 2, 4},
		RerankWeights: []float64{0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 1},
		RerankDepths:  []int{10, 20, 40},
		Candidates:    []int{50, 100, 200},
	}
}

// variant is a profile that differs from another in one setting.
type variant struct {
	profile search.Profile
	what    string // the setting and its value, as in the profile's JSON
}

// dimension is one setting: the variants of a profile in it.
type dimension struct {
	name     string
	variants func(p search.Profile) []variant
}

// dimensions returns the settings in the order they are tried: what decides
// which documents are seen before how the cross-encoder orders them.
func (s Space) dimensions(start search.Profile, branches []braid.Branch, rerankable bool) []dimension {
	all := []dimension{{"fusion", func(p search.Profile) []variant { return s.fusions(p, start) }}}
	for _, branch := range branches {
		if len(branches) > 1 {
			all = append(all, dimension{"weight of " + string(branch), func(p search.Profile) []variant { return s.weights(p, branch, branches) }})
		}
	}
	if rerankable {
		all = append(all, dimension{"rerank_weight", s.rerankWeights}, dimension{"rerank_depth", s.depths})
	}
	return append(all, dimension{"candidates", s.candidates})
}

// fusions keeps the weights and changes the method. Where the collection has no
// fusion of its own, going back to the weights of each kind of query is one too.
func (s Space) fusions(p, start search.Profile) []variant {
	var all []variant
	if p.Fusion != nil && start.Fusion == nil {
		back := p
		back.Fusion = nil
		all = append(all, variant{back, "fusion by the kind of query"})
	}
	var weights search.Weights
	if p.Fusion != nil {
		weights = p.Fusion.Weights
	}
	for _, method := range s.Methods {
		if method != fusion.RRF {
			q := p
			q.Fusion = &search.Fusion{Method: method, Weights: weights}
			all = append(all, variant{q, "fusion " + string(method)})
			continue
		}
		for _, k := range s.Ks {
			q := p
			q.Fusion = &search.Fusion{Method: method, K: &k, Weights: weights}
			all = append(all, variant{q, fmt.Sprintf("fusion %s, k %d", method, k)})
		}
	}
	return all
}

// weights changes the weight of one branch. Weights that depend on the kind of
// query become equal ones first.
func (s Space) weights(p search.Profile, branch braid.Branch, branches []braid.Branch) []variant {
	from := search.Fusion{Method: fusion.MinMax}
	if p.Fusion != nil {
		from = *p.Fusion
	}
	var all []variant
	for _, w := range s.Weights {
		weights := search.Weights{}
		for _, b := range branches {
			weights[b] = 1
		}
		maps.Copy(weights, from.Weights)
		weights[branch] = w
		if !slices.ContainsFunc(branches, func(b braid.Branch) bool { return weights[b] > 0 }) {
			continue
		}
		f := from
		f.Weights = weights
		q := p
		q.Fusion = &f
		all = append(all, variant{q, fmt.Sprintf("weight of %s %v", branch, w)})
	}
	return all
}

func (s Space) rerankWeights(p search.Profile) []variant {
	var all []variant
	on, off := true, false
	for _, w := range s.RerankWeights {
		q := p
		q.Rerank, q.RerankWeight = &on, &w
		all = append(all, variant{q, fmt.Sprintf("rerank_weight %v", w)})
	}
	if len(all) > 0 {
		q := p
		q.Rerank = &off
		all = append(all, variant{q, "no rerank"})
	}
	return all
}

func (s Space) depths(p search.Profile) []variant {
	if p.Rerank != nil && !*p.Rerank {
		return nil
	}
	var all []variant
	for _, n := range s.RerankDepths {
		q := p
		q.RerankDepth = &n
		all = append(all, variant{q, fmt.Sprintf("rerank_depth %d", n)})
	}
	return all
}

func (s Space) candidates(p search.Profile) []variant {
	var all []variant
	for _, n := range s.Candidates {
		q := p
		q.Candidates = &n
		all = append(all, variant{q, fmt.Sprintf("candidates %d", n)})
	}
	return all
}

// canonical returns a profile that answers as p does and is the same for all
// profiles that differ from it in the scale of their weights only.
func canonical(p search.Profile) search.Profile {
	if p.Fusion == nil || len(p.Fusion.Weights) == 0 {
		return p
	}
	highest := slices.Max(slices.Collect(maps.Values(p.Fusion.Weights)))
	if len(p.Fusion.Weights) < len(braid.Branches()) {
		highest = max(highest, 1) // what is not named weighs 1
	}
	f := *p.Fusion
	f.Weights = search.Weights{}
	for _, b := range braid.Branches() {
		w, named := p.Fusion.Weights[b]
		if !named {
			w = 1
		}
		f.Weights[b] = w / highest
	}
	p.Fusion = &f
	return p
}
