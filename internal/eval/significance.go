package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is how often a test permutes or an interval draws anew.
const Resamples = 10_000

// seed makes tests and intervals give the same answer each time.
const seed = 20090719

// slack is the rounding that sums of scores may differ by.
const slack = 1e-12

// Interval is a range of values, both ends included.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// RandomizationTest returns the two-sided p-value of the paired differences of
// two systems, one per query: how often their mean is as far from 0 as here if
// each had its sign by chance. It is Fisher's randomization test as described
// by Smucker, Allan, Carterette, "A comparison of statistical significance
// tests for information retrieval evaluation", CIKM 2007, with Resamples random
// assignments of signs. The assignment that was seen counts as one of them, so
// that p is never 0. Without differences p is 1.
func RandomizationTest(differences []float64) float64 {
	seen := math.Abs(sum(differences))
	random := rand.New(rand.NewPCG(seed, 1))
	asFar := 1
	for range Resamples {
		var total float64
		var signs uint64
		for i, d := range differences {
			if i%64 == 0 {
				signs = random.Uint64()
			}
			if signs&1 == 1 {
				d = -d
			}
			signs >>= 1
			total += d
		}
		if math.Abs(total) >= seen-slack {
			asFar++
		}
	}
	return float64(asFar) / (Resamples + 1)
}

// BootstrapInterval returns the 95 % percentile interval of the mean of the
// values, one per query, from Resamples samples with replacement: Efron,
// Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13. Without
// values it is 0 to 0. Of paired differences it is the interval of the change.
func BootstrapInterval(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	random := rand.New(rand.NewPCG(seed, 2))
	means := make([]float64, Resamples)
	for r := range means {
		var total float64
		for range values {
			total += values[random.IntN(len(values))]
		}
		means[r] = total / float64(len(values))
	}
	slices.Sort(means)
	return Interval{means[Resamples*25/1000], means[Resamples*975/1000-1]}
}

func sum(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}

func average(values []float64) float64 {
	return sum(values) / float64(max(len(values), 1))
}
