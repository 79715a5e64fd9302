package eval_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid/internal/eval"
)

func TestRandomizationTestOnKnownCases(t *testing.T) {
	for name, tc := range map[string]struct {
		differences []float64
		want        float64 // over all assignments of signs
	}{
		"none":                   {nil, 1},
		"no change":              {[]float64{0, 0, 0}, 1},
		"one query":              {[]float64{0.3}, 1},
		"five of the same sign":  {[]float64{1, 1, 1, 1, 1}, 2.0 / 32},
		"ten of the same sign":   {[]float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 2.0 / 1024},
		"four up, one down":      {[]float64{1, 1, 1, 1, -1}, 12.0 / 32},
		"1 2 3":                  {[]float64{1, 2, 3}, 2.0 / 8},
		"1 2 -3 is as far as 0":  {[]float64{1, 2, -3}, 1},
		"unchanged add nothing":  {[]float64{1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, 2.0 / 32},
		"as good as it is worse": {[]float64{0.5, -0.5}, 1},
	} {
		got := eval.RandomizationTest(tc.differences)
		// five standard deviations of a share of 10,000 draws
		if bound := 5*math.Sqrt(tc.want*(1-tc.want)/eval.Resamples) + 2e-4; math.Abs(got-tc.want) > bound {
			t.Errorf("%s: p is %v, want %v within %v", name, got, tc.want, bound)
		}
	}
}

func TestRandomizationTestIsSymmetricAndRepeats(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		forth, back := make([]float64, 70), make([]float64, 70)
		for i := range forth {
			forth[i] = random.NormFloat64() + 0.2
			back[i] = -forth[i]
		}
		p := eval.RandomizationTest(forth)
		if p <= 0 || p > 1 {
			t.Fatalf("p is %v", p)
		}
		if again := eval.RandomizationTest(forth); again != p {
			t.Errorf("p is %v, then %v", p, again)
		}
		if other := eval.RandomizationTest(back); other != p {
			t.Errorf("p is %v, with the systems exchanged %v", p, other)
		}
	}
}

func TestBootstrapInterval(t *testing.T) {
	if got := eval.BootstrapInterval(nil); got != (eval.Interval{}) {
		t.Errorf("of nothing: %v", got)
	}
	if got := eval.BootstrapInterval([]float64{0.25, 0.25, 0.25}); got != (eval.Interval{Low: 0.25, High: 0.25}) {
		t.Errorf("of one value: %v", got)
	}
	values := make([]float64, 400) // half 0, half 1: the mean has standard error 1/40
	for i := range values {
		values[i] = float64(i % 2)
	}
	got := eval.BootstrapInterval(values)
	if math.Abs(got.Low-(0.5-1.96/40)) > 0.005 || math.Abs(got.High-(0.5+1.96/40)) > 0.005 {
		t.Errorf("of a fair coin: %v, want 0.5 ± %v", got, 1.96/40)
	}
	if again := eval.BootstrapInterval(values); again != got {
		t.Errorf("interval is %v, then %v", got, again)
	}
}
