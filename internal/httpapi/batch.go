package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/strictjson"
	"github.com/braid-search/braid/search"
)

// batchRequest is several searches. Each is read for itself, so that one that is
// not valid gets an error of its own.
type batchRequest struct {
	Searches []json.RawMessage `json:"searches"`
}

// batchAnswer is the answers to a batchRequest, in its order.
type batchAnswer struct {
	Answers []batchEntry `json:"answers"`
}

// batchEntry holds either what a search of its own would have been answered with
// or its error.
type batchEntry struct {
	Answer *search.Response `json:"answer,omitempty"`
	Error  *errorDetail     `json:"error,omitempty"`
}

func (s *Server) postSearchBatch(c *gin.Context) {
	var req batchRequest
	if err := decode(c, &req, MaxSearchBody, `{"searches": [{"query": "how do I reset the pump"}]}`); err != nil {
		fail(c, err)
		return
	}
	requests := make([]search.Request, len(req.Searches))
	faults := make([]error, len(req.Searches))
	for i, data := range req.Searches {
		if faults[i] = strictjson.Decode(data, &requests[i]); faults[i] != nil {
			requests[i] = search.Request{} // refused, too, without any work
		}
	}
	answered, err := s.service(c).SearchBatch(c.Request.Context(), c.Param("name"), requests, s.opts.SearchTimeout)
	if err != nil {
		fail(c, err)
		return
	}
	var use spent
	body := batchAnswer{Answers: make([]batchEntry, len(answered))}
	for i, a := range answered {
		if faults[i] != nil {
			a.Err = faults[i]
		}
		s.logQuery(c, requests[i], a.Response, a.Err)
		if a.Err != nil {
			body.Answers[i].Error = s.describeEntry(c, i, a.Err)
			continue
		}
		body.Answers[i].Answer = a.Response
		s.opts.Metrics.Search(a.Response)
		use.tokens += a.Response.Query.Tokens
		use.queue = max(use.queue, time.Duration(a.Response.Timings.Queue*float64(time.Millisecond)))
	}
	c.Set(spentKey, use)
	c.PureJSON(http.StatusOK, body)
}

// describeEntry is what the client sees of the error of search number i; faults of
// the server's own are logged.
func (s *Server) describeEntry(c *gin.Context, i int, err error) *errorDetail {
	if Status(braid.CodeOf(err)) >= http.StatusInternalServerError {
		s.opts.Log.ErrorContext(c.Request.Context(), "search of a batch failed", "request_id", requestID(c), "search", i, "err", chain(err))
	}
	shown := braid.Public(err)
	return &errorDetail{Code: shown.Code, Message: shown.Message, Field: shown.Field}
}

// SearchBatch answers several queries, at most search.MaxBatch, in their order; each
// answer may be an error of its own.
func (c *Client) SearchBatch(ctx context.Context, name string, reqs []search.Request) ([]search.Answered, error) {
	var body batchAnswer
	send := struct {
		Searches []search.Request `json:"searches"`
	}{reqs}
	if err := c.call(ctx, http.MethodPost, collectionPath(name)+"/search/batch", send, &body); err != nil {
		return nil, err
	}
	if len(body.Answers) != len(reqs) {
		return nil, braid.Errorf(braid.Internal, "the server answered %d of %d queries", len(body.Answers), len(reqs))
	}
	answers := make([]search.Answered, len(reqs))
	for i, entry := range body.Answers {
		switch {
		case entry.Answer != nil:
			answers[i].Response = entry.Answer
		case entry.Error != nil:
			answers[i].Err = braid.Errorf(entry.Error.Code, "%s", entry.Error.Message).In(entry.Error.Field)
		default:
			answers[i].Err = braid.Errorf(braid.Internal, "the server's answer to query %d holds neither hits nor an error", i+1)
		}
	}
	return answers, nil
}
