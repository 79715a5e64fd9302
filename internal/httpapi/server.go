package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// Limits of one request.
const (
	MaxDocumentsBody = 64 << 20 // bytes of a documents request
	MaxSearchBody    = 1 << 20  // bytes of any other request
)

// Options are what the server is made of.
type Options struct {
	Search *search.Service
	// Ready reports why the process cannot serve, or nil. It may run an
	// inference and is called at most once per request of /readyz.
	Ready func(ctx context.Context) error
	// Info returns what /info shows.
	Info func(ctx context.Context) (Info, error)
	// Log receives one line per request and the faults behind 5xx answers; nil
	// discards them.
	Log *slog.Logger
	// SearchTimeout bounds a search; 0 is DefaultSearchTimeout.
	SearchTimeout time.Duration
}

// DefaultSearchTimeout is how long a search may take before the stages that are
// not done are left out of its answer.
const DefaultSearchTimeout = 30 * time.Second

// Server is an http.Handler over a search service.
type Server struct {
	opts    Options
	handler http.Handler
}

// New returns the handler of all routes.
func New(opts Options) *Server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.SearchTimeout == 0 {
		opts.SearchTimeout = DefaultSearchTimeout
	}
	s := &Server{opts: opts}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	// A document id may hold any character; percent-encoded slashes stay part
	// of it.
	r.UseRawPath = true
	r.UnescapePathValues = true
	r.HandleMethodNotAllowed = true
	r.Use(s.observe, s.recover)
	r.NoRoute(func(c *gin.Context) {
		fail(c, braid.Errorf(braid.NotFound, "no route %s %s: the routes are listed in docs/api.md", c.Request.Method, c.Request.URL.Path))
	})
	r.NoMethod(func(c *gin.Context) {
		err := braid.Errorf(braid.InvalidArgument, "%s does not take %s: use %s", c.Request.URL.Path, c.Request.Method, strings.ReplaceAll(c.Writer.Header().Get("Allow"), ",", ", "))
		_ = c.Error(err)
		failWith(c, http.StatusMethodNotAllowed, err)
	})
	s.routes(r)
	s.handler = r
	return s
}

func (s *Server) routes(r *gin.Engine) {
	r.GET("/healthz", func(c *gin.Context) { c.PureJSON(http.StatusOK, gin.H{"status": "ok"}) })
	r.GET("/readyz", s.ready)
	r.GET("/info", s.info)

	v1 := r.Group("/v1")
	v1.GET("/collections", s.listCollections)
	v1.PUT("/collections/:name", s.putCollection)
	v1.GET("/collections/:name", s.getCollection)
	v1.DELETE("/collections/:name", s.deleteCollection)
	v1.POST("/collections/:name/documents", s.postDocuments)
	v1.GET("/collections/:name/documents/:id", s.getDocument)
	v1.DELETE("/collections/:name/documents/:id", s.deleteDocument)
	v1.POST("/collections/:name/search", s.postSearch)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

func (s *Server) ready(c *gin.Context) {
	if err := s.opts.Ready(c.Request.Context()); err != nil {
		_ = c.Error(err)
		failWith(c, http.StatusServiceUnavailable, err)
		return
	}
	c.PureJSON(http.StatusOK, gin.H{"status": "ready"})
}

func (s *Server) info(c *gin.Context) {
	info, err := s.opts.Info(c.Request.Context())
	if err != nil {
		fail(c, err)
		return
	}
	info.Limits = map[string]int{
		"documents_body_bytes": MaxDocumentsBody,
		"search_body_bytes":    MaxSearchBody,
		"query_bytes":          search.MaxQueryBytes,
		"id_bytes":             braid.MaxIDBytes,
		"title_bytes":          braid.MaxTitleBytes,
		"text_bytes":           braid.MaxTextBytes,
		"payload_bytes":        braid.MaxPayloadBytes,
		"limit":                search.MaxLimit,
		"candidates":           search.MaxCandidates,
		"rerank_depth":         search.MaxRerankDepth,
	}
	c.PureJSON(http.StatusOK, info)
}
