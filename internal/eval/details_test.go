package eval_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/braid-search/braid/internal/eval"
)

func TestDetailsByClass(t *testing.T) {
	d := open(t, small(), "")
	r := score(t, d, map[string]eval.Run{"dense": {"q1": {"d1"}}})
	r.Classify(func(text string) string {
		if text == "one" {
			return "first"
		}
		return "second"
	})
	details := r.Details()
	if len(details.Classes) != 2 || details.Classes[0].Name != "first" || details.Classes[0].Queries != 1 ||
		details.Classes[0].Modes["dense"]["ndcg@10"] != 1 || details.Classes[1].Modes["dense"]["ndcg@10"] != 0 {
		t.Errorf("classes %+v", details.Classes)
	}
	if got, want := details.Intervals["dense"]["mrr@10"], eval.BootstrapInterval([]float64{0, 1}); got != want {
		t.Errorf("interval %v, want %v", got, want)
	}
}

func TestCandidatesOfBranches(t *testing.T) {
	d := &eval.Dataset{Queries: []eval.Query{
		{ID: "1", Judgments: eval.Judgments{"a": 1, "b": 2}},
		{ID: "2", Judgments: eval.Judgments{"c": 1, "x": 0}},
	}}
	c := d.Candidates(map[string]eval.Run{
		"dense":   {"1": {"a", "y"}, "2": {"x", "c"}},
		"lexical": {"1": {"b", "a", "z"}},
	}, 3)
	dense, lexical := c.Branches["dense"], c.Branches["lexical"]
	for name, pair := range map[string][2]float64{
		"dense finds half of 1 and all of 2": {dense.Recall, 0.75},
		"lexical finds all of 1":             {lexical.Recall, 0.5},
		"c is only dense's":                  {dense.Only, 0.5},
		"b is only lexical's":                {lexical.Only, 0.25},
		"dense always finds something":       {dense.Empty, 0},
		"lexical finds nothing for 2":        {lexical.Empty, 0.5},
		"together":                           {c.Recall, 1},
		"one of four, and none of two":       {c.Overlaps[0].Jaccard, 0.125},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if len(c.Overlaps) != 1 || c.Depth != 3 {
		t.Errorf("%+v", c)
	}
}

func TestLatencies(t *testing.T) {
	var times []float64
	for i := range 100 {
		times = append(times, float64(100-i))
	}
	got := eval.Latencies(map[string][]float64{"rerank": times, "fuse": {7}, "none": nil})
	want := map[string]eval.Latency{"rerank": {P50: 50, P95: 95}, "fuse": {P50: 7, P95: 7}, "none": {}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("latencies %v, want %v", got, want)
	}
}

func TestComparedQueriesShowTheirPlaces(t *testing.T) {
	d := open(t, small(), "")
	before := score(t, d, map[string]eval.Run{"dense": {}})
	now := score(t, d, map[string]eval.Run{"dense": {"q1": {"d1"}}})
	now.Places = map[string][][]eval.Place{"dense": {nil, {{Document: "d1", Grade: 1, Rank: 1}}}} // q2 stands before q1
	changes, err := eval.Compare(before, now, 1)
	if err != nil {
		t.Fatal(err)
	}
	if q := changes[0].Better[0]; q.Query != "q1" || q.Before != nil || len(q.After) != 1 || q.After[0].Document != "d1" {
		t.Errorf("better %+v", changes[0].Better)
	}
}
