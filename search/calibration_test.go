package search_test

import (
	"math"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search"
)

func TestCalibratedAnswers(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	const about = "what does ERR-104 mean"
	if answer := ask(t, s, search.Request{Query: about}); answer.NoAnswerProbability != nil {
		t.Errorf("without a calibration: %v", *answer.NoAnswerProbability)
	}
	c := search.Calibration{Slope: 0.5, Intercept: 1, Reranker: heads.PairRef}
	if _, err := s.SetProfile(t.Context(), "t", search.Profile{Calibration: &c}); err != nil {
		t.Fatal(err)
	}
	answer := ask(t, s, search.Request{Query: about})
	logit, ok := search.BestLogit(answer.Hits)
	if !ok || answer.NoAnswerProbability == nil || math.Abs(*answer.NoAnswerProbability-(1-c.Confidence(logit))) > 1e-12 {
		t.Fatalf("%v for logit %v", answer.NoAnswerProbability, logit)
	}
	// The best hit counts, also if the page does not reach it.
	if one := ask(t, s, search.Request{Query: about, Limit: ptr(1), RerankWeight: ptr(0.0)}); *one.NoAnswerProbability != *answer.NoAnswerProbability {
		t.Errorf("a page of one: %v, want %v", *one.NoAnswerProbability, *answer.NoAnswerProbability)
	}
	for name, tc := range map[string]struct {
		query string
		least float64
		hits  bool
	}{
		"sure enough":   {about, 0.9, true},
		"not certain":   {about, 1, false},
		"unrelated":     {"who won the football cup", 0.9, false},
		"any will do":   {"who won the football cup", 0, true},
		"a lucky guess": {"who won the football cup", 1 - *ask(t, s, search.Request{Query: "who won the football cup"}).NoAnswerProbability - 1e-12, true}, // 1 less a probability is rounded
	} {
		answer := ask(t, s, search.Request{Query: tc.query, MinConfidence: &tc.least})
		if (len(answer.Hits) > 0) != tc.hits || answer.Hits == nil || answer.NoAnswerProbability == nil || answer.Degraded != nil {
			t.Errorf("%s: %d hits, %+v", name, len(answer.Hits), answer)
		}
	}
}

func TestConfidenceThatCannotBeTold(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	least, off := 0.99, false
	unsure := search.Request{Query: "who won the football cup", MinConfidence: &least}
	check := func(name string, req search.Request) {
		t.Helper()
		answer := ask(t, s, req)
		if len(answer.Hits) == 0 || answer.NoAnswerProbability != nil || len(answer.Degraded) != 1 || answer.Degraded[0].Stage != "min_confidence" || answer.Degraded[0].Code != braid.Unavailable {
			t.Errorf("%s: %d hits, %v, %+v", name, len(answer.Hits), answer.NoAnswerProbability, answer.Degraded)
		}
	}
	check("no calibration", unsure)
	set := func(c search.Calibration) {
		t.Helper()
		if _, err := s.SetProfile(t.Context(), "t", search.Profile{Calibration: &c}); err != nil {
			t.Fatal(err)
		}
	}
	set(search.Calibration{Slope: 1, Reranker: index.ModelRef{Name: "another", Digest: "x"}})
	check("another reranker", unsure)
	set(search.Calibration{Slope: 1, Reranker: heads.PairRef})
	unsure.Rerank = &off
	check("no rerank", unsure)
	unsure.Rerank, unsure.Mode = nil, search.ModeDense
	check("another mode", unsure)
}

func TestCalibrationIsValidated(t *testing.T) {
	good := search.Calibration{Slope: 1, Intercept: -2, Reranker: index.ModelRef{Name: "m", Digest: "d"}}
	if err := (search.Profile{Calibration: &good}).Validate(); err != nil {
		t.Error(err)
	}
	for field, alter := range map[string]func(c *search.Calibration){
		"calibration.slope":     func(c *search.Calibration) { c.Slope = 0 },
		"calibration.intercept": func(c *search.Calibration) { c.Intercept = math.Inf(1) },
		"calibration.reranker":  func(c *search.Calibration) { c.Reranker.Digest = "" },
	} {
		bad := good
		alter(&bad)
		if err := (search.Profile{Calibration: &bad}).Validate(); braid.CodeOf(err) != braid.InvalidArgument || braid.Public(err).Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	s := service(t, heads)
	if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", MinConfidence: ptr(1.5)}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("min_confidence 1.5: %v", err)
	}
}
