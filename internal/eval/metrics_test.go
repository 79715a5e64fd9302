package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid/internal/eval"
)

// scores are four measures of one ranking, as the goldens name them.
type scores struct {
	NDCG10    float64 `json:"ndcg@10"`
	MRR10     float64 `json:"mrr@10"`
	Recall20  float64 `json:"recall@20"`
	Recall100 float64 `json:"recall@100"`
}

func measure(j eval.Judgments, ranked []string) scores {
	return scores{j.NDCG(ranked, 10), j.ReciprocalRank(ranked, 10), j.Recall(ranked, 20), j.Recall(ranked, 100)}
}

func near(a, b scores, tolerance float64) bool {
	return math.Abs(a.NDCG10-b.NDCG10) <= tolerance && math.Abs(a.MRR10-b.MRR10) <= tolerance &&
		math.Abs(a.Recall20-b.Recall20) <= tolerance && math.Abs(a.Recall100-b.Recall100) <= tolerance
}

func TestMeasureByHand(t *testing.T) {
	log2 := math.Log2
	at := func(rank int, id string) []string { // id at rank, others before it
		ranked := make([]string, rank)
		for i := range ranked {
			ranked[i] = fmt.Sprint("other ", i)
		}
		ranked[rank-1] = id
		return ranked
	}
	tests := []struct {
		name   string
		judged eval.Judgments
		ranked []string
		want   scores
	}{
		{"perfect", eval.Judgments{"a": 1}, []string{"a", "b"}, scores{NDCG10: 1, MRR10: 1, Recall20: 1, Recall100: 1}},
		{"second", eval.Judgments{"a": 1}, []string{"b", "a"}, scores{NDCG10: 1 / log2(3), MRR10: 0.5, Recall20: 1, Recall100: 1}},
		{"graded, best last", eval.Judgments{"a": 2, "b": 1}, []string{"b", "a"},
			scores{NDCG10: (1 + 2/log2(3)) / (2 + 1/log2(3)), MRR10: 1, Recall20: 1, Recall100: 1}},
		{"the ideal has documents that were not found", eval.Judgments{"a": 1, "b": 1, "c": 1}, []string{"a"},
			scores{NDCG10: 1 / (1 + 1/log2(3) + 1/log2(4)), MRR10: 1, Recall20: 1.0 / 3, Recall100: 1.0 / 3}},
		{"negative grades are not relevant", eval.Judgments{"a": 1, "spam": -2}, []string{"spam", "a"},
			scores{NDCG10: 1 / log2(3), MRR10: 0.5, Recall20: 1, Recall100: 1}},
		{"rank 10 is in", eval.Judgments{"a": 1}, at(10, "a"), scores{NDCG10: 1 / log2(11), MRR10: 0.1, Recall20: 1, Recall100: 1}},
		{"rank 11 is out", eval.Judgments{"a": 1}, at(11, "a"), scores{Recall20: 1, Recall100: 1}},
		{"rank 20", eval.Judgments{"a": 1}, at(20, "a"), scores{Recall20: 1, Recall100: 1}},
		{"rank 21", eval.Judgments{"a": 1}, at(21, "a"), scores{Recall100: 1}},
		{"rank 100", eval.Judgments{"a": 1}, at(100, "a"), scores{Recall100: 1}},
		{"rank 101", eval.Judgments{"a": 1}, at(101, "a"), scores{}},
		{"no hits", eval.Judgments{"a": 1}, nil, scores{}},
		{"nothing relevant", eval.Judgments{"a": 0, "b": -1}, []string{"a", "b"}, scores{}},
		{"nothing judged", nil, []string{"a"}, scores{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := measure(tt.judged, tt.ranked)
			if !near(got, tt.want, 1e-12) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// testdata/golden.py made the values with trec_eval's code.
func TestMeasureAgreesWithTrecEval(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Judgments eval.Judgments
		Ranked    []string
		Want      scores
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i, c := range cases {
		got := measure(c.Judgments, c.Ranked)
		if !near(got, c.Want, 1e-6) {
			t.Errorf("case %d: got %+v, trec_eval has %+v", i, got, c.Want)
		}
		sum += c.Want.NDCG10
	}
	if len(cases) < 40 || sum == 0 {
		t.Errorf("%d cases whose nDCG adds up to %v: the goldens show nothing", len(cases), sum)
	}
}

func TestMeasureProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		judged := rapid.MapOf(rapid.StringMatching(`[a-h]{1,2}`), rapid.IntRange(-1, 3)).Draw(t, "judged")
		ranked := rapid.SliceOfDistinct(rapid.StringMatching(`[a-h]{1,2}`), rapid.ID).Draw(t, "ranked")
		got := measure(judged, ranked)
		for _, v := range []float64{got.NDCG10, got.MRR10, got.Recall20, got.Recall100} {
			if !(v >= 0 && v <= 1+1e-12) {
				t.Fatalf("%+v is not within 0..1", got)
			}
		}
		if got.Recall20 > got.Recall100 {
			t.Fatalf("%+v: recall falls with depth", got)
		}
		if len(ranked) < 2 {
			return
		}
		// Moving a better grade up never lowers nDCG.
		i := rapid.IntRange(1, len(ranked)-1).Draw(t, "swap")
		if judged[ranked[i]] > judged[ranked[i-1]] {
			ranked[i], ranked[i-1] = ranked[i-1], ranked[i]
			if after := eval.Judgments(judged).NDCG(ranked, 10); after < got.NDCG10-1e-12 {
				t.Fatalf("nDCG fell from %v to %v", got.NDCG10, after)
			}
		}
	})
}

func ExampleJudgments() {
	judged := eval.Judgments{"err-104": 2, "errors": 1}
	ranked := []string{"errors", "shipping", "err-104"}
	fmt.Printf("nDCG@10 %.4f, reciprocal rank %.1f, recall@20 %.1f\n", judged.NDCG(ranked, 10), judged.ReciprocalRank(ranked, 10), judged.Recall(ranked, 20))
	// Output:
	// nDCG@10 0.7602, reciprocal rank 1.0, recall@20 1.0
}
