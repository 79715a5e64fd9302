package tune_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/tune"
	"github.com/braid-search/braid/search"
)

func options(t *testing.T) tune.Options {
	t.Helper()
	m, err := eval.ParseMetric("nDCG@10")
	if err != nil {
		t.Fatal(err)
	}
	return tune.Options{Metric: m, HeldOut: 0.5, Seed: 1, Space: tune.DefaultSpace(), Rerankable: true}
}

func bench(t *testing.T, w *world) *tune.Bench {
	t.Helper()
	b, err := tune.NewBench(t.Context(), w.engine, w.models, collection)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ptr[T any](v T) *T { return &v }

// equal is a start that gives the noise as much to say as what is good.
var equal = search.Profile{Rerank: ptr(false), Fusion: &search.Fusion{Method: fusion.RRF}}

func TestNoiseLosesItsWeight(t *testing.T) {
	w := newWorld(t, 120)
	if _, err := w.service.SetProfile(t.Context(), collection, equal); err != nil {
		t.Fatal(err)
	}
	opts := options(t)
	opts.Space.RerankWeights, opts.Space.RerankDepths = nil, nil
	r, err := tune.Run(t.Context(), bench(t, w), w.queries, opts)
	if err != nil {
		t.Fatal(err)
	}
	f := r.Profile.Fusion
	if f == nil || f.Weights[braid.Dense] > 0.25*max(f.Weights[braid.Sparse], f.Weights[braid.Lexical]) {
		t.Errorf("the noise weighs %+v", f)
	}
	if r.Verdict != tune.Confirmed || r.HeldOut.Change() <= 0.02 || r.HeldOut.P >= tune.Significant || r.HeldOut.Interval.Low <= 0 || r.Dev.Queries != 60 || r.HeldOut.Queries != 60 {
		t.Errorf("report %+v", r)
	}
	if len(r.Steps) == 0 || r.Steps[len(r.Steps)-1].Score != r.Dev.After || r.Tried < 10 || r.Stopped {
		t.Errorf("steps %+v of %d", r.Steps, r.Tried)
	}
	// The profile on trial was not set.
	if kept, err := w.service.Profile(t.Context(), collection); err != nil || kept.Version != 1 || !reflect.DeepEqual(kept.Profile, equal) {
		t.Errorf("kept %+v, %v", kept, err)
	}
}

func TestRunRepeats(t *testing.T) {
	w := newWorld(t, 60)
	opts := options(t)
	opts.Space = tune.Space{Methods: fusion.Methods(), Ks: []int{60}, RerankWeights: []float64{0.1, 1}, Candidates: []int{20, 100}}
	var reports []string
	for _, seed := range []uint64{1, 1, 2} {
		opts.Seed = seed
		r, err := tune.Run(t.Context(), bench(t, w), w.queries, opts)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, string(data))
	}
	if reports[0] != reports[1] || reports[0] == reports[2] {
		t.Errorf("reports of the same seed, and of another:\n%s\n%s\n%s", reports[0], reports[1], reports[2])
	}
}

// A bench answers as the service does once the profile is set, however often it
// is asked, and the models are asked once.
func TestBenchAnswersAsTheServiceDoes(t *testing.T) {
	w := newWorld(t, 20)
	b := bench(t, w)
	profiles := []search.Profile{
		{},
		{Fusion: &search.Fusion{Method: fusion.RRF, K: ptr(20)}, RerankDepth: ptr(40)},
		{Candidates: ptr(30), Fusion: &search.Fusion{Method: fusion.DBSF, Weights: search.Weights{braid.Dense: 0}}, RerankWeight: ptr(0.4)},
		{Rerank: ptr(false), Routing: ptr(false)},
	}
	hits := make([][][]search.Hit, len(profiles))
	var before [3]int64
	for round := range 2 {
		for i, p := range profiles {
			answers := make([][]search.Hit, len(w.queries))
			err := b.Answers(t.Context(), p, w.queries, 10, func(i int, answer *search.Response) { answers[i] = answer.Hits })
			if err != nil {
				t.Fatal(err)
			}
			if round == 1 && !reflect.DeepEqual(answers, hits[i]) {
				t.Errorf("profile %d: asked again, other hits", i)
			}
			hits[i] = answers
		}
		for i := range before {
			now := w.asked[i].Load()
			if round == 1 && now != before[i] {
				t.Errorf("head %d was asked %d times more for what it had said", i, now-before[i])
			}
			before[i] = now
		}
	}
	for i, p := range profiles {
		if _, err := w.service.SetProfile(t.Context(), collection, p); err != nil {
			t.Fatal(err)
		}
		for j, q := range w.queries {
			answer, err := w.service.Search(t.Context(), collection, search.Request{Query: q.Text})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(answer.Hits, hits[i][j]) {
				t.Fatalf("profile %d, %q: the service finds %+v, the bench %+v", i, q.Text, answer.Hits, hits[i][j])
			}
		}
	}
}

