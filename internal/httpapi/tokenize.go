package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
)

// MaxTokenizeBody bounds a request to /tokenize, whose answer is fifty times as
// large.
const MaxTokenizeBody = 1 << 20 // bytes

// tokenizeRequest is text-embeddings-inference's, with the model's name.
type tokenizeRequest struct {
	Inputs           texts  `json:"inputs"`
	AddSpecialTokens *bool  `json:"add_special_tokens"`
	PromptName       string `json:"prompt_name"`
	Model            string `json:"model"`
}

// simpleToken is a token in text-embeddings-inference's form. Start and Stop are
// in characters, and null for a special token.
type simpleToken struct {
	ID      uint32 `json:"id"`
	Text    string `json:"text"`
	Special bool   `json:"special"`
	Start   *int   `json:"start"`
	Stop    *int   `json:"stop"`
}

func (s *Server) postTokenize(c *gin.Context) {
	var req tokenizeRequest
	err := decodeOpen(c, &req, MaxTokenizeBody, encodeExample)
	if err == nil {
		err = req.validate()
	}
	if err != nil {
		fail(c, err)
		return
	}
	model, err := s.tokeniser(req.Model)
	if err != nil {
		fail(c, err)
		return
	}
	all, err := model.Tokenise(c.Request.Context(), req.Inputs.list, req.AddSpecialTokens == nil || *req.AddSpecialTokens)
	if err != nil {
		fail(c, err)
		return
	}
	answer := make([][]simpleToken, len(all))
	for i, tokens := range all {
		answer[i] = make([]simpleToken, len(tokens))
		for j, t := range tokens {
			answer[i][j] = simpleToken{ID: t.ID, Text: t.Text, Special: t.Special}
			if !t.Special {
				answer[i][j].Start, answer[i][j].Stop = &t.Start, &t.End
			}
		}
	}
	c.PureJSON(http.StatusOK, answer)
}

// validate refuses a prompt: places in a text that was not sent help nobody.
func (r tokenizeRequest) validate() error {
	if r.PromptName != "" {
		return braid.Errorf(braid.InvalidArgument, "prompt_name is %q: texts are tokenised as they are, put the prompt before them yourself", r.PromptName).In("prompt_name")
	}
	return check(r.Inputs, "inputs")
}

// tokeniser is any head.
type tokeniser interface {
	Tokenise(ctx context.Context, texts []string, special bool) ([][]inference.Token, error)
}

// tokeniser returns the model called name, of whatever kind, or for "" the
// first one.
func (s *Server) tokeniser(name string) (tokeniser, error) {
	set := s.opts.Models
	var names []string
	var heads []tokeniser
	for _, l := range set.Dense {
		names, heads = append(names, l.Manifest.Name), append(heads, l.Head)
	}
	for _, l := range set.Sparse {
		names, heads = append(names, l.Manifest.Name), append(heads, l.Head)
	}
	for _, l := range set.Pair {
		names, heads = append(names, l.Manifest.Name), append(heads, l.Head)
	}
	for i, n := range names {
		if name == "" || n == name {
			return heads[i], nil
		}
	}
	return nil, braid.Errorf(braid.NotFound, "model %q is not loaded; loaded are: %s", name, strings.Join(names, ", ")).In("model")
}
