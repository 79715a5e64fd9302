package search

import (
	"encoding/json"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
)

// Mode says which branches answer a query.
type Mode string

const (
	ModeDense   Mode = "dense"
	ModeSparse  Mode = "sparse"
	ModeLexical Mode = "lexical"
	ModeHybrid  Mode = "hybrid" // all branches the collection has, fused
)

// Modes returns every mode in the order they are shown.
func Modes() []Mode { return []Mode{ModeDense, ModeSparse, ModeLexical, ModeHybrid} }

// branches returns the branches a mode asks for.
func (m Mode) branches() []braid.Branch {
	switch m {
	case ModeDense:
		return []braid.Branch{braid.Dense}
	case ModeSparse:
		return []braid.Branch{braid.Sparse}
	case ModeLexical:
		return []braid.Branch{braid.Lexical}
	}
	return braid.Branches()
}

// Defaults and limits of a request. Candidates, rerank depth and limit are three
// budgets of their own: one that is given is never changed because of another.
const (
	DefaultLimit       = 10
	DefaultCandidates  = 100
	DefaultRerankDepth = 20
	// DefaultRerankWindow is what a cross-encoder of web questions judges best by,
	// and half the work on long passages (docs/decisions/rerank.md).
	DefaultRerankWindow = 160

	MaxLimit       = 1000
	MaxCandidates  = 10_000
	MaxRerankDepth = 1000
	MaxBudgetMS    = 60_000

	MinRerankWindow = 16
	MaxRerankWindow = 512

	MaxQueryBytes = 8 << 10
)

// Request is one query. Only Query is needed; absent fields take the defaults.
type Request struct {
	Query string `json:"query"`
	// Variants are other wordings of the query, at most MaxVariants. Every branch is
	// asked them too; their votes weigh together what the query's weigh, whatever
	// their number. A wording that occurs twice has one vote. The cross-encoder and
	// everything else looks at Query only.
	Variants []string `json:"variants,omitempty"`
	// Hypothetical is a made-up answer to the query (HyDE): the dense branch looks
	// for passages near it, encoded as a passage. It votes as a variant does.
	Hypothetical string `json:"hypothetical,omitempty"`
	Mode         Mode   `json:"mode,omitempty"` // default hybrid
	// GroupBy says what a hit is; GroupDocument if absent.
	GroupBy GroupBy `json:"group_by,omitempty"`
	// Limit is the number of hits returned: 1 to MaxLimit.
	Limit *int `json:"limit,omitempty"`
	// Candidates is the number of passages each branch retrieves: 1 to
	// MaxCandidates. The default grows with Limit and RerankDepth where these are
	// larger, and with Limit where documents are split and grouped.
	Candidates *int `json:"candidates,omitempty"`
	// Rerank switches the cross-encoder on or off. By default hybrid queries are
	// reranked when a reranker is loaded, the others are not.
	Rerank *bool `json:"rerank,omitempty"`
	// RerankDepth is the number of fused candidates given to the cross-encoder:
	// 1 to MaxRerankDepth.
	RerankDepth *int `json:"rerank_depth,omitempty"`
	// RerankWindow is how many tokens the cross-encoder reads of a long passage,
	// those that say most about the query: MinRerankWindow to MaxRerankWindow. A
	// passage is long if it has more than one and a half times as many, or more
	// than the model reads. Default DefaultRerankWindow; 0 is the beginning of the
	// passage, as much as the model reads.
	RerankWindow *int `json:"rerank_window,omitempty"`
	// BudgetMS bounds the time of the rerank, in milliseconds from 1 to
	// MaxBudgetMS: candidates that would take longer are not scored and stay as
	// they were fused, after those that were. Absent, there is no bound but the
	// request's.
	BudgetMS *int `json:"budget_ms,omitempty"`
	// RerankWeight is how far the cross-encoder is trusted: its share, from 0 to 1,
	// in the score that orders what it scored; the rest is the fused score's. At 1
	// it decides alone, and the score is its probability. By default a hybrid
	// query gets the weight of its kind (see Routing), any other 1.
	RerankWeight *float64 `json:"rerank_weight,omitempty"`
	// Fusion says how a hybrid query's rankings are merged. By default it is
	// "minmax", with the weights of the query's kind.
	Fusion *Fusion `json:"fusion,omitempty"`
	// Routing, when false, treats every hybrid query alike: a query is not looked
	// at to choose the default weights of branches and reranker.
	Routing *bool `json:"routing,omitempty"`
	// MinScore drops hits whose shown score is below it, after everything else;
	// for a bound on the cross-encoder's probability send RerankWeight 1.
	// In a reranked answer only hits that were scored are compared; the
	// rest of the list is dropped.
	MinScore *float64 `json:"min_score,omitempty"`
	// MinConfidence leaves an answer without hits whose confidence, which is 1 less
	// Response.NoAnswerProbability, is below it: 0 to 1.
	MinConfidence *float64 `json:"min_confidence,omitempty"`
	// Filter is what documents have to pass to be searched at all; nil is all.
	Filter *braid.Filter `json:"filter,omitempty"`
	// Syntax says whether a "phrase" in the query has to be in a document, and a -word
	// or -"phrase" must not be. By default they do in a query of at most twelve words,
	// except for a -word that documents have as an option of a program. It is not for
	// Variants.
	Syntax *bool `json:"syntax,omitempty"`
	// Explain asks for what the scores of the hits consist of. Limit is then at
	// most MaxExplained.
	Explain bool `json:"explain,omitempty"`
	// Highlight asks for where the hits match the query. Limit is then at most
	// MaxExplained.
	Highlight *Highlight `json:"highlight,omitempty"`

	calibration *Calibration // of the profile that completed the request
}