func TestRunStopsWithTheBestSoFar(t *testing.T) {
	w := newWorld(t, 60)
	if _, err := w.service.SetProfile(t.Context(), collection, equal); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opts := options(t)
	taken := ""
	opts.Progress = func(p tune.Progress) {
		if p.Taken != nil && taken == "" {
			taken = p.Taken.What
			cancel()
		}
		if p.Asked > p.Total || p.Left < 0 {
			t.Errorf("progress %+v", p)
		}
	}
	r, err := tune.Run(ctx, bench(t, w), w.queries, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Stopped || len(r.Steps) != 1 || r.Steps[0].What != taken || r.HeldOut.Queries != 30 || r.HeldOut.After == r.HeldOut.Before {
		t.Errorf("report %+v, stopped after %q", r, taken)
	}
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	if r, err := tune.Run(cancelled, bench(t, w), w.queries, options(t)); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("nothing measured: %+v, %v", r, err)
	}
}

func TestRunRefuses(t *testing.T) {
	w := newWorld(t, 20)
	b := bench(t, w)
	opts := options(t)
	for name, tc := range map[string]struct {
		queries []eval.Query
		share   float64
	}{
		"few queries": {w.queries[:19], 0.5},
		"all":         {w.queries, 1},
		"none":        {w.queries, 0},
		"hardly any":  {w.queries, 0.01},
	} {
		opts.HeldOut = tc.share
		if r, err := tune.Run(t.Context(), b, tc.queries, opts); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: %+v, %v, want %s", name, r, err, braid.InvalidArgument)
		}
	}
	if _, err := tune.NewBench(t.Context(), w.engine, w.models, "absent"); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no collection: %v", err)
	}
	// A branch that fails must not pass for a bad setting.
	w.models.DenseRef = index.ModelRef{Name: "another", Digest: "4"}
	opts.HeldOut = 0.5
	if r, err := tune.Run(t.Context(), bench(t, w), w.queries, opts); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("another model: %+v, %v, want %s", r, err, braid.Conflict)
	}
}

func TestVerdicts(t *testing.T) {
	for name, tc := range map[string]struct {
		heldOut tune.Comparison
		steps   bool
		want    tune.Verdict
	}{
		"nothing taken": {tune.Comparison{}, false, tune.Unchanged},
		"a real gain":   {tune.Comparison{Before: 0.5, After: 0.6, P: 0.01}, true, tune.Confirmed},
		"perhaps":       {tune.Comparison{Before: 0.5, After: 0.6, P: 0.2}, true, tune.Unconfirmed},
		"nothing left":  {tune.Comparison{Before: 0.5, After: 0.5, P: 1}, true, tune.Overfitted},
		"a real loss":   {tune.Comparison{Before: 0.5, After: 0.4, P: 0.01}, true, tune.Overfitted},
	} {
		if got := tc.heldOut.Verdict(tc.steps); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestSplitTakesItsShareOfEachKind(t *testing.T) {
	var queries []eval.Query
	for i := range 40 {
		text := "where is it?"
		if i%4 == 0 {
			text = "ERR-104"
		}
		queries = append(queries, eval.Query{ID: string(rune('A' + i)), Text: text})
	}
	dev, heldOut, err := tune.Split(queries, 0.3, 5)
	if err != nil || len(heldOut) != 12 || len(dev) != 28 {
		t.Fatalf("%d and %d, %v", len(dev), len(heldOut), err)
	}
	codes := 0
	for _, q := range heldOut {
		if q.Text == "ERR-104" {
			codes++
		}
		if slices.ContainsFunc(dev, func(d eval.Query) bool { return d.ID == q.ID }) {
			t.Errorf("%s is in both", q.ID)
		}
	}
	if codes != 3 {
		t.Errorf("%d of 10 codes are held out, want 3", codes)
	}
}
