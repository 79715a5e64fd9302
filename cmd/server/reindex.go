package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// reindexer is a backend that can move a collection to its models.
type reindexer interface {
	Reindex(ctx context.Context, name string, settings search.Settings, progress func(done, total int)) (search.ReindexResult, error)
}

func newReindexCommand() *cobra.Command {
	var cfg backendConfig
	var asJSON bool
	var passages passageFlags
	cmd := &cobra.Command{
		Use:   "reindex COLLECTION",
		Short: "Move a collection to other models",
		Long: `Move a collection to other models, from the documents it holds.

  braid reindex notes --dense e5-small-v2                 of a folder nobody uses
  braid reindex notes --server URL                        to the models of a running server

The old vectors serve until the new ones are all there; then the collection changes
over at one moment. A server that is to answer meanwhile needs both models, the new
one first: braid serve --dense new,old. Vectors of models that stay are kept, and
documents that are written meanwhile are moved, too.

A run that was interrupted is finished by running it again. Until then the
collection is as it was, and what was done takes up space in the data folder.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			begun := time.Now()
			result, err := reindex(cmd.Context(), b.(reindexer), args[0], passages.settings(cmd.Flags()), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			return printReindexed(cmd.OutOrStdout(), args[0], result, time.Since(begun), asJSON)
		},
	}
	cfg.register(cmd)
	cmd.Flags().IntVar(&passages.tokens, "passage-tokens", 0, "split documents into passages of at most so many tokens; 0 does not split (default: as before)")
	cmd.Flags().IntVar(&passages.overlap, "passage-overlap", 0, "tokens that a passage may have in common with the one before (default: as before)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func reindex(ctx context.Context, b reindexer, collection string, settings search.Settings, stderr io.Writer) (search.ReindexResult, error) {
	bar := newProgress(stderr, "reindexing "+collection, 0)
	defer bar.finish()
	result, err := b.Reindex(ctx, collection, settings, func(done, total int) { bar.to(int64(done), int64(total)) })
	if err != nil && braid.CodeOf(err) == braid.Canceled {
		return result, braid.Errorf(braid.Canceled, "interrupted: collection %q is as it was; run the same command again to go on", collection)
	}
	return result, err
}

func printReindexed(out io.Writer, collection string, r search.ReindexResult, took time.Duration, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Collection string `json:"collection"`
			search.ReindexResult
			Seconds float64 `json:"seconds"`
		}{collection, r, took.Seconds()})
	}
	if r.Unchanged {
		_, err := fmt.Fprintf(out, "collection %q is of these models already: %d documents, %d passages\n", collection, r.Documents, r.Passages)
		return err
	}
	_, err := fmt.Fprintf(out, "collection %q moved: %d documents, %d passages; %d remade, %d were remade before; %.1f s\n",
		collection, r.Documents, r.Passages, r.Remade, r.Kept, took.Seconds())
	return err
}
