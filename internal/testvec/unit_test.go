package testvec_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid/internal/testvec"
)

func TestUnit(t *testing.T) {
	draw := func() []float32 { return testvec.Unit(rand.New(rand.NewPCG(1, 2)), 48) }
	v := draw()
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if len(v) != 48 || math.Abs(sum-1) > 1e-6 {
		t.Errorf("%d components with squares that add up to %v, want 48 and 1", len(v), sum)
	}
	if !slices.Equal(draw(), v) {
		t.Error("the same source gives another vector")
	}
}
