package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

func TestPlattFindsTheCurveItWasDrawnFrom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	truth := search.Calibration{Slope: 1.2, Intercept: -0.7}
	var examples []example
	for range 20_000 {
		logit := 6*random.Float64() - 3
		examples = append(examples, example{logit, random.Float64() < truth.Confidence(logit)})
	}
	slope, intercept, err := platt(examples)
	// Four standard errors of a fit to so many.
	if err != nil || math.Abs(slope-truth.Slope) > 0.06 || math.Abs(intercept-truth.Intercept) > 0.08 {
		t.Errorf("fitted %v, %v, %v, want %+v", slope, intercept, err, truth)
	}
	c := Calibrated{Calibration: search.Calibration{Slope: slope, Intercept: intercept}}
	c.test(examples)
	if c.ECE > 0.02 || !c.Useful() || c.AUC < 0.8 {
		t.Errorf("tested %+v", c)
	}
}

func TestPlattAtItsLimits(t *testing.T) {
	// Kinds that do not overlap: without Platt's targets the slope would have no end.
	slope, intercept, err := platt([]example{{-12, false}, {-11, false}, {9, true}, {10, true}})
	if err != nil || !(slope > 0 && slope < 1) {
		t.Errorf("apart: %v, %v, %v", slope, intercept, err)
	}
	for name, examples := range map[string][]example{
		"none":          nil,
		"all found":     {{1, true}, {2, true}},
		"none found":    {{1, false}},
		"turned around": {{-5, true}, {-4, true}, {4, false}, {5, false}},
		"no difference": {{1, true}, {1, false}},
	} {
		if a, b, err := platt(examples); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: %v, %v, %v, want %s", name, a, b, err, braid.InvalidArgument)
		}
	}
}

func TestCalibrationIsMeasuredByHand(t *testing.T) {
	c := Calibrated{Calibration: search.Calibration{Slope: 1}}
	// Confidences 0.5, 0.5, 0.9, 0.1.
	nine := math.Log(9)
	c.test([]example{{0, true}, {0, false}, {nine + 1e-9, true}, {-nine, true}})
	for name, pair := range map[string][2]float64{
		"found": {c.Found, 0.75},
		"auc":   {c.AUC, (0.5 + 1 + 0) / 3},
		"ece":   {c.ECE, (0.1 + 0.9) / 4},
		"brier": {c.Brier, (0.25 + 0.25 + 0.01 + 0.81) / 4},
		"base":  {c.Base, 0.1875},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-6 {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if len(c.Bins) != 3 || c.Bins[1].Answers != 2 || c.Bins[1].Found != 0.5 || c.Useful() {
		t.Errorf("bins %+v", c.Bins)
	}
}

func TestOneLuckyQueryIsNoGain(t *testing.T) {
	before := make([]float64, 40)
	lucky, steady := slices.Clone(before), slices.Clone(before)
	lucky[0] = 0.9 // 0.0225 on average, and as much standard error
	lucky[1] = -0.1
	for i := range steady {
		steady[i] = 0.02
	}
	if gains(before, lucky) || !gains(before, steady) || gains(steady, before) || gains(before, before) {
		t.Errorf("one lucky query: %v, all a little: %v", gains(before, lucky), gains(before, steady))
	}
}
