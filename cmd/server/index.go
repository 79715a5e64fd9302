package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

const defaultCollection = "default"

// maxBatchBytes bounds the text of one batch, so that a batch fits into a request
// even where JSON escapes every second character.
const maxBatchBytes = 16 << 20

func newIndexCommand() *cobra.Command {
	var cfg backendConfig
	var collection string
	var asJSON bool
	var passages passageFlags
	cmd := &cobra.Command{
		Use:   "index FILE.jsonl | PAGE…",
		Short: "Store the documents of a file, or pages",
		Long: `Store documents in a collection, which is made if it is not there.

The file holds one JSON object a line, or one JSON array:
  {"id": "1", "title": "…", "text": "…", "format": "markdown", "payload": {"any": "thing"}}
Use - for standard input.

A page is a file that is a document: Markdown (.md), HTML (.html, .htm) or plain
text (.txt). Its id is its path, its title what it is headed by, or its name. Of a
folder all pages in it are stored, and in the folders in it.

All is read twice: once to find every fault before anything is stored, then to
store.

Documents longer than the models read are split into passages; how long these are
is settled when the collection is made.

A document replaces the stored one of the same id. One whose content is stored
already is not encoded again, so that an interrupted run is finished by running
it again.`,
		Args: atLeast(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := openSources(cmd.Context(), args, cmd.InOrStdin(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer input.close()
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			begun := time.Now()
			result, err := input.storeIn(cmd.Context(), b, collection, passages.settings(cmd.Flags()), cmd.ErrOrStderr())
			if err = errors.Join(err, b.Close()); err != nil {
				return err
			}
			return printIndexed(cmd.OutOrStdout(), collection, result, time.Since(begun), asJSON)
		},
	}
	cfg.register(cmd)
	cmd.Flags().StringVar(&collection, "collection", defaultCollection, "collection to store the documents in")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	passages.register(cmd.Flags())
	return cmd
}

// passageFlags say how documents are split.
type passageFlags struct{ tokens, overlap int }

func (p *passageFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&p.tokens, "passage-tokens", 0, "longest passage of a new collection, in tokens; 0: documents are not split (default: what the models read, at most 510)")
	flags.IntVar(&p.overlap, "passage-overlap", 0, "how many tokens of a passage the next one may repeat (default 32)")
}

// settings are those that were given.
func (p *passageFlags) settings(flags *pflag.FlagSet) search.Settings {
	var given search.PassageSettings
	if flags.Changed("passage-tokens") {
		given.Tokens = &p.tokens
	}
	if flags.Changed("passage-overlap") {
		given.Overlap = &p.overlap
	}
	if given == (search.PassageSettings{}) {
		return search.Settings{}
	}
	return search.Settings{Passages: &given}
}

// storeAll stores documents in a collection that exists, a batch at a time. After
// an error, or when ctx ends, what is stored stays stored.
func storeAll(ctx context.Context, b backend, collection string, docs iter.Seq[braid.Document], count int, stderr io.Writer) (search.IngestResult, error) {
	var total search.IngestResult
	bar := newProgress(stderr, "indexing", count)
	defer bar.finish()
	batch := make([]braid.Document, 0, search.IngestBatch)
	size := 0
	flush := func() error {
		result, err := b.Ingest(ctx, collection, batch)
		total.Add(result)
		bar.add(len(batch))
		batch, size = batch[:0], 0
		return err
	}
	var err error
	for d := range docs {
		batch = append(batch, d)
		if size += len(d.Title) + len(d.Text) + len(d.Payload); len(batch) == cap(batch) || size >= maxBatchBytes {
			if err = flush(); err != nil {
				break
			}
		}
	}
	if err == nil && len(batch) > 0 {
		err = flush()
	}
	if err != nil {
		if braid.CodeOf(err) == braid.Canceled {
			err = braid.Errorf(braid.Canceled, "interrupted")
		}
		return total, fmt.Errorf("%w: %d of %d documents are stored; run the same command again to store the rest", err, total.Stored(), count)
	}
	return total, nil
}

func printIndexed(out io.Writer, collection string, r search.IngestResult, took time.Duration, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Collection string `json:"collection"`
			search.IngestResult
			Seconds float64 `json:"seconds"`
		}{collection, r, took.Seconds()})
	}
	_, err := fmt.Fprintf(out, "%d documents in collection %q: %d new, %d replaced, %d unchanged\n", r.Stored(), collection, r.Created, r.Replaced, r.Unchanged)
	if err == nil && r.Tokens > 0 {
		encoded := float64(r.Created + r.Replaced)
		if r.Reused > 0 || r.Encoded > r.Created+r.Replaced {
			if _, err = fmt.Fprintf(out, "%d passages encoded, %d as they were\n", r.Encoded, r.Reused); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(out, "%d tokens in %.1f s (%.1f documents/s); %d longer than the dense model reads\n", r.Tokens, took.Seconds(), encoded/took.Seconds(), r.Truncated)
	}
	return err
}
