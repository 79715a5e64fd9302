package eval_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

func metric(t testing.TB, name string) eval.Metric {
	t.Helper()
	m, err := eval.ParseMetric(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// testdata/ties.py made the values with trec_eval's code.
func TestMetricsAgreeWithTrecEvalOnTies(t *testing.T) {
	data, err := os.ReadFile("testdata/ties.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cases []struct {
			Judgments eval.Judgments
			Scores    map[string]float64
			Want      map[string]float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for i, c := range golden.Cases {
		ranked := eval.RankByScore(c.Scores)
		for name, want := range c.Want {
			if got := metric(t, name).Score(c.Judgments, ranked); math.Abs(got-want) > 1e-6 {
				t.Errorf("case %d: %s is %v, trec_eval has %v", i, name, got, want)
			}
			sums[name] += want
		}
	}
	if len(golden.Cases) != 50 || len(sums) != 13 {
		t.Fatalf("%d cases of %d metrics, want 50 of 13", len(golden.Cases), len(sums))
	}
	for name, sum := range sums {
		if sum < 1 || sum > 49 {
			t.Errorf("%s adds up to %v: the goldens show nothing", name, sum)
		}
	}
}

func TestParseMetric(t *testing.T) {
	for name, key := range map[string]string{
		"nDCG@10": "ndcg@10", "RR@10": "mrr@10", "R@100": "recall@100", "P@10": "precision@10",
		"Success@1": "success@1", "AP": "ap", "RR": "mrr", "nDCG": "ndcg",
	} {
		if m := metric(t, name); m.String() != name || m.Key() != key {
			t.Errorf("%q reads as %s with key %s, want key %s", name, m, m.Key(), key)
		}
	}
	for _, name := range []string{"", "ndcg@10", "R", "P", "Success", "R@", "R@0", "R@-1", "R@1001", "R@010", "R@+5", "R@ten", "MAP", "nDCG@10@5"} {
		if m, err := eval.ParseMetric(name); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%q reads as %v, %v, want %s", name, m, err, braid.InvalidArgument)
		}
	}
}

func TestMetricsCutTheRanking(t *testing.T) {
	judged, ranked := eval.Judgments{"a": 1, "b": 2}, []string{"x", "a", "y", "b"}
	for name, want := range map[string]float64{
		"RR@1": 0, "RR@2": 0.5, "Success@1": 0, "Success@2": 1, "P@4": 0.5, "P@8": 0.25, "R@2": 0.5, "AP": 0.5, "AP@2": 0.25,
	} {
		if got := metric(t, name).Score(judged, ranked); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
