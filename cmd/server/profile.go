package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// profiles is where profiles are kept: a data folder or a running server.
type profiles interface {
	Profile(ctx context.Context, collection string) (search.VersionedProfile, error)
	SetProfile(ctx context.Context, collection string, p search.Profile) (search.VersionedProfile, error)
	ClearProfile(ctx context.Context, collection string) (search.VersionedProfile, error)
}

func newProfileCommand() *cobra.Command {
	var data, server, key, collection string
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Show, set or clear the search defaults of a collection",
		Long: `Show, set or clear the search defaults of a collection: what a search request
does not say is taken from there. They are kept with the collection, and every
answer names their version.

  {"candidates": 200, "rerank": true, "rerank_depth": 20,
   "fusion": {"method": "rrf", "k": 20, "weights": {"lexical": 2}}}`,
		Example: `  braid profile show --collection docs
  braid profile set tuned.json --collection docs --server http://127.0.0.1:8080
  braid profile clear --collection docs`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&data, "data", "braid-data", "folder that holds the collections")
	flags.StringVar(&server, "server", "", "work on the running server at this address instead of --data")
	registerKey(flags, &key)
	flags.StringVar(&collection, "collection", defaultCollection, "collection whose defaults they are")

	run := func(cmd *cobra.Command, act func(profiles) (search.VersionedProfile, error)) error {
		var result search.VersionedProfile
		err := withProfiles(cmd.Context(), data, server, key, cmd.ErrOrStderr(), func(p profiles) (err error) {
			result, err = act(p)
			return err
		})
		if err != nil {
			return err
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetIndent("", "  ")
		return e.Encode(result)
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "show", Short: "Print the defaults and their version", Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return run(cmd, func(p profiles) (search.VersionedProfile, error) { return p.Profile(cmd.Context(), collection) })
			},
		},
		&cobra.Command{
			Use: "set FILE", Short: "Replace the defaults by those in a JSON file, or on standard input for -", Args: exactly(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				profile, err := readProfile(args[0], cmd.InOrStdin())
				if err != nil {
					return err
				}
				return run(cmd, func(p profiles) (search.VersionedProfile, error) {
					return p.SetProfile(cmd.Context(), collection, profile)
				})
			},
		},
		&cobra.Command{
			Use: "clear", Short: "Go back to the program's own defaults", Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return run(cmd, func(p profiles) (search.VersionedProfile, error) { return p.ClearProfile(cmd.Context(), collection) })
			},
		},
	)
	return cmd
}

func readProfile(name string, stdin io.Reader) (search.Profile, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return search.Profile{}, braid.Errorf(braid.NotFound, "open the profile: %w", err)
		}
		defer f.Close() // it is only read
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, index.MaxProfileBytes+1))
	if err != nil {
		return search.Profile{}, braid.Errorf(braid.InvalidArgument, "read the profile: %w", err)
	}
	p, err := search.ParseProfile(text)
	if err != nil {
		return search.Profile{}, braid.Errorf(braid.InvalidArgument, "%s: %w", name, err)
	}
	return p, nil
}

// withProfiles opens what the flags name, without any model, and closes it.
func withProfiles(ctx context.Context, data, server, key string, stderr io.Writer, use func(profiles) error) error {
	if server != "" {
		client, err := httpapi.NewClient(server)
		if err != nil {
			return err
		}
		return errors.Join(use(client.WithKey(key)), client.Close())
	}
	if _, err := os.Stat(data); err != nil { // opening would make it
		return braid.Errorf(braid.NotFound, "data folder: %w", err)
	}
	engine, err := openEngine(ctx, localConfig{data: data}, nil, stderr)
	if err != nil {
		return err
	}
	return errors.Join(use(search.New(engine, search.Models{}, nil)), engine.Close())
}
