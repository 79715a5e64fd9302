package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// backend is where index, search and eval do their work: this process or a
// running server.
type backend interface {
	// CreateWith makes the collection or finds that it is there with these settings.
	CreateWith(ctx context.Context, name string, settings search.Settings) (index.Info, error)
	// Collection describes one that exists.
	Collection(ctx context.Context, name string) (index.Info, error)
	Ingest(ctx context.Context, name string, docs []braid.Document) (search.IngestResult, error)
	Search(ctx context.Context, name string, req search.Request) (*search.Response, error)
	// SearchBatch answers up to search.MaxBatch queries in their order.
	SearchBatch(ctx context.Context, name string, reqs []search.Request) ([]search.Answered, error)
	Close() error
}

// backendConfig holds the flags that choose a backend.
type backendConfig struct {
	localConfig
	server string
	key    string
}

func (c *backendConfig) register(cmd *cobra.Command) {
	c.localConfig.register(cmd.Flags())
	cmd.Flags().StringVar(&c.server, "server", "", "work on the running server at this address, such as http://127.0.0.1:8080, instead of --data")
	registerKey(cmd.Flags(), &c.key)
}

func registerKey(flags *pflag.FlagSet, key *string) {
	flags.StringVar(key, "api-key", "", "API key for the server at --server; BRAID_API_KEY keeps it out of the list of processes")
}

// open returns the backend the flags ask for; log lines go to stderr.
func (c backendConfig) open(ctx context.Context, stderr io.Writer) (backend, error) {
	if c.server != "" {
		client, err := httpapi.NewClient(c.server)
		if err != nil {
			return nil, err
		}
		return client.WithKey(c.key), nil
	}
	// A degraded answer says so itself; what is left for the log are faults.
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	l, err := openLocal(ctx, c.localConfig, log, stderr)
	if err != nil {
		return nil, err
	}
	return inProcess{l}, nil
}

// inProcess gives a local service the shape of a backend; what it does not say
// itself are the service's own methods.
type inProcess struct{ *local }

func (p inProcess) CreateWith(ctx context.Context, name string, settings search.Settings) (index.Info, error) {
	info, _, err := p.local.CreateWith(ctx, name, settings)
	return info, err
}

func (p inProcess) Collection(ctx context.Context, name string) (index.Info, error) {
	return p.Info(ctx, name)
}

// SearchBatch has no bound of time but the user's patience, as Search has none.
func (p inProcess) SearchBatch(ctx context.Context, name string, reqs []search.Request) ([]search.Answered, error) {
	return p.local.SearchBatch(ctx, name, reqs, 0)
}
