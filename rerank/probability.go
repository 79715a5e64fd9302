package rerank

import (
	"math"

	"github.com/braid-search/braid"
)

// Probability is the logistic function 1/(1+e^−x) of a logit, computed in
// float64, where small values keep their digits and e^−x becomes infinite, and
// the result 0, only below −709. It is 0..1 and never falls as the logit rises;
// above a logit of about 36 it is exactly 1.
func Probability(logit float32) float64 {
	return 1 / (1 + math.Exp(-float64(logit)))
}

// AtLeast returns, in a new slice and in their order, the items whose
// Probability is threshold or more. Items that were not scored have no
// probability and never pass. It fails with braid.InvalidArgument on a
// threshold outside 0..1.
func AtLeast(items []Item, threshold float64) ([]Item, error) {
	if !(threshold >= 0 && threshold <= 1) {
		return nil, braid.Errorf(braid.InvalidArgument, "rerank threshold is %v, want a probability from 0 to 1", threshold).In("threshold")
	}
	kept := make([]Item, 0, len(items))
	for _, item := range items {
		if item.Scored && item.Probability >= threshold {
			kept = append(kept, item)
		}
	}
	return kept, nil
}
