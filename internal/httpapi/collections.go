package httpapi

import (
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/strictjson"
	"github.com/braid-search/braid/search"
)

func (s *Server) listCollections(c *gin.Context) {
	infos, err := s.service(c).List(c.Request.Context())
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
	var settings search.Settings // without a body, the defaults
	data, err := io.ReadAll(body(c, MaxSearchBody))
	if err == nil && len(data) > 0 {
		err = strictjson.Decode(data, &settings)
	}
	if err != nil {
		fail(c, err)
		return
	}
	info, created, err := s.service(c).CreateWith(c.Request.Context(), c.Param("name"), settings)
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
	info, err := s.service(c).Info(c.Request.Context(), c.Param("name"))
	if err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, info)
}

func (s *Server) deleteCollection(c *gin.Context) {
	name := c.Param("name")
	if err := s.service(c).Drop(c.Request.Context(), name); err != nil {
		fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, deleted{name})
}
