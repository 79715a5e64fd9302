package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/querylog"
	"github.com/braid-search/braid/search"
)

func (s *Server) postSearch(c *gin.Context) {
	var req search.Request
	if err := decode(c, &req, MaxSearchBody, `{"query": "how do I reset the pump"}`); err != nil {
		fail(c, err)
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.opts.SearchTimeout)
	defer cancel()
	answer, err := s.service(c).Search(ctx, c.Param("name"), req)
	s.logQuery(c, req, answer, err)
	if err != nil {
		fail(c, err)
		return
	}
	s.opts.Metrics.Search(answer)
	c.Set(spentKey, spent{tokens: answer.Query.Tokens, queue: time.Duration(answer.Timings.Queue * float64(time.Millisecond))})
	c.PureJSON(http.StatusOK, answer)
}

// logQuery tells the query log of a search and what came of it.
func (s *Server) logQuery(c *gin.Context, req search.Request, answer *search.Response, err error) {
	if s.opts.Queries == nil {
		return
	}
	record := querylog.Of(c.Param("name"), req, answer, err)
	record.RequestID = requestID(c)
	if key, known := caller(c); known {
		record.Caller = key.Name
	}
	s.opts.Queries.Add(record)
}

// filtered is the body of requests about the documents that pass a filter.
type filtered struct {
	Filter *braid.Filter `json:"filter"`
}

const filteredExample = `{"filter": {"must": [{"field": "kind", "match": "error"}]}}`

// filter returns the filter of the request's body; without one it lets all
// documents pass.
func filter(c *gin.Context) (braid.Filter, error) {
	var req filtered
	if err := decode(c, &req, MaxSearchBody, filteredExample); err != nil || req.Filter == nil {
		return braid.Filter{}, err
	}
	return *req.Filter, nil
}

// postCount counts the documents that pass a filter.
func (s *Server) postCount(c *gin.Context) {
	f, err := filter(c)
	if err != nil {
		fail(c, err)
		return
	}
	n, err := s.service(c).Count(c.Request.Context(), c.Param("name"), f)
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, counted{n})
}

// postScroll lists documents in the order of their ids.
func (s *Server) postScroll(c *gin.Context) {
	var req search.PageRequest
	if err := decode(c, &req, MaxSearchBody, `{"limit": 100}`); err != nil {
		fail(c, err)
		return
	}
	page, err := s.service(c).Page(c.Request.Context(), c.Param("name"), req)
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, page)
}
