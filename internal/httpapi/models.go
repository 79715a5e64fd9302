package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

// modelCard is a model in OpenAI's form, with its kind beside.
type modelCard struct {
	ID      string      `json:"id"`
	Object  string      `json:"object"` // "model"
	Created int64       `json:"created"`
	OwnedBy string      `json:"owned_by"`
	Kind    models.Kind `json:"kind"`
}

func (s *Server) card(m models.Manifest) modelCard {
	owner, _, found := strings.Cut(m.Source.Model, "/")
	if !found {
		owner = "local"
	}
	return modelCard{ID: m.Name, Object: "model", Created: s.started.Unix(), OwnedBy: owner, Kind: m.Kind}
}

func (s *Server) listModels(c *gin.Context) {
	cards := []modelCard{}
	for _, m := range s.opts.Models.Manifests() {
		cards = append(cards, s.card(m))
	}
	c.PureJSON(http.StatusOK, gin.H{"object": "list", "data": cards})
}

func (s *Server) getModel(c *gin.Context) {
	name := c.Param("model")
	var names []string
	for _, m := range s.opts.Models.Manifests() {
		if m.Name == name {
			c.PureJSON(http.StatusOK, s.card(m))
			return
		}
		names = append(names, m.Name)
	}
	fail(c, braid.Errorf(braid.NotFound, "model %q is not loaded; loaded are: %s", name, strings.Join(names, ", ")).In("model"))
}
