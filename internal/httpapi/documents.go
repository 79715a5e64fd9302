package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/docjson"
)

// postDocuments stores the documents of the body. The whole body is read and
// checked before the first document is stored.
func (s *Server) postDocuments(c *gin.Context) {
	ctx, name := c.Request.Context(), c.Param("name")
	if err := s.service(c).CanWrite(ctx, name); err != nil {
		fail(c, err)
		return
	}
	docs, err := readDocuments(body(c, MaxDocumentsBody))
	if err != nil {
		fail(c, err)
		return
	}
	result, err := s.service(c).Ingest(ctx, name, docs)
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
	d, err := s.service(c).Document(c.Request.Context(), c.Param("name"), c.Param("id"))
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, d)
}

func (s *Server) deleteDocument(c *gin.Context) {
	id := c.Param("id")
	if err := s.service(c).Delete(c.Request.Context(), c.Param("name"), id); err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, deleted{id})
}

// patchDocument merges keys into the document's payload.
func (s *Server) patchDocument(c *gin.Context) {
	var req struct {
		Payload json.RawMessage `json:"payload"`
	}
	if err := decode(c, &req, MaxSearchBody, `{"payload": {"kind": "error"}}`); err != nil {
		fail(c, err)
		return
	}
	if req.Payload == nil || string(req.Payload) == "null" {
		fail(c, braid.Errorf(braid.InvalidArgument, `payload is missing: send the keys to change, such as {"payload": {"kind": "error", "old": null}}; the text is changed by storing the document again`).In("payload"))
		return
	}
	d, err := s.service(c).UpdatePayload(c.Request.Context(), c.Param("name"), c.Param("id"), req.Payload)
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, d)
}

// deleteWhere deletes the documents that pass a filter.
func (s *Server) deleteWhere(c *gin.Context) {
	f, err := filter(c)
	if err != nil {
		fail(c, err)
		return
	}
	n, err := s.service(c).DeleteWhere(c.Request.Context(), c.Param("name"), f)
	if err != nil {
		if n > 0 {
			err = braid.Errorf(braid.CodeOf(err), "%w (%d documents are deleted; the same request deletes the rest)", err, n)
		}
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, deletedCount{n})
}
