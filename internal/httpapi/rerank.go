package httpapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/rerank"
)

// rerankRequest holds both forms. With "texts" it is text-embeddings-inference's
// and with "documents" Cohere's and Jina's; that decides the form of the answer,
// whatever the path.
type rerankRequest struct {
	Model string  `json:"model"`
	Query *string `json:"query"`

	Texts      *texts `json:"texts"`
	RawScores  bool   `json:"raw_scores"`
	ReturnText bool   `json:"return_text"`
	Truncate   *bool  `json:"truncate"`

	Documents       *documents `json:"documents"`
	TopN            *int       `json:"top_n"`
	TopK            *int       `json:"top_k"` // what some clients call top_n
	ReturnDocuments bool       `json:"return_documents"`
}

// documents are strings or objects with a "text", mixed as it comes.
type documents []string

func (d *documents) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return braid.Errorf(braid.InvalidArgument, "documents must be an array of strings or of objects with a \"text\"").In("documents")
	}
	*d = make(documents, len(items))
	for i, item := range items {
		switch item = bytes.TrimSpace(item); item[0] {
		case '"':
			if err := json.Unmarshal(item, &(*d)[i]); err != nil {
				return err
			}
		case '{':
			var object struct {
				Text *string `json:"text"`
			}
			if err := json.Unmarshal(item, &object); err != nil || object.Text == nil {
				return braid.Errorf(braid.InvalidArgument, "documents[%d] has no string under \"text\"", i).In("documents")
			}
			(*d)[i] = *object.Text
		default:
			return braid.Errorf(braid.InvalidArgument, "documents[%d] is neither a string nor an object with a \"text\"", i).In("documents")
		}
	}
	return nil
}

// ranked is one document's place in the answer.
type ranked struct {
	position    int // in the request
	logit       float32
	probability float64
}

func (s *Server) postRerank(c *gin.Context) {
	k := cost{begun: time.Now()}
	var req rerankRequest
	if err := decodeOpen(c, &req, MaxModelBody, `{"query": "…", "documents": ["…", "…"]}`); err != nil {
		fail(c, err)
		return
	}
	list, err := req.passages()
	if err != nil {
		fail(c, err)
		return
	}
	model, order, err := s.score(c, &req, list, &k)
	if err != nil {
		fail(c, err)
		return
	}
	for _, n := range []*int{req.TopN, req.TopK} {
		if n != nil {
			order = order[:min(len(order), *n)]
		}
	}
	k.tell(c)
	if req.Texts != nil {
		c.PureJSON(http.StatusOK, req.teiAnswer(order, list))
		return
	}
	c.PureJSON(http.StatusOK, req.cohereAnswer(order, list, model, k, requestID(c), c.FullPath()))
}

// score runs the cross-encoder that req names over list and returns the model's
// name and the places, best first.
func (s *Server) score(c *gin.Context, req *rerankRequest, list []string, k *cost) (string, []ranked, error) {
	model, err := s.opts.Models.FindPair(req.Model)
	if err != nil {
		return "", nil, err
	}
	in := inference.PairRequest{Query: *req.Query, Passages: make([]inference.Passage, len(list)), Lane: lane(list), Whole: req.Truncate != nil && !*req.Truncate}
	for i, text := range list {
		in.Passages[i].Text = text
	}
	ctx, cancel := s.bounded(c, in.Lane)
	defer cancel()
	k.count(list)
	out, timing, err := model.Head.Score(ctx, in)
	if err != nil {
		return "", nil, err
	}
	k.timing = timing
	order := make([]ranked, len(out))
	for i, o := range out {
		order[i] = ranked{position: i, logit: o.Logit, probability: rerank.Probability(o.Logit)}
		k.use(o.Usage)
	}
	// By logit, not by probability: far from 0 different logits share one.
	slices.SortStableFunc(order, func(a, b ranked) int { return cmp.Compare(b.logit, a.logit) })
	return model.Manifest.Name, order, nil
}

// passages checks the request and returns its texts.
func (r *rerankRequest) passages() ([]string, error) {
	switch {
	case r.Query == nil || *r.Query == "":
		return nil, braid.Errorf(braid.InvalidArgument, "query is empty").In("query")
	case len(*r.Query) > MaxInputText:
		return nil, braid.Errorf(braid.TooLarge, "query is %d bytes, the limit is %d", len(*r.Query), MaxInputText).In("query")
	case r.Texts != nil && r.Documents != nil:
		return nil, braid.Errorf(braid.InvalidArgument, "send \"texts\" or \"documents\", not both")
	case r.Texts == nil && r.Documents == nil:
		return nil, braid.Errorf(braid.InvalidArgument, "send \"documents\" (the form of Cohere and Jina) or \"texts\" (that of text-embeddings-inference)")
	}
	for _, n := range []struct {
		field string
		value *int
	}{{"top_n", r.TopN}, {"top_k", r.TopK}} {
		if n.value != nil && *n.value < 1 {
			return nil, braid.Errorf(braid.InvalidArgument, "%s is %d, want at least 1", n.field, *n.value).In(n.field)
		}
	}
	if r.Texts != nil {
		return r.Texts.list, check(*r.Texts, "texts")
	}
	return *r.Documents, check(texts{list: *r.Documents}, "documents")
}

// teiResult is one entry of text-embeddings-inference's answer.
type teiResult struct {
	Index int     `json:"index"`
	Score float64 `json:"score"`
	Text  *string `json:"text,omitempty"`
}

func (r *rerankRequest) teiAnswer(order []ranked, list []string) []teiResult {
	results := make([]teiResult, len(order))
	for i, o := range order {
		results[i] = teiResult{Index: o.position, Score: o.probability}
		if r.RawScores {
			results[i].Score = float64(o.logit)
		}
		if r.ReturnText {
			results[i].Text = &list[o.position]
		}
	}
	return results
}

// cohereAnswer is read by the clients of Cohere (v1 and v2) and of Jina.
type cohereAnswer struct {
	ID      string         `json:"id"`
	Model   string         `json:"model"`
	Results []cohereResult `json:"results"`
	Meta    cohereMeta     `json:"meta"`
	Usage   usage          `json:"usage"`
}

type cohereResult struct {
	Index          int             `json:"index"`
	RelevanceScore float64         `json:"relevance_score"`
	Logit          float32         `json:"logit"` // an addition to the format
	Document       *cohereDocument `json:"document,omitempty"`
}

type cohereDocument struct {
	Text string `json:"text"`
}

type cohereMeta struct {
	APIVersion  map[string]string `json:"api_version"`
	BilledUnits map[string]int    `json:"billed_units"`
}

func (r *rerankRequest) cohereAnswer(order []ranked, list []string, model string, k cost, id, path string) cohereAnswer {
	version := "1"
	if strings.HasPrefix(path, "/v2/") {
		version = "2"
	}
	answer := cohereAnswer{
		ID: id, Model: model, Results: make([]cohereResult, 0, len(order)),
		Meta:  cohereMeta{APIVersion: map[string]string{"version": version}, BilledUnits: map[string]int{"search_units": 1}},
		Usage: usage{k.tokens, k.tokens},
	}
	for _, o := range order {
		result := cohereResult{Index: o.position, RelevanceScore: o.probability, Logit: o.logit}
		if r.ReturnDocuments {
			result.Document = &cohereDocument{list[o.position]}
		}
		answer.Results = append(answer.Results, result)
	}
	return answer
}
