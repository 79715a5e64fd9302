package bench

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{7}, 0.95, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{10, 20, 30, 40, 50}, 0.95, 48},
		{[]float64{2, 1}, 0, 1},
		{[]float64{2, 1}, 1, 2},
	} {
		if got := quantile(c.values, c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("quantile(%v, %v) is %v, want %v", c.values, c.q, got, c.want)
		}
	}
}

func TestQuantilesAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 1, 30).Draw(t, "values")
		low, high := rapid.Float64Range(0, 1).Draw(t, "low"), rapid.Float64Range(0, 1).Draw(t, "high")
		if low > high {
			low, high = high, low
		}
		f := figure(values)
		a, b := quantile(values, low), quantile(values, high)
		if a > b+1e-6 || a < f.Min-1e-6 || b > f.Max+1e-6 {
			t.Fatalf("quantiles %v and %v of %v are %v and %v", low, high, values, a, b)
		}
	})
}

// A ratio above 1 means that the first side is better, whichever way the metric
// counts, and it is taken pair by pair.
func TestPairUp(t *testing.T) {
	for _, c := range []struct {
		name string
		more bool
		want Figure
	}{
		{"more is better", true, Figure{Median: 2, Min: 0.5, Max: 4}},
		{"less is better", false, Figure{Median: 0.5, Min: 0.25, Max: 2}},
	} {
		got := pairUp("part", "work", metric{"m", c.more}, "a", "b", []float64{20, 10, 40}, []float64{10, 20, 10}).Ratio
		if got.Median != c.want.Median || got.Min != c.want.Min || got.Max != c.want.Max {
			t.Errorf("%s: the ratio is %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestAgree(t *testing.T) {
	vectors := agree("w", "c", [][]float32{{1, 0}, {0, 1}}, [][]float32{{2, 0}, {1, 1}})
	if math.Abs(vectors.LowestCosine-math.Sqrt2/2) > 1e-9 {
		t.Errorf("lowest cosine is %v, want that of the second text, 0.7071", vectors.LowestCosine)
	}
	scores := agree("w", "c", [][]float32{{1}, {-2}}, [][]float32{{1.5}, {-5}})
	if scores.LargestDifference != 3 {
		t.Errorf("largest difference is %v, want 3", scores.LargestDifference)
	}
}
