package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
)

// encodeRequest is text-embeddings-inference's, for /embed and /embed_sparse.
// Model is an addition: that server has one model, this one several.
type encodeRequest struct {
	Inputs     texts  `json:"inputs"`
	Truncate   *bool  `json:"truncate"`
	Normalize  *bool  `json:"normalize"`
	PromptName string `json:"prompt_name"`
	Dimensions *int   `json:"dimensions"`
	Model      string `json:"model"`
	// TruncationDirection can only be "right": the beginning is what is kept.
	TruncationDirection string `json:"truncation_direction"`
}

// request checks what both routes share. Texts too long for the model are cut
// unless truncate is false.
func (r encodeRequest) request() (inference.Request, error) {
	if err := check(r.Inputs, "inputs"); err != nil {
		return inference.Request{}, err
	}
	if d := r.TruncationDirection; d != "" && !strings.EqualFold(d, "right") {
		return inference.Request{}, braid.Errorf(braid.InvalidArgument, "truncation_direction %q is not supported: texts are cut at their right end", d).In("truncation_direction")
	}
	side, err := role(r.PromptName, "prompt_name")
	if err != nil {
		return inference.Request{}, err
	}
	in := inference.Request{
		Texts: r.Inputs.list,
		Role:  side,
		Lane:  lane(r.Inputs.list),
		Whole: r.Truncate != nil && !*r.Truncate,
	}
	if r.Normalize != nil && !*r.Normalize {
		in.Length = inference.LengthRaw
	}
	return in, nil
}

const encodeExample = `{"inputs": "a text"}`

func (s *Server) postEmbed(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req encodeRequest
	if err := decodeOpen(c, &req, MaxModelBody, encodeExample); err != nil {
		fail(c, err)
		return
	}
	in, err := req.request()
	if err != nil {
		fail(c, err)
		return
	}
	_, out, err := s.embed(c, req.Model, req.Dimensions, in, &k)
	if err != nil {
		fail(c, err)
		return
	}
	vectors := make([][]float32, len(out))
	for i, e := range out {
		vectors[i] = e.Vector
	}
	k.tell(c)
	c.PureJSON(http.StatusOK, vectors)
}

// weight is one entry of a sparse vector in text-embeddings-inference's form.
type weight struct {
	Index uint32  `json:"index"`
	Value float32 `json:"value"`
}

func (s *Server) postEmbedSparse(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req encodeRequest
	err := decodeOpen(c, &req, MaxModelBody, encodeExample)
	if err != nil {
		fail(c, err)
		return
	}
	out, _, err := s.expand(c, req, &k)
	if err != nil {
		fail(c, err)
		return
	}
	vectors := make([][]weight, len(out))
	for i, e := range out {
		vectors[i] = make([]weight, len(e.Vector.Indices))
		for j, index := range e.Vector.Indices {
			vectors[i][j] = weight{index, e.Vector.Values[j]}
		}
	}
	k.tell(c)
	c.PureJSON(http.StatusOK, vectors)
}

// expand runs the sparse model the request names. normalize is let pass: clients
// send it by default, and the weights of a sparse vector have no unit length.
func (s *Server) expand(c *gin.Context, req encodeRequest, k *cost) ([]inference.Expansion, modelset.Loaded[*inference.Sparse], error) {
	var model modelset.Loaded[*inference.Sparse]
	in, err := req.request()
	if err != nil {
		return nil, model, err
	}
	if model, err = s.opts.Models.FindSparse(req.Model); err != nil {
		return nil, model, err
	}
	ctx, cancel := s.bounded(c, in.Lane)
	defer cancel()
	k.count(in.Texts)
	out, timing, err := model.Head.Expand(ctx, in)
	if err != nil {
		return nil, model, err
	}
	k.timing = timing
	for _, e := range out {
		k.use(e.Usage)
	}
	return out, model, nil
}

// sparseRequest is this project's own form.
type sparseRequest struct {
	Input     texts    `json:"input"`
	Model     string   `json:"model"`
	InputType string   `json:"input_type"`
	Truncate  *bool    `json:"truncate"`
	TopK      *int     `json:"top_k"`      // keep the k largest weights
	MinWeight *float32 `json:"min_weight"` // keep weights of at least this
	Tokens    bool     `json:"tokens"`     // name the vocabulary entries
}

type sparseAnswer struct {
	Object string       `json:"object"` // "list"
	Data   []sparseItem `json:"data"`
	Model  string       `json:"model"`
	Usage  usage        `json:"usage"`
}

type sparseItem struct {
	Object string `json:"object"` // "sparse_embedding"
	Index  int    `json:"index"`
	braid.SparseVector
	VocabularyTokens []string `json:"tokens,omitempty"` // of Indices, in order
	Read             int      `json:"input_tokens"`
	Truncated        bool     `json:"truncated"`
}

func (s *Server) postSparseEmbeddings(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req sparseRequest
	err := decode(c, &req, MaxModelBody, `{"input": "a text"}`)
	if err == nil {
		err = req.validate()
	}
	if err != nil {
		fail(c, err)
		return
	}
	out, model, err := s.expand(c, encodeRequest{Inputs: req.Input, Model: req.Model, PromptName: req.InputType, Truncate: req.Truncate}, &k)
	if err != nil {
		fail(c, err)
		return
	}
	answer := sparseAnswer{Object: "list", Model: model.Manifest.Name, Data: make([]sparseItem, len(out)), Usage: usage{k.tokens, k.tokens}}
	for i, e := range out {
		item := sparseItem{Object: "sparse_embedding", Index: i, SparseVector: prune(e.Vector, req.TopK, req.MinWeight), Read: e.Tokens, Truncated: e.Truncated}
		if req.Tokens {
			for _, index := range item.Indices {
				item.VocabularyTokens = append(item.VocabularyTokens, model.Head.Token(index))
			}
		}
		answer.Data[i] = item
	}
	k.tell(c)
	c.PureJSON(http.StatusOK, answer)
}

func (r sparseRequest) validate() error {
	if r.TopK != nil && *r.TopK < 1 {
		return braid.Errorf(braid.InvalidArgument, "top_k is %d, want at least 1", *r.TopK).In("top_k")
	}
	if r.MinWeight != nil && *r.MinWeight < 0 {
		return braid.Errorf(braid.InvalidArgument, "min_weight is %v, want at least 0", *r.MinWeight).In("min_weight")
	}
	return nil
}
