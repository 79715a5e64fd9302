package testvec

import (
	"math"
	"math/rand/v2"
)

// Unit returns a vector of length 1 with dim components, in a direction drawn from
// random, all alike. Fixtures depend on it: the same random gives the same bits.
func Unit(random *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	var norm float64
	for i := range v {
		v[i] = float32(random.NormFloat64())
		norm += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}
