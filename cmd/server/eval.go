package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// evalDepth is the length of the rankings that are scored: R@100 needs it.
const evalDepth = 100

func newEvalCommand() *cobra.Command {
	var cfg backendConfig
	var f searchFlags
	var qrels string
	var modes []string
	var o evalOutput
	cmd := &cobra.Command{
		Use:   "eval DIR",
		Short: "Measure search quality on a test collection",
		Long: `Measure search quality on a test collection in BEIR layout: corpus.jsonl,
queries.jsonl and qrels/test.tsv (another file of qrels/ with --qrels NAME).

The corpus is stored in a collection of its own, by default named after the
folder, and kept: documents that are stored already are not encoded again.
Prints the mean of each metric over the judged queries, for every mode. Metrics
are nDCG@k, RR@k, R@k (recall), P@k (precision), Success@k and AP.

--out keeps the scores of every query. --baseline compares with such a file, and
exits with 3 when a metric fell by more than --tolerance.

--run-out writes the rankings as TREC run files, --run-in scores such a file of
any system, without models and data folder.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			dataset, err := eval.Open(args[0], qrels)
			if err != nil {
				return err
			}
			chosen, err := chooseWays(modes)
			if err != nil {
				return err
			}
			if err := o.prepare(); err != nil {
				return err
			}
			if o.runIn != "" {
				return o.scoreRunFile(cmd.OutOrStdout(), cmd.ErrOrStderr(), dataset, f.asJSON)
			}
			if f.collection == "" {
				f.collection = "eval-" + dataset.Name
			}
			req, err := f.request(cmd.Flags())
			if err != nil {
				return err
			}
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			if err := indexCorpus(cmd.Context(), b, f.collection, dataset, cmd.ErrOrStderr()); err != nil {
				return err
			}
			results := dataset.Results()
			for _, w := range chosen {
				run, err := answerAll(cmd.Context(), b, f.collection, dataset, w, req, cmd.ErrOrStderr())
				if code := braid.CodeOf(err); len(modes) == 0 && err != nil && (code == braid.Unavailable || code == braid.InvalidArgument) {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "braid: mode %s is left out: %v\n", w.name, err)
					continue
				}
				if err != nil {
					return fmt.Errorf("mode %s: %w", w.name, err)
				}
				if err := o.keepRun(dataset, w.name, run); err != nil {
					return err
				}
				if err := dataset.Score(results, w.name, run, o.metrics); err != nil {
					return fmt.Errorf("mode %s: %w", w.name, err)
				}
			}
			return o.finish(cmd.OutOrStdout(), cmd.ErrOrStderr(), results, f.asJSON)
		},
	}
	cfg.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&qrels, "qrels", eval.DefaultQrels, "judgments to use: qrels/NAME.tsv")
	flags.StringSliceVar(&modes, "modes", nil, "modes to measure, of dense, sparse, lexical, hybrid and hybrid+rerank (default: all)")
	flags.StringVar(&f.collection, "collection", "", "collection to keep the corpus in (default: eval-FOLDER)")
	flags.IntVar(&f.candidates, "candidates", search.DefaultCandidates, "documents each branch retrieves")
	flags.IntVar(&f.depth, "rerank-depth", search.DefaultRerankDepth, "candidates the cross-encoder scores")
	f.registerWindow(flags)
	f.registerFusion(flags)
	o.register(flags)
	flags.BoolVar(&f.asJSON, "json", false, "print the result as JSON")
	return cmd
}

// chooseWays returns the ways of answering that are named, or all.
func chooseWays(names []string) ([]way, error) {
	all := ways()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []way
	for _, name := range names {
		i := slices.IndexFunc(all, func(w way) bool { return w.name == name })
		if i < 0 {
			return nil, braid.Errorf(braid.InvalidArgument, "--modes %q: use dense, sparse, lexical, hybrid and hybrid+rerank", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// indexCorpus sees that the collection holds the dataset's documents and no
// others. Documents without text are left out: no mode could find them.
func indexCorpus(ctx context.Context, b backend, collection string, dataset *eval.Dataset, stderr io.Writer) error {
	var docs []braid.Document
	empty := 0
	for d, err := range dataset.Corpus() {
		if err != nil {
			return err
		}
		if strings.TrimSpace(d.Passage()) == "" {
			empty++
			continue
		}
		docs = append(docs, d)
	}
	if empty > 0 {
		_, _ = fmt.Fprintf(stderr, "braid: %d documents have no text and are left out\n", empty)
	}
	if _, err := b.Create(ctx, collection); err != nil {
		return err
	}
	if _, err := storeAll(ctx, b, collection, slices.Values(docs), len(docs), stderr); err != nil {
		return err
	}
	info, err := b.Collection(ctx, collection)
	if err != nil {
		return err
	}
	if info.Documents != len(docs) {
		return braid.Errorf(braid.Conflict, "collection %q holds %d documents, the dataset %d: it was made from another corpus; choose another with --collection", collection, info.Documents, len(docs))
	}
	return nil
}

// answerAll asks every query of the dataset in one way.
func answerAll(ctx context.Context, b backend, collection string, dataset *eval.Dataset, w way, req search.Request, stderr io.Writer) (eval.Run, error) {
	depth := evalDepth
	req.Mode, req.Rerank, req.Limit = w.mode, &w.rerank, &depth
	if w.mode != search.ModeHybrid {
		req.Fusion = nil
	}
	bar := newProgress(stderr, w.name, len(dataset.Queries))
	defer bar.finish()
	run := eval.Run{}
	for _, q := range dataset.Queries {
		req.Query = q.Text
		answer, err := b.Search(ctx, collection, req)
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", q.ID, err)
		}
		if len(answer.Degraded) > 0 {
			d := answer.Degraded[0]
			return nil, braid.Errorf(d.Code, "query %q was answered without %s: %s", q.ID, d.Stage, d.Message)
		}
		ids := make([]string, len(answer.Hits))
		for i, h := range answer.Hits {
			ids[i] = h.ID
		}
		run[q.ID] = ids
		bar.add(1)
	}
	return run, nil
}
