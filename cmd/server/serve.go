package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/metrics"
)

const (
	shutdownGrace     = 30 * time.Second // for requests under way after a signal
	readHeaderTimeout = 10 * time.Second
	readTimeout       = 5 * time.Minute // for the whole request; large uploads on slow lines
	idleTimeout       = 2 * time.Minute
	// readyInterval bounds how often /readyz runs a real inference.
	readyInterval   = 5 * time.Second
	selfTestTimeout = 20 * time.Second
)

type serveConfig struct {
	localConfig
	listen        string
	logLevel      string
	logFormat     string
	searchTimeout time.Duration
	apiKeys       string
	queries       queryLogConfig
}

func newServeCommand() *cobra.Command {
	var cfg serveConfig
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve search over HTTP",
		Long: `Serve collections, documents and search over HTTP; docs/api.md lists the routes.

The server listens once its models have passed a self-test, logs to standard
error, one line a request, and stops on SIGINT or SIGTERM when the requests under
way are answered (a second signal stops it at once).`,
		Example: `  braid serve --data /var/lib/braid --listen :8080
  curl -X PUT localhost:8080/v1/collections/docs
  curl localhost:8080/v1/collections/docs/documents --data-binary @docs.jsonl
  curl localhost:8080/v1/collections/docs/search -d '{"query": "reset the pump"}'`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := newLogger(cmd.ErrOrStderr(), cfg.logLevel, cfg.logFormat)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), cfg, log)
		},
	}
	cfg.register(cmd.Flags())
	cmd.Flags().StringVar(&cfg.listen, "listen", "127.0.0.1:8080", "address to listen at; port 0 takes a free one")
	cmd.Flags().StringVar(&cfg.logLevel, "log-level", "info", "debug, info, warn or error")
	cmd.Flags().StringVar(&cfg.logFormat, "log-format", "text", "text or json, one object a line")
	cmd.Flags().StringVar(&cfg.apiKeys, "api-keys", "", "file of the API keys that callers have to bring; without it nobody is asked for one (see docs/keys.md)")
	cfg.queries.register(cmd.Flags())
	cmd.Flags().DurationVar(&cfg.searchTimeout, "search-timeout", httpapi.DefaultSearchTimeout, "what a search has not done by then is left out of its answer")
	return cmd
}

// serve runs until ctx ends.
func serve(ctx context.Context, cfg serveConfig, log *slog.Logger) (err error) {
	if cfg.searchTimeout <= 0 {
		return braid.Errorf(braid.InvalidArgument, "--search-timeout is %s, want more than 0", cfg.searchTimeout)
	}
	begun := time.Now()
	keys, err := readKeys(cfg.apiKeys)
	if err != nil {
		return err
	}
	counted := metrics.New()
	cfg.observer = counted
	l, err := openLocal(ctx, cfg.localConfig, log, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()

	queries, err := cfg.queries.open(log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, queries.Close()) }()

	counted.Watch(metrics.Sources{Runtime: l.runtime.Info, Collections: l.List, QueryLog: countsOf(queries)})

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.listen)
	if err != nil {
		return braid.Errorf(braid.Unavailable, "listen at %q: %w: choose another address with --listen", cfg.listen, err)
	}
	handler := httpapi.New(httpapi.Options{
		Search:        l.Service,
		Keys:          keys,
		Models:        l.set,
		Ready:         l.readiness(readyInterval),
		Info:          l.info(begun),
		Snapshot:      l.snapshot,
		Log:           log,
		Queries:       queries,
		Metrics:       counted,
		SearchTimeout: cfg.searchTimeout,
	})
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	log.Info("listening", "address", listener.Addr().String(), "api_keys", keys.Len(), "version", version, "data", cfg.data,
		"provider", l.runtime.Info().Provider, "started_in", time.Since(begun).Round(time.Millisecond))

	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping", "grace", shutdownGrace)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		log.Warn("requests under way are cut off", "err", err)
		if err := server.Close(); err != nil {
			log.Warn("close listener", "err", err)
		}
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	log.Info("stopped")
	return nil
}

// readiness reports why requests cannot be served: a model fails its self-test,
// which runs at most once per interval. It tells broken from busy: while work
// waits for the models, and when the test does not get its turn, the last verdict
// stands. The test is nobody's request, so that a prober who leaves does not end
// it.
func (l *local) readiness(interval time.Duration) func(context.Context) error {
	type verdict struct {
		at  time.Time
		err error
	}
	var last atomic.Pointer[verdict]
	last.Store(&verdict{at: time.Now()}) // start-up has just tested
	var testing sync.Mutex
	return func(ctx context.Context) error {
		v := last.Load()
		if time.Since(v.at) < interval || !testing.TryLock() {
			return v.err
		}
		defer testing.Unlock()
		if q := l.runtime.Info().Queue; q.QueryTokens+q.BulkTokens > 0 {
			return v.err
		}
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), selfTestTimeout)
		defer cancel()
		err := l.runtime.SelfTest(own)
		switch braid.CodeOf(err) {
		case braid.Overloaded, braid.DeadlineExceeded:
			return v.err
		}
		last.Store(&verdict{at: time.Now(), err: err})
		return err
	}
}

// info describes the process for /info.
func (l *local) info(begun time.Time) func(context.Context) (httpapi.Info, error) {
	return func(ctx context.Context) (httpapi.Info, error) {
		collections, err := l.List(ctx)
		if err != nil {
			return httpapi.Info{}, err
		}
		info := httpapi.Info{
			Version: version,
			Runtime: l.runtime.Info(),
			Uptime:  time.Since(begun).Seconds(),
			Data:    httpapi.DataFolder{Collections: len(collections), LostCommits: l.lostCommits()},
		}
		for _, c := range collections {
			info.Data.Documents += c.Documents
		}
		return info, nil
	}
}
