package httpapi

import (
	"context"
	_ "embed" // for openapi.yaml
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/sync/semaphore"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/apikeys"
	"github.com/braid-search/braid/internal/metrics"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/internal/querylog"
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
	// Keys are what callers have to bring; nil asks for none.
	Keys *apikeys.Set
	// Models are served by name on the model routes.
	Models *modelset.Set
	// Ready reports why the process cannot serve, or nil. It may run an
	// inference and is called at most once per request of /readyz.
	Ready func(ctx context.Context) error
	// Info returns what /info shows.
	Info func(ctx context.Context) (Info, error)
	// Snapshot writes one of the data folder; nil where there is none.
	Snapshot func(ctx context.Context, w io.Writer) error
	// Log receives one line per request and the faults behind 5xx answers; nil
	// discards them. No text of a document or query is in it.
	Log *slog.Logger
	// Queries is told of each search; nil keeps no query log. Who made it closes it,
	// when the last request is answered.
	Queries *querylog.Log
	// Metrics counts requests and is served at /metrics; nil is metrics.New.
	Metrics *metrics.Metrics
	// SearchTimeout bounds a search; 0 is DefaultSearchTimeout.
	SearchTimeout time.Duration
	// ModelTimeout bounds an interactive request to a model route; 0 is
	// DefaultModelTimeout. Bulk requests are not bounded: their length is the
	// sender's choice, and they end when the sender goes away.
	ModelTimeout time.Duration
}

// DefaultSearchTimeout is how long a search may take before the stages that are
// not done are left out of its answer.
const DefaultSearchTimeout = 30 * time.Second

// DefaultModelTimeout is five times what a full queue of interactive requests
// takes on a slow core.
const DefaultModelTimeout = time.Minute

// Server is an http.Handler over a search service.
type Server struct {
	opts    Options
	handler http.Handler
	started time.Time
	bodies  *semaphore.Weighted // bytes
}

// New returns the handler of all routes.
func New(opts Options) *Server {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.SearchTimeout == 0 {
		opts.SearchTimeout = DefaultSearchTimeout
	}
	if opts.ModelTimeout == 0 {
		opts.ModelTimeout = DefaultModelTimeout
	}
	if opts.Metrics == nil {
		opts.Metrics = metrics.New()
	}
	s := &Server{opts: opts, started: time.Now(), bodies: semaphore.NewWeighted(MaxBodies)}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	// A document id may hold any character; percent-encoded slashes stay part of
	// it. The middleware unescapes: gin would read "+" as a space.
	r.UseRawPath = true
	r.UnescapePathValues = false
	r.HandleMethodNotAllowed = true
	r.Use(s.observe, s.recover, s.authenticate, unescape)
	r.NoRoute(func(c *gin.Context) {
		fail(c, braid.Errorf(braid.NotFound, "no route %s %s: GET /openapi.yaml lists the routes", c.Request.Method, c.Request.URL.Path))
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

// openAPI describes every route; a test holds the handlers to it.
//
//go:embed openapi.yaml
var openAPI []byte

func (s *Server) routes(r *gin.Engine) {
	for _, method := range []string{http.MethodGet, http.MethodHead} { // some load balancers ask with HEAD
		r.Handle(method, "/healthz", func(c *gin.Context) { c.PureJSON(http.StatusOK, gin.H{"status": "ok"}) })
		r.Handle(method, "/readyz", s.ready)
	}
	r.GET("/info", s.info)
	r.GET("/metrics", unlimited, gin.WrapH(s.opts.Metrics.Handler()))
	r.GET("/openapi.yaml", func(c *gin.Context) { c.Data(http.StatusOK, "application/yaml", openAPI) })

	r.GET("/health", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.POST("/embed", s.postEmbed)
	r.POST("/", s.postEmbed) // where clients of text-embeddings-inference with a bare address ask
	r.POST("/embed_sparse", s.postEmbedSparse)
	r.POST("/similarity", s.postSimilarity)
	r.POST("/tokenize", s.postTokenize)
	for _, path := range []string{"/rerank", "/v1/rerank", "/v2/rerank"} {
		r.POST(path, s.postRerank)
	}

	v1 := r.Group("/v1")
	v1.GET("/snapshot", unlimited, s.getSnapshot)
	v1.POST("/embeddings", s.postEmbeddings)
	v1.POST("/sparse-embeddings", s.postSparseEmbeddings)
	v1.GET("/models", s.listModels)
	v1.GET("/models/:model", s.getModel)
	v1.GET("/collections", s.listCollections)
	v1.PUT("/collections/:name", s.putCollection)
	v1.GET("/collections/:name", s.getCollection)
	v1.DELETE("/collections/:name", s.deleteCollection)
	v1.GET("/collections/:name/profile", s.getProfile)
	v1.PUT("/collections/:name/profile", s.putProfile)
	v1.DELETE("/collections/:name/profile", s.deleteProfile)
	v1.POST("/collections/:name/documents", s.postDocuments)
	v1.POST("/collections/:name/documents/delete", s.deleteWhere)
	v1.GET("/collections/:name/documents/:id", s.getDocument)
	v1.PATCH("/collections/:name/documents/:id", s.patchDocument)
	v1.DELETE("/collections/:name/documents/:id", s.deleteDocument)
	v1.POST("/collections/:name/search", s.postSearch)
	v1.POST("/collections/:name/search/batch", s.postSearchBatch)
	v1.POST("/collections/:name/count", s.postCount)
	v1.POST("/collections/:name/reindex", s.postReindex)
	v1.POST("/collections/:name/scroll", s.postScroll)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &budgetedBody{ReadCloser: r.Body, budget: s.bodies}
	defer body.release()
	r.Body = body
	if u := collapseSlashes(r.URL); u != r.URL {
		r = r.WithContext(r.Context()) // a shallow copy
		r.URL = u
	}
	s.handler.ServeHTTP(w, r)
}

func (s *Server) ready(c *gin.Context) {
	if err := s.opts.Ready(c.Request.Context()); err != nil {
		_ = c.Error(err)
		failWith(c, http.StatusServiceUnavailable, err)
		return
	}
	c.PureJSON(http.StatusOK, gin.H{"status": "ready"})
}
