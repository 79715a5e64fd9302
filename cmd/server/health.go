package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
)

// readyBody bounds how much of a refusal is shown.
const readyBody = 4 << 10

func newHealthCommand() *cobra.Command {
	var server string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a running server whether it is ready",
		Long: `Ask a running server whether it is ready: its models pass their self-test. Says
nothing and exits 0 if so, else prints why not and exits 1. Made for the health
checks of containers, which need no other HTTP client then.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			return ready(ctx, server)
		},
	}
	cmd.Flags().StringVar(&server, "server", "http://127.0.0.1:8080", "address of the server")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "no answer by then means not ready")
	return cmd
}

// ready returns nil if the server at base says so at /readyz.
func ready(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return braid.Errorf(braid.InvalidArgument, "--server %q: want http://HOST:PORT", base)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath("readyz").String(), nil)
	if err != nil {
		return braid.Errorf(braid.InvalidArgument, "--server %q: %w", base, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return braid.Errorf(braid.Unavailable, "not ready: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, readyBody)) // what came of it is enough
	return braid.Errorf(braid.Unavailable, "not ready: %s answered %s: %s", req.URL, resp.Status, strings.TrimSpace(string(body)))
}
