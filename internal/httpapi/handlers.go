package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/docjson"
	"github.com/braid-search/braid/internal/strictjson"
	"github.com/braid-search/braid/search"
)

func (s *Server) listCollections(c *gin.Context) {
	infos, err := s.opts.Search.List(c.Request.Context())
	if err != nil {
		fail(c, err)
		return
	}
	if infos == nil {
		infos = []index.Info{}
	}
	c.PureJSON(http.StatusOK, collectionList{infos})
}

// putCollection makes a collection for the loaded models: 201, or 200 when it
// is there already.
func (s *Server) putCollection(c *gin.Context) {
	// There is nothing to set yet: a body, where one is sent, is an empty object.
	data, err := io.ReadAll(body(c, MaxSearchBody))
	if err == nil && len(data) > 0 {
		err = strictjson.Decode(data, &struct{}{})
	}
	if err != nil {
		fail(c, err)
		return
	}
	info, created, err := s.opts.Search.Create(c.Request.Context(), c.Param("name"))
	if err != nil {
		fail(c, err)
		return
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	c.PureJSON(status, info)
}

func (s *Server) getCollection(c *gin.Context) {
	info, err := s.opts.Search.Info(c.Request.Context(), c.Param("name"))
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, info)
}

func (s *Server) deleteCollection(c *gin.Context) {
	name := c.Param("name")
	if err := s.opts.Search.Drop(c.Request.Context(), name); err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, deleted{name})
}

// postDocuments stores the documents of the body. The whole body is read and
// checked before the first document is stored.
func (s *Server) postDocuments(c *gin.Context) {
	ctx, name := c.Request.Context(), c.Param("name")
	if _, err := s.opts.Search.Info(ctx, name); err != nil {
		fail(c, err)
		return
	}
	docs, err := readDocuments(body(c, MaxDocumentsBody))
	if err != nil {
		fail(c, err)
		return
	}
	result, err := s.opts.Search.Ingest(ctx, name, docs)
	if err != nil {
		failStored(c, err, result.Stored())
		return
	}
	c.Set(spentKey, spent{tokens: result.Tokens})
	c.PureJSON(http.StatusOK, result)
}

func readDocuments(r io.Reader) ([]braid.Document, error) {
	var docs []braid.Document
	in := docjson.NewReader(r)
	for {
		d, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && len(docs) == 0:
			return nil, braid.Errorf(braid.InvalidArgument, `the request holds no document: send a JSON array, or one object a line, for example {"id": "1", "text": "…"}`)
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, fmt.Errorf("%w (nothing of this request was stored)", err)
		}
		docs = append(docs, d)
	}
}

func (s *Server) getDocument(c *gin.Context) {
	d, err := s.opts.Search.Document(c.Request.Context(), c.Param("name"), c.Param("id"))
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, d)
}

func (s *Server) deleteDocument(c *gin.Context) {
	id := c.Param("id")
	if err := s.opts.Search.Delete(c.Request.Context(), c.Param("name"), id); err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, deleted{id})
}

func (s *Server) postSearch(c *gin.Context) {
	var req search.Request
	if err := decode(c, &req, MaxSearchBody, `{"query": "how do I reset the pump"}`); err != nil {
		fail(c, err)
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), s.opts.SearchTimeout)
	defer cancel()
	answer, err := s.opts.Search.Search(ctx, c.Param("name"), req)
	if err != nil {
		fail(c, err)
		return
	}
	s.opts.Metrics.Search(answer)
	c.Set(spentKey, spent{tokens: answer.Query.Tokens, queue: time.Duration(answer.Timings.Queue * float64(time.Millisecond))})
	c.PureJSON(http.StatusOK, answer)
}
