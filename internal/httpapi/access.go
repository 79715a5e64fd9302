package httpapi

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/apikeys"
	"github.com/braid-search/braid/search"
)

// Where authenticate leaves what it found, in the request's context.
const (
	serviceKey = "service" // *search.Service, as the caller has it
	callerKey  = "caller"  // apikeys.Key; not there when no key is asked for
)

// authenticate finds out who asks, and with it what there is for the caller.
// This is the one place that touches the service without limits.
func (s *Server) authenticate(c *gin.Context) {
	if s.opts.Keys == nil || public(c.FullPath()) {
		c.Set(serviceKey, s.opts.Search)
		return
	}
	token, err := bearer(c.GetHeader("Authorization"))
	if err == nil {
		key, known := s.opts.Keys.Find(token)
		if known {
			c.Set(callerKey, key)
			c.Set(serviceKey, s.opts.Search.Within(search.Scope{Caller: key.Name, Filter: key.Filter, Collections: key.Collections, ReadOnly: key.ReadOnly}))
			return
		}
		err = braid.Errorf(braid.Unauthenticated, "the API key is not known here")
	}
	c.Header("WWW-Authenticate", "Bearer")
	fail(c, err)
}

// public reports whether a route is for everybody: it tells that the process
// lives and what it offers, nothing of what is in it. A path without a route
// is answered as such.
func public(route string) bool {
	switch route {
	case "", "/healthz", "/health", "/readyz", "/openapi.yaml":
		return true
	}
	return false
}

// bearer returns the key of an Authorization header.
func bearer(header string) (string, error) {
	scheme, token, _ := strings.Cut(header, " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", braid.Errorf(braid.Unauthenticated, `the request has no API key: send the header "Authorization: Bearer KEY"`)
	}
	return token, nil
}

// service is the search service as the caller has it.
func (s *Server) service(c *gin.Context) *search.Service {
	return c.MustGet(serviceKey).(*search.Service)
}

// caller returns the key the request was made with; ok is false when none is
// asked for.
func caller(c *gin.Context) (key apikeys.Key, ok bool) {
	value, ok := c.Get(callerKey)
	if ok {
		key = value.(apikeys.Key)
	}
	return key, ok
}

// unlimited lets callers pass to whom every document is there.
func unlimited(c *gin.Context) {
	if key, ok := caller(c); ok && key.Limited() {
		fail(c, braid.Errorf(braid.Forbidden, "the API key %q is limited to some of the documents, and this is about all of them", key.Name))
	}
}

// tellCaller restricts what /info says of the data to what is there for the
// caller.
func (s *Server) tellCaller(c *gin.Context, info *Info) error {
	if key, ok := caller(c); !ok || !key.Limited() {
		return nil
	}
	collections, err := s.service(c).List(c.Request.Context())
	if err != nil {
		return err
	}
	info.Data = DataFolder{Collections: len(collections)}
	for _, collection := range collections {
		info.Data.Documents += collection.Documents
	}
	return nil
}
