package fusion

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/braid-search/braid"
)

// Ranking is what one branch found for one wording of the query, and how much its
// votes weigh.
type Ranking struct {
	Branch braid.Branch
	// Wording tells the rankings of one branch apart when a query is asked in
	// several wordings; 0 is the query itself. A branch votes once for each.
	Wording int
	// Weight is finite and not negative. With weight 0 the branch casts no
	// votes and brings in no document, but its ranks are shown in the votes of
	// documents that others brought in.
	Weight float64
	// Hits is sorted as braid.Hit.Before says, holds each passage once and
	// finite scores only. It may be empty.
	Hits []braid.Hit
}

// Result is one passage of the fused ranking. Its Score is the sum of the
// votes' Contributions, added in float64 from the smallest to the largest:
// an order that does not depend on which branch cast which vote, so that two
// passages with the same votes from different branches tie to the last bit.
type Result struct {
	braid.Hit
	Votes []Vote // one per ranking that holds the passage, in the order given
}

// Vote is what one ranking had to say about one passage.
type Vote struct {
	Branch  braid.Branch
	Wording int
	Rank    int     // in the branch's ranking, from 1
	Score   float64 // in the branch's own scale
	// Scaled is the score brought to 0..1 by MinMax or DBSF. RRF does not look
	// at scores and leaves it 0.
	Scaled float64
	Weight float64
	// Contribution is Weight/(k+Rank) for RRF and Weight·Scaled otherwise.
	Contribution float64
}

// name names the passage of a hit in an error.
func name(h braid.Hit) string {
	if h.Passage == 0 {
		return strconv.Quote(h.ID)
	}
	return fmt.Sprintf("passage %d of %q", h.Passage, h.ID)
}

// Fuse merges rankings into one. No rankings, or only empty ones, give no
// results and no error. A branch that failed is best passed as an empty
// ranking: it changes no passage's score.
//
// It fails with braid.InvalidArgument on invalid options, on a ranking that is
// not as Ranking describes, on a branch that occurs twice with the same wording and
// where rankings are given but all weights are 0. The rankings are read, not kept.
func Fuse(rankings []Ranking, opts Options) ([]Result, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if err := validate(rankings); err != nil {
		return nil, err
	}
	results := count(rankings, opts)
	slices.SortFunc(results, func(a, b Result) int {
		if a.Before(b.Hit) {
			return -1
		}
		return 1
	})
	if opts.Limit != nil && *opts.Limit < len(results) {
		results = results[:*opts.Limit]
	}
	return results, nil
}

// count gathers the votes of every passage and adds them up, in no
// particular order of passages.
func count(rankings []Ranking, opts Options) []Result {
	var results []Result
	at := make(map[braid.Hit]int) // to position in results
	for _, r := range rankings {
		for i, vote := range votes(r, opts) {
			p := r.Hits[i].Place()
			pos, seen := at[p]
			if !seen {
				pos = len(results)
				at[p] = pos
				results = append(results, Result{Hit: p, Votes: make([]Vote, 0, len(rankings))})
			}
			results[pos].Votes = append(results[pos].Votes, vote)
		}
	}
	results = slices.DeleteFunc(results, func(r Result) bool {
		return !slices.ContainsFunc(r.Votes, func(v Vote) bool { return v.Weight > 0 })
	})
	for i := range results {
		results[i].Score = total(results[i].Votes)
	}
	return results
}

// votes returns the vote of the ranking for each of its hits.
func votes(r Ranking, opts Options) []Vote {
	cast := make([]Vote, len(r.Hits))
	for i, hit := range r.Hits {
		cast[i] = Vote{Branch: r.Branch, Wording: r.Wording, Rank: i + 1, Score: hit.Score, Weight: r.Weight}
	}
	switch opts.method() {
	case RRF:
		// One rounding per vote: w/(k+rank) rather than w·(1/(k+rank)), so that
		// votes equal by the formula are equal in bits.
		for i := range cast {
			cast[i].Contribution = r.Weight / (opts.k() + float64(cast[i].Rank))
		}
	case MinMax:
		scale(cast, extremes, 1)
	case DBSF:
		scale(cast, threeDeviations, 0.5)
	}
	return cast
}

// total adds the contributions in the order Result documents.
func total(votes []Vote) float64 {
	parts := make([]float64, len(votes))
	for i, v := range votes {
		parts[i] = v.Contribution
	}
	slices.Sort(parts)
	var sum float64
	for _, p := range parts {
		sum += p
	}
	return sum
}

// validate reports the first fault of the rankings.
func validate(rankings []Ranking) error {
	type voter struct {
		branch  braid.Branch
		wording int
	}
	voters := make(map[voter]bool, len(rankings))
	var weights float64
	for _, r := range rankings {
		v := voter{r.Branch, r.Wording}
		if voters[v] {
			return braid.Errorf(braid.InvalidArgument, "fuse rankings: branch %q occurs twice with wording %d: a branch votes once for each wording", v.branch, v.wording)
		}
		voters[v] = true
		if !(r.Weight >= 0) || math.IsInf(r.Weight, 1) {
			return braid.Errorf(braid.InvalidArgument, "fuse rankings: weight of branch %q is %v, want a finite number of at least 0", r.Branch, r.Weight).In("weights")
		}
		weights += r.Weight
		if err := validateHits(r); err != nil {
			return err
		}
	}
	switch {
	case len(rankings) > 0 && weights == 0:
		return braid.Errorf(braid.InvalidArgument, "fuse rankings: all weights are 0, nobody has a vote: give one branch a positive weight").In("weights")
	case math.IsInf(weights, 1):
		return braid.Errorf(braid.InvalidArgument, "fuse rankings: the weights add up to more than a float64 holds: only their ratio matters, use smaller ones").In("weights")
	}
	return nil
}

func validateHits(r Ranking) error {
	ranks := make(map[braid.Hit]int, len(r.Hits))
	for i, hit := range r.Hits {
		if math.IsNaN(hit.Score) || math.IsInf(hit.Score, 0) {
			return braid.Errorf(braid.InvalidArgument, "fuse rankings: branch %q: score of %s at rank %d is %v: non-finite", r.Branch, name(hit), i+1, hit.Score)
		}
		if first, twice := ranks[hit.Place()]; twice {
			return braid.Errorf(braid.InvalidArgument, "fuse rankings: branch %q holds %s twice, at ranks %d and %d", r.Branch, name(hit), first, i+1)
		}
		ranks[hit.Place()] = i + 1
		if i > 0 && !r.Hits[i-1].Before(hit) {
			return braid.Errorf(braid.InvalidArgument, "fuse rankings: branch %q is not sorted by score, id and passage: %s (%v) at rank %d stands before %s (%v)",
				r.Branch, name(r.Hits[i-1]), r.Hits[i-1].Score, i, name(hit), hit.Score)
		}
	}
	return nil
}
