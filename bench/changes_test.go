package bench

import (
	"math"
	"strings"
	"testing"

	"github.com/braid-search/braid"
)

func reportOf(ms ...float64) *Report {
	r := &Report{Commit: "c"}
	rates := make([]float64, len(ms))
	for i, v := range ms {
		rates[i] = 1000 / v
	}
	r.Comparisons = []Comparison{
		pairUp(Servers, "queries", metric{name: "p50 ms"}, "braid", "peer", ms, ms),
		pairUp(Servers, "queries", metric{"requests/s", true}, "braid", "peer", rates, rates),
	}
	r.Stages = []Stage{{"hybrid", "rerank", figure(ms), figure(ms)}}
	r.Loads = []RateLoad{{Workload: "search", Share: 0.5, P50: figure(ms), P95: figure(ms), P99: figure(ms)}}
	return r
}

// More milliseconds and fewer requests a second are worse; figures whose rounds
// mix, or that moved little, get no verdict.
func TestChanges(t *testing.T) {
	before := reportOf(10, 10.1, 10.2)
	for _, tc := range []struct {
		after   *Report
		ratio   float64
		verdict string
	}{
		{reportOf(20, 20.2, 20.4), 0.5, "worse"},
		{reportOf(5, 5.05, 5.1), 2, "better"},
		{reportOf(10.1, 10.1, 10.1), 1, ""},
		{reportOf(10.3, 10.35, 10.4), 10.1 / 10.35, ""}, // apart, but by 2 %
		{reportOf(20, 20), 10.1 / 20, ""},               // too few rounds
		{reportOf(10, 12, 14), 10.1 / 12, ""},           // 19 %, but the rounds mix
	} {
		changes := Changes(before, tc.after)
		if len(changes) != 9 {
			t.Fatalf("%d changes, want 9: %+v", len(changes), changes)
		}
		for _, c := range changes {
			if strings.HasSuffix(c.What, "against peer") {
				if c.Ratio != 1 || c.Verdict != "" {
					t.Errorf("%s: %+v, though both peers changed alike", c.What, c)
				}
				continue
			}
			if math.Abs(c.Ratio-tc.ratio) > 1e-9 || c.Verdict != tc.verdict || c.Low > c.Ratio || c.High < c.Ratio {
				t.Errorf("%s: %+v, want ratio %g, verdict %q", c.What, c, tc.ratio, tc.verdict)
			}
		}
	}
}

func TestWriteChanges(t *testing.T) {
	before, after := reportOf(10, 10.1, 10.1), reportOf(20, 20.2, 20.2)
	after.Commit, after.Machine.Cores = "d", 4
	var text strings.Builder
	if err := WriteChanges(&text, before, after); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# d against c", "**The cores differ**: 0, then 4", "| stages: hybrid, rerank, p50 ms | 10.1 (10.0–10.1) | 20.2 (20.0–20.2) | 0.50 (0.50–0.51) | worse |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, text.String())
		}
	}
	text.Reset()
	if err := WriteChanges(&text, &Report{}, after); err != nil || !strings.Contains(text.String(), "no figure in common") {
		t.Errorf("got %v, %s", err, text.String())
	}
}

// The sign test: reference values are sums of binomial coefficients over 2^n.
func TestAtLeast(t *testing.T) {
	for _, tc := range []struct {
		n, k int
		want float64
	}{{15, 13, 121.0 / 32768}, {15, 12, 576.0 / 32768}, {7, 7, 1.0 / 128}, {4, 0, 1}, {4, 5, 0}} {
		if got := atLeast(tc.n, tc.k); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("%d of %d: %g, want %g", tc.k, tc.n, got, tc.want)
		}
	}
}

func TestJudge(t *testing.T) {
	pairs := func(over, under int) []float64 {
		var list []float64
		for range over {
			list = append(list, 1.1)
		}
		for range under {
			list = append(list, 1.04)
		}
		return list
	}
	for _, tc := range []struct {
		over, under int
		fails       bool
	}{{15, 0, true}, {13, 2, true}, {12, 3, false}, {0, 15, false}, {7, 0, true}, {6, 1, false}} {
		g := judge("w", pairs(tc.over, tc.under), 5)
		if g.Fails != tc.fails || g.Over != tc.over || g.Pairs != tc.over+tc.under {
			t.Errorf("%d over, %d under: %+v", tc.over, tc.under, g)
		}
	}
}

func TestGateRefuses(t *testing.T) {
	if _, err := Gate(t.Context(), Config{}, "a", "b", LeastPairs-1); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("too few pairs: got %v", err)
	}
}
