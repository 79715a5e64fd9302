package tune

import (
	"math"

	"github.com/braid-search/braid"
)

// example is an answer's highest logit, and whether it held something relevant.
type example struct {
	logit float64
	found bool
}

// platt fits p(found) = 1/(1+e^−(slope·logit+intercept)) by maximum likelihood:
// Platt, "Probabilistic Outputs for Support Vector Machines", 1999, with the
// targets given there, which keep few examples from a fit without doubt, by
// Newton's method with backtracking as in Lin, Lin, Weng, "A note on Platt's
// probabilistic outputs for support vector machines", Machine Learning 68, 2007.
// It fails with braid.InvalidArgument when the examples are all of one kind, or
// higher logits do not speak for something relevant.
func platt(examples []example) (slope, intercept float64, err error) {
	var found float64
	for _, e := range examples {
		if e.found {
			found++
		}
	}
	missed := float64(len(examples)) - found
	if found == 0 || missed == 0 {
		return 0, 0, braid.Errorf(braid.InvalidArgument, "calibrate: of %d answers %v hold something relevant: there must be answers of both kinds", len(examples), found)
	}
	high, low := (found+1)/(found+2), 1/(missed+2)
	target := func(e example) float64 {
		if e.found {
			return high
		}
		return low
	}
	loss := func(a, b float64) float64 {
		var sum float64
		for _, e := range examples {
			z := a*e.logit + b
			// −t·log p − (1−t)·log(1−p), without overflow.
			sum += math.Max(z, 0) - target(e)*z + math.Log1p(math.Exp(-math.Abs(z)))
		}
		return sum
	}
	a, b := 0.0, math.Log((found+1)/(missed+1))
	current := loss(a, b)
	for range 100 {
		h11, h22, h21, g1, g2 := 1e-12, 1e-12, 0.0, 0.0, 0.0
		for _, e := range examples {
			p := 1 / (1 + math.Exp(-(a*e.logit + b)))
			d := p * (1 - p)
			h11 += e.logit * e.logit * d
			h21 += e.logit * d
			h22 += d
			g1 += e.logit * (p - target(e))
			g2 += p - target(e)
		}
		if math.Abs(g1) < 1e-8 && math.Abs(g2) < 1e-8 {
			break
		}
		det := h11*h22 - h21*h21
		da, db := -(h22*g1-h21*g2)/det, -(h11*g2-h21*g1)/det
		falls := g1*da + g2*db
		step := 1.0
		for ; step > 1e-10; step /= 2 {
			if next := loss(a+step*da, b+step*db); next < current+1e-4*step*falls {
				a, b, current = a+step*da, b+step*db, next
				break
			}
		}
		if step <= 1e-10 {
			break
		}
	}
	if !(a > 0) || math.IsInf(a, 0) || math.IsNaN(b) || math.IsInf(b, 0) {
		return 0, 0, braid.Errorf(braid.InvalidArgument, "calibrate: answers with something relevant do not have higher logits: this reranker cannot tell them on these queries")
	}
	return a, b, nil
}
