package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/models"
)

const readyLimit = 2 * time.Minute

// braidServe is the name of bin/braid in tables.
const braidServe = "braid serve"

// server is a model server that runs. Both kinds of server here know the same
// routes and bodies: OpenAI's embeddings and Cohere's rerank.
type server struct {
	*process
	base    string
	http    *http.Client
	started time.Duration // until it was ready
}

// startBraid starts bin/braid. Models not named are not loaded.
func startBraid(ctx context.Context, cfg Config, data, dense, sparse, pair string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	none := func(name string) string {
		if name == "" {
			return "none"
		}
		return name
	}
	cmd := exec.CommandContext(ctx, cfg.Program, "serve", "--listen", "127.0.0.1:"+port, "--data", cfg.scratch(data),
		"--models", cfg.modelsFolder(), "--dense", none(dense), "--sparse", none(sparse), "--reranker", none(pair))
	return await(ctx, cfg, braidServe, cmd, port)
}

// served is braid with every model, and a client of its own API.
type served struct {
	*server
	client *httpapi.Client
}

func startServed(ctx context.Context, cfg Config, data string) (*served, error) {
	s, err := startBraid(ctx, cfg, data, denseModel, sparseModel, pairModel)
	if err != nil {
		return nil, err
	}
	client, err := httpapi.NewClient(s.base)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return &served{s, client}, nil
}

func (s *served) close() error { return errors.Join(s.client.Close(), s.server.close()) }

// startInfinity starts infinity on one model.
func startInfinity(ctx context.Context, cfg Config, kind models.Kind) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	name, folder := "dense", denseModel
	if kind == models.CrossEncoder {
		name, folder = "pair", pairModel
	}
	cmd := exec.CommandContext(ctx, cfg.python("infinity"), cfg.script("infinity_server.py"), name, cfg.model(folder), cfg.scratch("infinity-"+name), port)
	return await(ctx, cfg, "infinity", cmd, port)
}

func await(ctx context.Context, cfg Config, name string, cmd *exec.Cmd, port string) (*server, error) {
	begun := time.Now()
	p, err := begin(cfg, name, cmd, terminate(cmd))
	if err != nil {
		return nil, err
	}
	s := &server{process: p, base: "http://127.0.0.1:" + port, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	for {
		if s.ready(ctx) {
			s.started = time.Since(begun)
			return s, nil
		}
		select {
		case <-p.done:
			return nil, p.fault(fmt.Errorf("it ended: %w", p.err))
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(begun) > readyLimit {
			_ = s.close()
			return nil, p.fault(braid.Errorf(braid.DeadlineExceeded, "not ready after %s", readyLimit))
		}
	}
}

func (s *server) ready(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/health", nil)
	if err != nil {
		return false
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (s *server) close() error {
	s.http.CloseIdleConnections()
	return s.process.close()
}

// freePort is one nobody listens at; another process could take it before the
// server does, which then does not start.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port), nil
}

// request is a body and the route it goes to.
type request struct {
	path string
	body []byte
}

// The model is not named: a server takes its own.
func embeddings(texts []string) request {
	data, _ := json.Marshal(map[string]any{"input": texts}) // strings always encode
	return request{"/v1/embeddings", data}
}

func rerankOf(query string, documents []string) request {
	data, _ := json.Marshal(map[string]any{"query": query, "documents": documents}) // as above
	return request{"/v1/rerank", data}
}

// post sends a request and returns the answer.
func (s *server) post(ctx context.Context, r request) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, s.fault(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, s.fault(err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, braid.Errorf(braid.Unavailable, "%s answered %s: %.200s", s.name, resp.Status, data)
	}
	return data, nil
}

// loaded is what clients saw of a server.
type loaded struct {
	latencies []float64 // milliseconds, one a whole answer, in no order
	partial   int       // answers that had to do without a stage of a search
	elapsed   time.Duration
}

// isPartial reports whether an answer of braid's says that it is not whole.
func isPartial(answer []byte) bool { return bytes.Contains(answer, []byte(`"degraded":`)) }

// rate is whole answers a second.
func (l loaded) rate() float64 { return float64(len(l.latencies)) / l.elapsed.Seconds() }

// load sends the requests from a number of clients, each of which waits for its
// answer before it sends the next (a closed loop). It stops at the first failure.
func (s *server) load(ctx context.Context, clients int, requests []request) (loaded, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const partial = -1
	latencies := make([]float64, len(requests))
	var next atomic.Int64
	var wait sync.WaitGroup
	begun := time.Now()
	for range clients {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(requests)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				sent := time.Now()
				answer, err := s.post(ctx, requests[i])
				if err != nil {
					cancel(err)
					return
				}
				latencies[i] = milliseconds(time.Since(sent))
				if isPartial(answer) {
					latencies[i] = partial
				}
			}
		})
	}
	wait.Wait()
	elapsed := time.Since(begun)
	whole := slices.DeleteFunc(slices.Clone(latencies), func(l float64) bool { return l == partial })
	return loaded{whole, len(latencies) - len(whole), elapsed}, context.Cause(ctx)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
