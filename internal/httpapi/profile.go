package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid/search"
)

func (s *Server) getProfile(c *gin.Context) {
	answerProfile(c)(s.service(c).Profile(c.Request.Context(), c.Param("name")))
}

func (s *Server) putProfile(c *gin.Context) {
	var p search.Profile
	if err := decode(c, &p, MaxSearchBody, `{"rerank": false, "fusion": {"k": 20}}`); err != nil {
		fail(c, err)
		return
	}
	answerProfile(c)(s.service(c).SetProfile(c.Request.Context(), c.Param("name"), p))
}

func (s *Server) deleteProfile(c *gin.Context) {
	answerProfile(c)(s.service(c).ClearProfile(c.Request.Context(), c.Param("name")))
}

func answerProfile(c *gin.Context) func(search.VersionedProfile, error) {
	return func(p search.VersionedProfile, err error) {
		if err != nil {
			fail(c, err)
			return
		}
		c.PureJSON(http.StatusOK, p)
	}
}
