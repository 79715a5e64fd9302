package fusion

import "math"

// scale fills in Scaled and Contribution of one ranking's votes. bounds tells
// which score becomes 0 and which 1, from scores that descend and are not all
// equal; where they are all equal each becomes ifEqual.
func scale(votes []Vote, bounds func(scores []float64) (zero, one float64), ifEqual float64) {
	if len(votes) == 0 {
		return
	}
	scores := magnified(votes)
	var zero, one float64
	equal := scores[0] == scores[len(scores)-1]
	if !equal {
		zero, one = bounds(scores)
	}
	for i, s := range scores {
		v := &votes[i]
		if v.Scaled = ifEqual; !equal {
			v.Scaled = min(max((s-zero)/(one-zero), 0), 1)
		}
		v.Contribution = v.Weight * v.Scaled
	}
}

// magnified returns the scores times the power of two that brings the largest
// magnitude to 0.5..1. The methods do not depend on the unit of the scores, and
// so no sum or square of them can leave the range of a float64.
func magnified(votes []Vote) []float64 {
	largest := math.Max(math.Abs(votes[0].Score), math.Abs(votes[len(votes)-1].Score))
	_, exp := math.Frexp(largest)
	scores := make([]float64, len(votes))
	for i, v := range votes {
		scores[i] = math.Ldexp(v.Score, -exp)
	}
	return scores
}

func extremes(scores []float64) (lowest, highest float64) {
	return scores[len(scores)-1], scores[0]
}

// threeDeviations returns μ − 3σ and μ + 3σ, computed in two passes: the usual
// one-pass formula loses all digits where scores are large and close.
func threeDeviations(scores []float64) (below, above float64) {
	n := float64(len(scores))
	var sum, squares float64
	for _, s := range scores {
		sum += s
	}
	mean := sum / n
	for _, s := range scores {
		squares += (s - mean) * (s - mean)
	}
	reach := 3 * math.Sqrt(squares/n)
	return mean - reach, mean + reach
}
