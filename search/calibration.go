package search

import (
	"math"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Calibration turns the highest logit the cross-encoder gave in an answer into
// the probability that the answer holds something relevant:
// 1/(1+e^−(Slope·logit+Intercept)). Platt, "Probabilistic Outputs for Support
// Vector Machines", 1999. It is fitted on labelled queries (braid tune
// --calibrate), and means something for queries like those.
type Calibration struct {
	Slope     float64 `json:"slope"` // above 0
	Intercept float64 `json:"intercept"`
	// Reranker is the cross-encoder whose logits it was fitted on; those of
	// another are not comparable.
	Reranker index.ModelRef `json:"reranker"`
}

// Confidence is the probability that an answer whose highest logit is this one
// holds something relevant, 0 to 1.
func (c Calibration) Confidence(logit float64) float64 {
	return 1 / (1 + math.Exp(-(c.Slope*logit + c.Intercept)))
}

func (c *Calibration) validate() error {
	switch {
	case c == nil:
		return nil
	case !(c.Slope > 0) || math.IsInf(c.Slope, 0):
		return braid.Errorf(braid.InvalidArgument, "calibration.slope is %v, want a finite number above 0", c.Slope).In("calibration.slope")
	case math.IsNaN(c.Intercept) || math.IsInf(c.Intercept, 0):
		return braid.Errorf(braid.InvalidArgument, "calibration.intercept is %v, want a finite number", c.Intercept).In("calibration.intercept")
	case c.Reranker.Name == "" || c.Reranker.Digest == "":
		return braid.Errorf(braid.InvalidArgument, "calibration.reranker must name the cross-encoder and its digest, as braid tune --calibrate writes them").In("calibration.reranker")
	}
	return nil
}

// BestLogit returns the highest logit among the hits; ok is false if none was
// scored.
func BestLogit(hits []Hit) (logit float64, ok bool) {
	logit = math.Inf(-1)
	for _, h := range hits {
		if h.Rerank != nil {
			logit, ok = max(logit, h.Rerank.Logit), true
		}
	}
	return logit, ok
}

// abstain notes how probable it is that nothing relevant was found, and leaves
// out all hits of an answer that is less sure than the request asks for. hits are
// all that were ranked, not the page.
func (s *Service) abstain(p plan, hits []Hit, answer *Response) []Hit {
	missing := ""
	switch logit, scored := BestLogit(hits); {
	case p.calibration == nil:
		missing = "the collection's profile holds no calibration (make one with braid tune --calibrate), or the mode is not hybrid"
	case p.calibration.Reranker != s.models.PairRef:
		missing = "the collection's calibration is of the reranker " + p.calibration.Reranker.Name + ", another is loaded: make one anew"
	case len(hits) == 0:
		answer.NoAnswerProbability = ptrTo(1.0)
	case !scored:
		missing = "no hit was scored by the reranker"
	default:
		confidence := p.calibration.Confidence(logit)
		answer.NoAnswerProbability = ptrTo(1 - confidence)
		if p.MinConfidence != nil && confidence < *p.MinConfidence {
			return hits[:0]
		}
	}
	if missing != "" && p.MinConfidence != nil {
		answer.Degraded = append(answer.Degraded, Degradation{Stage: "min_confidence", Code: braid.Unavailable,
			Message: "min_confidence was not applied: " + missing})
	}
	return hits
}

func ptrTo[T any](v T) *T { return &v }
