package tune_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/tune"
	"github.com/braid-search/braid/search"
)

func TestCalibrate(t *testing.T) {
	w := newWorld(t, 80)
	b := bench(t, w)
	asked := 0
	opts := tune.CalibrationOptions{Reranker: w.models.PairRef, HeldOut: 0.5, Seed: 1, Limit: 10,
		Progress: func(n, total int) {
			if asked = n; total != 160 {
				t.Errorf("progress %d of %d", n, total)
			}
		}}
	c, err := tune.Calibrate(t.Context(), b, search.Profile{}, w.queries, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	// A document that shares three words is told from those that share one or two.
	if !c.Removed || c.Dev != 80 || c.HeldOut != 80 || asked != 160 || c.Found != 0.5 || c.AUC < 0.95 || !c.Useful() || c.Calibration.Reranker != w.models.PairRef {
		t.Errorf("calibrated %+v, asked %d", c, asked)
	}
	if again, err := tune.Calibrate(t.Context(), b, search.Profile{}, w.queries, nil, opts); err != nil || !reflect.DeepEqual(again, c) {
		t.Errorf("again %+v, %v", again, err)
	}

	// What the calibration says reaches the answers.
	p := search.Profile{Calibration: &c.Calibration}
	if _, err := w.service.SetProfile(t.Context(), collection, p); err != nil {
		t.Fatal(err)
	}
	answer, err := w.service.Search(t.Context(), collection, search.Request{Query: w.queries[0].Text})
	if err != nil || answer.NoAnswerProbability == nil || *answer.NoAnswerProbability > 0.5 {
		t.Errorf("answer %+v, %v", answer, err)
	}

	// Queries that are labelled as unanswerable are taken as they are.
	var foreign []eval.Query
	for i := range 40 {
		foreign = append(foreign, eval.Query{ID: fmt.Sprint("f", i), Text: fmt.Sprintf("zz%d yy%d", i, i)})
	}
	opts.Progress = nil
	c, err = tune.Calibrate(t.Context(), b, search.Profile{}, w.queries, foreign, opts)
	if err != nil || c.Removed || c.HeldOut != 60 || c.Found < 0.6 || c.Found > 0.7 || c.AUC < 0.95 {
		t.Errorf("calibrated %+v, %v", c, err)
	}

	off := false
	for name, tc := range map[string]struct {
		profile search.Profile
		queries []eval.Query
		want    braid.Code
	}{
		"no rerank":   {search.Profile{Rerank: &off}, w.queries, braid.Unavailable},
		"too few":     {search.Profile{}, w.queries[:10], braid.InvalidArgument},
		"none finds":  {search.Profile{}, foreign, braid.InvalidArgument},
		"a deep list": {search.Profile{RerankDepth: ptr(1000)}, w.queries, braid.InvalidArgument},
	} {
		if c, err := tune.Calibrate(t.Context(), b, tc.profile, tc.queries, nil, opts); braid.CodeOf(err) != tc.want {
			t.Errorf("%s: %+v, %v, want %s", name, c, err, tc.want)
		}
	}
}