// Fusion chooses how rankings are merged; see package fusion for the formulas.
type Fusion struct {
	// Method is "rrf", "minmax" or "dbsf"; a Fusion without one is "rrf".
	Method fusion.Method `json:"method,omitempty"`
	// K is the constant of reciprocal rank fusion, at least 1; default 60.
	K *int `json:"k,omitempty"`
	// Weights per branch; a branch that is not named weighs 1.
	Weights Weights `json:"weights,omitempty"`
}

// Weights say how much the votes of branches count.
type Weights map[braid.Branch]float64

// UnmarshalJSON leaves out weights that are null: like every field, they are
// then absent, where a map would have them 0 and the branch without a vote.
func (w *Weights) UnmarshalJSON(data []byte) error {
	var given map[braid.Branch]*float64
	if err := json.Unmarshal(data, &given); err != nil {
		return braid.Errorf(braid.InvalidArgument, "fusion.weights must be an object of branches and numbers").In("fusion.weights")
	}
	*w = make(Weights, len(given))
	for branch, weight := range given {
		switch {
		case weight != nil:
			(*w)[branch] = *weight
		case !slices.Contains(braid.Branches(), branch):
			return unknownBranch(branch)
		}
	}
	return nil
}

func unknownBranch(branch braid.Branch) error {
	return braid.Errorf(braid.InvalidArgument, "fusion.weights names %q: the branches are dense, sparse and lexical", branch).In("fusion.weights")
}

// plan is a request with every default filled in and every limit checked.
type plan struct {
	Request
	limit, candidates, depth int
	rerank                   bool
	rerankWeight             float64
	routing                  *Routing           // nil: the query was not looked at
	byAgreement              bool               // weights not said wait for what the branches find
	fusionSaid               bool               // Fusion is of the request or the profile
	profile                  uint64             // version of what completed the request; 0: none
	branches                 []braid.Branch     // of the mode that the collection has
	encoded                  *encoded           // what the models made of it before; nil: nothing yet
	syntax                   *syntax            // nil: the query is words and nothing else
	filter                   braid.Filter       // of the caller and the request
	allowed                  index.Set          // what passes it; nil for all documents
	expansion                braid.SparseVector // of the query; empty if no sparse branch made one
}

// plan fills in the defaults of a request that is valid, except for those of the
// query's kind. rerankable says whether a reranker is loaded.
func (r Request) plan(rerankable bool) plan {
	p := plan{Request: r}
	p.Mode = r.mode()
	p.rerank = rerankable && p.Mode == ModeHybrid
	if r.Rerank != nil {
		p.rerank = *r.Rerank
	}
	p.limit = orDefault(r.Limit, DefaultLimit)
	p.candidates = orDefault(r.Candidates, DefaultCandidates)
	p.depth = orDefault(r.RerankDepth, DefaultRerankDepth)
	// A branch that retrieves fewer documents than are returned or reranked would
	// cut the answer short without anybody having asked for it.
	if r.Candidates == nil {
		p.candidates = max(p.candidates, p.limit)
		if p.rerank {
			p.candidates = max(p.candidates, p.depth)
		}
	}
	return p
}

// mode returns the request's, or the default.
func (r Request) mode() Mode {
	if r.Mode == "" {
		return ModeHybrid
	}
	return r.Mode
}

// orDefault returns what is given, or else a default.
func orDefault(given *int, fallback int) int {
	if given == nil {
		return fallback
	}
	return *given
}

// route fills in what depends on the kind of the query, once it is known what of it
// is text.
func (p *plan) route() {
	p.rerankWeight = 1
	if p.Mode == ModeHybrid {
		r := Routing{Kind: KindOther}
		if p.Routing == nil || *p.Routing {
			r = Route(p.Query)
			p.routing = &r
		}
		d := r.defaults()
		p.byAgreement, p.fusionSaid = d.byAgreement, p.Fusion != nil
		if !p.fusionSaid {
			p.Fusion = d.fusion()
		}
		p.rerankWeight = d.rerankWeight
	} else if p.fuses() && p.Fusion == nil {
		p.Fusion = &Fusion{Method: fusion.MinMax}
	}
	if p.RerankWeight != nil {
		p.rerankWeight = *p.RerankWeight
	}
}

// weight returns the weight of a branch's votes; f may be nil.
func (f *Fusion) weight(branch braid.Branch) float64 {
	if f != nil {
		if w, given := f.Weights[branch]; given {
			return w
		}
	}
	return 1
}

// options returns what package fusion needs to know; f may be nil.
func (f *Fusion) options() fusion.Options {
	if f == nil {
		return fusion.Options{}
	}
	return fusion.Options{Method: f.Method, K: f.K}
}

// used is the fusion as it is done with the branches at hand, nothing left to
// defaults.
func (f *Fusion) used(branches []braid.Branch) *Fusion {
	u := &Fusion{Method: f.Method, K: f.K, Weights: make(Weights, len(branches))}
	if u.Method == "" {
		u.Method = fusion.RRF
	}
	if u.Method == fusion.RRF && u.K == nil {
		k := fusion.DefaultK
		u.K = &k
	}
	for _, b := range branches {
		u.Weights[b] = f.weight(b)
	}
	return u
}
