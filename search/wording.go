package search

import (
	"strconv"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// MaxVariants is the most other wordings of a query; each costs an encoding by
// every model and a retrieval in every branch.
const MaxVariants = 5

// variantShare is what the votes of all other wordings of a query weigh together,
// where the query's own weigh 1: however many there are, and most are made by
// a language model, they do not outvote what the user wrote.
const variantShare = 1.0

// wording is one way in which a query is asked. Number 0 is the query itself, 1 and
// on are Request.Variants, and after them comes Request.Hypothetical.
type wording struct {
	number int
	text   string
	role   inference.Role
}

// others returns the wordings besides the query itself that a branch is asked in. One
// that was there before has no second vote.
func (r Request) others() []wording {
	var list []wording
	seen := map[string]bool{r.Query: true}
	for i, text := range r.Variants {
		if !seen[text] {
			seen[text] = true
			list = append(list, wording{number: i + 1, text: text, role: inference.RoleQuery})
		}
	}
	if r.Hypothetical != "" {
		list = append(list, wording{number: len(r.Variants) + 1, text: r.Hypothetical, role: inference.RolePassage})
	}
	return list
}

// wordings returns what a branch is asked, the query first and texts of
// inference.RolePassage last. An answer that was made up is a passage, and only
// vectors of passages are near passages: as a bag of words it would be a query of a
// hundred words, most of them beside the point.
func (p plan) wordings(b braid.Branch) []wording {
	list := []wording{{text: p.Query, role: inference.RoleQuery}}
	for _, w := range p.others() {
		if b == braid.Dense || w.role == inference.RoleQuery {
			list = append(list, w)
		}
	}
	return list
}

// fuses reports whether the answer is made of several rankings.
func (r Request) fuses() bool { return r.mode() == ModeHybrid || len(r.others()) > 0 }

// variantWeight is the weight of one wording besides the query; nil without any.
func (p plan) variantWeight() *float64 {
	n := len(p.others())
	if n == 0 {
		return nil
	}
	w := variantShare / float64(n)
	return &w
}

// validateWordings reports what is wrong with the other wordings of the query.
func (r Request) validateWordings(mode Mode) error {
	if len(r.Variants) > MaxVariants {
		return braid.Errorf(braid.InvalidArgument, "variants holds %d texts, the limit is %d: send the best", len(r.Variants), MaxVariants).In("variants")
	}
	for i, text := range r.Variants {
		field := "variants[" + strconv.Itoa(i) + "]"
		if err := validateText(field, text); err != nil {
			return err
		}
	}
	if r.Hypothetical == "" {
		return nil
	}
	if mode != ModeHybrid && mode != ModeDense {
		return braid.Errorf(braid.InvalidArgument, "hypothetical is for the dense branch, this is mode %s: use hybrid or dense, or send it as one of the variants", mode).In("hypothetical")
	}
	return validateText("hypothetical", r.Hypothetical)
}

// ranking is what a branch found for another wording than the query.
type ranking struct {
	wording int
	hits    []braid.Hit
}

// use adds up the tokens of the wordings.
func (r *branchResult) use(u inference.Usage) {
	r.usage.Tokens += u.Tokens
	r.usage.Truncated = r.usage.Truncated || u.Truncated
}

// find retrieves for all wordings side by side.
func (r *branchResult) find(p plan, wordings []wording, retrieve func(i int, q index.Query) ([]braid.Hit, error)) {
	found := make([]ranking, len(wordings))
	errs := make([]error, len(wordings))
	ask := func(i int, method *index.Method) {
		found[i].wording = wordings[i].number
		found[i].hits, errs[i] = retrieve(i, index.Query{K: p.candidates, Allowed: p.allowed, Method: method})
	}
	var wg sync.WaitGroup
	for i := 1; i < len(wordings); i++ {
		wg.Go(func() { ask(i, nil) })
	}
	ask(0, &r.method)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			r.err = err
			return
		}
	}
	r.hits, r.others = found[0].hits, found[1:]
}

// passages is the number of passages the branch found, in whatever wording.
func (r branchResult) passages() int {
	if len(r.others) == 0 {
		return len(r.hits)
	}
	distinct := map[braid.Hit]bool{}
	add := func(hits []braid.Hit) {
		for _, h := range hits {
			distinct[h.Place()] = true
		}
	}
	add(r.hits)
	for _, other := range r.others {
		add(other.hits)
	}
	return len(distinct)
}

// rankings are what package fusion is to merge: one of each branch and wording.
func rankings(p plan, found []branchResult) []fusion.Ranking {
	var list []fusion.Ranking
	for _, r := range found {
		weight := p.Fusion.weight(r.branch)
		list = append(list, fusion.Ranking{Branch: r.branch, Weight: weight, Hits: r.hits})
		for _, other := range r.others {
			list = append(list, fusion.Ranking{Branch: r.branch, Wording: other.wording, Weight: weight * *p.variantWeight(), Hits: other.hits})
		}
	}
	return list
}

// VariantFound is a place in the ranking that one branch made for another wording
// of the query.
type VariantFound struct {
	Branch braid.Branch `json:"branch"`
	// Variant is the number of the wording in Request.Variants, from 1; absent for
	// Request.Hypothetical.
	Variant int `json:"variant,omitempty"`
	// Hypothetical says that the made-up answer found it.
	Hypothetical bool `json:"hypothetical,omitempty"`
	Found
}

// note adds a vote to what the hit says of itself.
func (h *Hit) note(p plan, v fusion.Vote) {
	found := Found{Rank: v.Rank, Score: v.Score, Contribution: &v.Contribution}
	switch {
	case v.Wording == 0:
		h.Branches[v.Branch] = found
	case v.Wording > len(p.Variants):
		h.Variants = append(h.Variants, VariantFound{Branch: v.Branch, Hypothetical: true, Found: found})
	default:
		h.Variants = append(h.Variants, VariantFound{Branch: v.Branch, Variant: v.Wording, Found: found})
	}
}
