package httpapi

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
)

// embeddingsRequest is OpenAI's, with input_type as other vendors have it.
type embeddingsRequest struct {
	Input          texts  `json:"input"`
	Model          string `json:"model"`
	EncodingFormat string `json:"encoding_format"`
	Dimensions     *int   `json:"dimensions"`
	InputType      string `json:"input_type"`
}

type embeddingsAnswer struct {
	Object string          `json:"object"` // "list"
	Data   []embeddingItem `json:"data"`
	Model  string          `json:"model"`
	Usage  usage           `json:"usage"`
}

type embeddingItem struct {
	Object    string `json:"object"` // "embedding"
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or a string in base64
	// Tokens and Truncated are additions to the format.
	Tokens    int  `json:"tokens"`
	Truncated bool `json:"truncated"`
}

type usage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

func (s *Server) postEmbeddings(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req embeddingsRequest
	if err := decodeOpen(c, &req, MaxModelBody, `{"input": "a text", "model": "…"}`); err != nil {
		fail(c, err)
		return
	}
	in, err := req.request()
	if err != nil {
		fail(c, err)
		return
	}
	model, out, err := s.embed(c, req.Model, req.Dimensions, in, &k)
	if err != nil {
		fail(c, err)
		return
	}
	answer := embeddingsAnswer{Object: "list", Model: model, Data: make([]embeddingItem, len(out)), Usage: usage{k.tokens, k.tokens}}
	for i, e := range out {
		answer.Data[i] = embeddingItem{Object: "embedding", Index: i, Embedding: e.Vector, Tokens: e.Tokens, Truncated: e.Truncated}
		if req.EncodingFormat == "base64" {
			answer.Data[i].Embedding = littleEndian(e.Vector)
		}
	}
	k.tell(c)
	c.PureJSON(http.StatusOK, answer)
}

// request checks what does not depend on the model.
func (r embeddingsRequest) request() (inference.Request, error) {
	if err := check(r.Input, "input"); err != nil {
		return inference.Request{}, err
	}
	switch r.EncodingFormat {
	case "", "float", "base64":
	default:
		return inference.Request{}, braid.Errorf(braid.InvalidArgument, "encoding_format %q is unknown: use float or base64", r.EncodingFormat).In("encoding_format")
	}
	side, err := role(r.InputType, "input_type")
	if err != nil {
		return inference.Request{}, err
	}
	return inference.Request{Texts: r.Input.list, Role: side, Lane: lane(r.Input.list)}, nil
}

// embed runs the dense model called name and returns its name; dimensions are
// those the caller wants, or nil.
func (s *Server) embed(c *gin.Context, name string, dimensions *int, in inference.Request, k *cost) (string, []inference.Embedding, error) {
	model, err := s.opts.Models.FindDense(name)
	if err != nil {
		return "", nil, err
	}
	if dimensions != nil && *dimensions != model.Manifest.Dimensions {
		return "", nil, badDimensions(*dimensions, model.Manifest)
	}
	ctx, cancel := s.bounded(c, in.Lane)
	defer cancel()
	k.count(in.Texts)
	out, timing, err := model.Head.Embed(ctx, in)
	if err != nil {
		return "", nil, err
	}
	k.timing = timing
	for _, e := range out {
		k.use(e.Usage)
	}
	return model.Manifest.Name, out, nil
}

func badDimensions(asked int, m models.Manifest) error {
	return braid.Errorf(braid.InvalidArgument, "dimensions is %d: model %q makes vectors of %d and was not trained to be cut", asked, m.Name, m.Dimensions).In("dimensions")
}

// littleEndian is the vector as OpenAI packs it: float32, little-endian, base64.
func littleEndian(vector []float32) string {
	packed := make([]byte, 0, 4*len(vector))
	for _, v := range vector {
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(v))
	}
	return base64.StdEncoding.EncodeToString(packed)
}
