package eval_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

func score(t *testing.T, d *eval.Dataset, runs map[string]eval.Run) *eval.Results {
	t.Helper()
	r := d.Results()
	for mode, run := range runs {
		if err := d.Score(r, mode, run, eval.DefaultMetrics()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestReportKeepsItsNames(t *testing.T) {
	d := open(t, small(), "")
	got, err := json.Marshal(score(t, d, map[string]eval.Run{"dense": {"q1": {"d1"}, "q9": {"d1"}}}).Report())
	want := `{"dataset":"small","qrels":"test","queries":2,"modes":{"dense":{"mrr@10":0.5,"ndcg@10":0.5,"recall@100":0.5,"recall@20":0.5}}}`
	if err != nil || string(got) != want {
		t.Errorf("report %s, %v\nwant   %s", got, err, want)
	}
	twice := eval.Run{"q1": {"d1", "d1"}}
	if err := d.Score(d.Results(), "dense", twice, eval.DefaultMetrics()); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("an id twice: %v, want %s", err, braid.InvalidArgument)
	}
}

func TestCompareWithSaved(t *testing.T) {
	d := open(t, small(), "")
	before := score(t, d, map[string]eval.Run{"dense": {"q1": {"d1"}, "q2": {"d1"}}, "sparse": {}})
	path := filepath.Join(t.TempDir(), "before.json")
	if err := before.Save(path); err != nil {
		t.Fatal(err)
	}
	saved, err := eval.LoadResults(path)
	if err != nil || !reflect.DeepEqual(saved, before) {
		t.Fatalf("loaded %+v, %v, want %+v", saved, err, before)
	}
	saved.Queries[0], saved.Queries[1] = saved.Queries[1], saved.Queries[0] // another order of the same queries
	for _, scores := range saved.Modes {
		for _, s := range scores {
			s[0], s[1] = s[1], s[0]
		}
	}
	now := score(t, d, map[string]eval.Run{"dense": {"q1": {"d2", "d1"}, "q2": {"d2"}}, "lexical": {}})
	changes, err := eval.Compare(saved, now, 5)
	if err != nil || len(changes) != 4 {
		t.Fatalf("changes %+v, %v, want those of four metrics of dense", changes, err)
	}
	c := changes[1]
	if c.Mode != "dense" || c.Metric != "RR@10" || c.Before != 0.5 || c.After != 0.75 || c.P < 0.45 || c.Interval.Low != -0.5 || c.Interval.High != 1 {
		t.Errorf("change %+v", c)
	}
	if want := []eval.QueryChange{{Query: "q2", Text: "two", Change: 1}}; !reflect.DeepEqual(c.Better, want) {
		t.Errorf("better %v, want %v", c.Better, want)
	}
	if want := []eval.QueryChange{{Query: "q1", Text: "one", Change: -0.5}}; !reflect.DeepEqual(c.Worse, want) {
		t.Errorf("worse %v, want %v", c.Worse, want)
	}
	same, err := eval.Compare(now, now, 5)
	if err != nil || same[0].P != 1 || same[0].Better != nil || same[0].Worse != nil || same[0].Interval != (eval.Interval{}) {
		t.Errorf("nothing changed: %+v, %v", same, err)
	}
}

func TestFell(t *testing.T) {
	for _, tc := range []struct {
		before, after float64
		fell          bool
	}{{0.5, 0.5, false}, {0.5, 0.495, false}, {0.5, 0.4949, true}, {0.5, 0.6, false}} {
		if got := (eval.Change{Before: tc.before, After: tc.after}).Fell(0.005); got != tc.fell {
			t.Errorf("from %v to %v: fell %v", tc.before, tc.after, got)
		}
	}
}

func TestCompareRefusesOtherQueries(t *testing.T) {
	d := open(t, small(), "")
	now := score(t, d, map[string]eval.Run{"dense": {}})
	for name, alter := range map[string]func(r *eval.Results){
		"dataset": func(r *eval.Results) { r.Dataset = "other" },
		"qrels":   func(r *eval.Results) { r.Qrels = "dev" },
		"query":   func(r *eval.Results) { r.Queries[0] = "q7" },
		"fewer":   func(r *eval.Results) { r.Queries = r.Queries[:1] },
		"modes":   func(r *eval.Results) { delete(r.Modes, "dense") },
	} {
		other := score(t, d, map[string]eval.Run{"dense": {}})
		alter(other)
		if c, err := eval.Compare(other, now, 5); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("another %s: %+v, %v, want %s", name, c, err, braid.InvalidArgument)
		}
	}
}

func TestLoadResultsRefuses(t *testing.T) {
	if _, err := eval.LoadResults(filepath.Join(t.TempDir(), "absent")); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no file: %v, want %s", err, braid.NotFound)
	}
	for name, text := range map[string]string{
		"not JSON":   `x`,
		"a report":   `{"dataset":"d","queries":3}`,
		"nothing":    `{}`,
		"metric":     `{"queries":["a"],"metrics":["MAP"],"modes":{}}`,
		"query":      `{"queries":["a","a"],"metrics":["AP"],"modes":{}}`,
		"few scores": `{"queries":["a","b"],"metrics":["AP"],"modes":{"dense":{"AP":[1]}}}`,
	} {
		dir := write(t, map[string]string{"r.json": text})
		if r, err := eval.LoadResults(filepath.Join(dir, "r.json")); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: %+v, %v, want %s", name, r, err, braid.InvalidArgument)
		}
	}
	if math.IsNaN((&eval.Results{}).Mean("dense", "AP")) {
		t.Error("the mean of nothing is not a number")
	}
}
