package rerank

import "math"

// Probability is the logistic function 1/(1+e^−x) of a logit, computed in
// float64, where small values keep their digits and e^−x becomes infinite, and
// the result 0, only below −709. It is 0..1 and never falls as the logit rises;
// above a logit of about 36 it is exactly 1.
func Probability(logit float32) float64 {
	return 1 / (1 + math.Exp(-float64(logit)))
}
