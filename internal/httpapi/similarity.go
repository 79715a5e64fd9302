package httpapi

import (
	"math"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
)

// similarityRequest is text-embeddings-inference's. Model is an addition.
type similarityRequest struct {
	Inputs struct {
		Source    string `json:"source_sentence"`
		Sentences texts  `json:"sentences"`
	} `json:"inputs"`
	Parameters struct {
		Truncate            *bool  `json:"truncate"`
		PromptName          string `json:"prompt_name"`
		TruncationDirection string `json:"truncation_direction"`
	} `json:"parameters"`
	Model string `json:"model"`
}

// postSimilarity answers with the cosine of each sentence with the source, in
// order. All are encoded alike, in one call.
func (s *Server) postSimilarity(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req similarityRequest
	if err := decodeOpen(c, &req, MaxModelBody, `{"inputs": {"source_sentence": "a text", "sentences": ["another"]}}`); err != nil {
		fail(c, err)
		return
	}
	source := texts{list: []string{req.Inputs.Source}}
	if err := check(source, "inputs.source_sentence"); err != nil {
		fail(c, err)
		return
	}
	if err := check(req.Inputs.Sentences, "inputs.sentences"); err != nil {
		fail(c, err)
		return
	}
	in, err := encodeRequest{
		Inputs:              texts{list: append(source.list, req.Inputs.Sentences.list...)},
		Truncate:            req.Parameters.Truncate,
		PromptName:          req.Parameters.PromptName,
		TruncationDirection: req.Parameters.TruncationDirection,
	}.request()
	if err != nil {
		fail(c, err)
		return
	}
	_, out, err := s.embed(c, req.Model, nil, in, &k)
	if err != nil {
		fail(c, err)
		return
	}
	similarities := make([]float32, len(out)-1)
	for i, e := range out[1:] {
		similarities[i] = cosine(out[0].Vector, e.Vector)
	}
	k.tell(c)
	c.PureJSON(http.StatusOK, similarities)
}

// cosine is that of the angle between vectors of any length: not every model
// makes them 1. A vector of nothing but zeros has no direction and gives 0.
func cosine(a, b []float32) float32 {
	var sum, lengthA, lengthB float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sum += x * y
		lengthA += x * x
		lengthB += y * y
	}
	if lengthA == 0 || lengthB == 0 {
		return 0
	}
	return float32(max(-1, min(1, sum/math.Sqrt(lengthA*lengthB))))
}
