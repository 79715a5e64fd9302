package bench

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
)

// Server is a braid that runs with every model, for programs that measure it as a
// whole. It is for one goroutine.
type Server struct {
	Client *httpapi.Client
	served *served
}

// Serve starts the program of cfg on the data folder of that name, which lies with
// what benchmarks keep. The caller closes the server.
func Serve(ctx context.Context, cfg Config, data string) (*Server, error) {
	s, err := startServed(ctx, cfg.withDefaults(), data)
	if err != nil {
		return nil, err
	}
	return &Server{Client: s.client, served: s}, nil
}

// Close ends the server.
func (s *Server) Close() error { return s.served.close() }

// Scratch is the path of what benchmarks keep under a name.
func (c Config) Scratch(name string) string { return c.withDefaults().scratch(name) }

// ModelsKey is other for other models: 12 hexadecimal digits of their digests. What
// one set of models encoded is no use to another.
func ModelsKey(cfg Config) (string, error) {
	hash := sha256.New()
	for _, name := range []string{denseModel, sparseModel, pairModel} {
		m, err := models.Find(cfg.withDefaults().modelsFolder(), name)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, m.Digest())
	}
	return hex.EncodeToString(hash.Sum(nil)[:6]), nil
}

// Ask sends a search and waits for the answer. ms is the time from its sending to
// the answer's last byte.
func (s *Server) Ask(ctx context.Context, collection string, req search.Request) (answer *search.Response, ms float64, err error) {
	body, err := json.Marshal(req)
	if err != nil {
		return nil, 0, err
	}
	sent := time.Now()
	data, err := s.served.post(ctx, request{"/v1/collections/" + collection + "/search", body})
	ms = milliseconds(time.Since(sent))
	if err != nil {
		return nil, 0, err
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, 0, braid.Errorf(braid.Internal, "%s answered what is no answer to a search: %w", s.served.name, err)
	}
	return answer, ms, nil
}

// TokensRead is how many tokens the cross-encoder has read since the server's start.
func (s *Server) TokensRead(ctx context.Context) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.served.base+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.served.http.Do(req)
	if err != nil {
		return 0, s.served.fault(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, s.served.fault(err)
	}
	return metricOf(string(text), fmt.Sprintf("braid_inference_run_tokens_sum{model=%q}", pairModel))
}

// metricOf reads a value of Prometheus's text format; one that is not there is 0, as
// that of a model which did not run yet.
func metricOf(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, nil
}
