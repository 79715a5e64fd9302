package main

import (
	"errors"
	"fmt"
	"slices"

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
		Use:   "eval DIR|FILE",
		Short: "Measure search quality on labelled queries or a test collection",
		Long: `Measure search quality, on labelled queries of your own against a collection that
is there, or on a test collection that brings its documents.

FILE holds queries and the ids of the documents that answer them, as JSON lines
or, named .tsv, as query, document and grade between tabs:

  {"text": "reset the pump", "relevant": ["pump-12"]}
  {"text": "ERR-104", "relevant": {"err-104": 2, "errors": 1}}

DIR is in BEIR layout: corpus.jsonl, queries.jsonl and qrels/test.tsv (another
file of qrels/ with --qrels NAME). The corpus is stored in a collection of its
own, by default named after the folder, and kept: documents that are stored
already are not encoded again.

Prints the mean of each metric over the judged queries, for every mode. Metrics
are nDCG@k, RR@k, R@k (recall), P@k (precision), Success@k and AP. --details adds
intervals, the kinds of queries, what each branch retrieves, and times.

--out keeps the scores of every query. --baseline compares with such a file, and
exits with 3 when a metric fell by more than --tolerance; with --details it shows
where the documents of the queries that changed stood in each branch.

--run-out writes the rankings as TREC run files, --run-in scores such a file of
any system, without models and data folder.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			dataset, err := openDataset(args[0], qrels)
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
				f.collection = collectionOf(dataset)
			}
			req, err := f.request(cmd.Flags())
			if err != nil {
				return err
			}
			if req.Syntax == nil { // a data set's queries are texts: a quote in them quotes
				req.Syntax = new(bool)
			}
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			e := evaluation{backend: b, collection: f.collection, dataset: dataset, stderr: cmd.ErrOrStderr()}
			if err := e.prepare(cmd.Context()); err != nil {
				return err
			}
			results := dataset.Results()
			results.Classify(func(text string) string { return string(search.Route(text).Kind) })
			results.Places = map[string][][]eval.Place{}
			times := map[string]map[string]eval.Latency{}
			for _, w := range chosen {
				a, err := e.answerAll(cmd.Context(), w, req)
				if code := braid.CodeOf(err); len(modes) == 0 && err != nil && (code == braid.Unavailable || code == braid.InvalidArgument) {
					_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "braid: mode %s is left out: %v\n", w.name, err)
					continue
				}
				if err != nil {
					return fmt.Errorf("mode %s: %w", w.name, err)
				}
				if err := o.keepRun(dataset, w.name, a.run); err != nil {
					return err
				}
				if err := dataset.Score(results, w.name, a.run, o.metrics); err != nil {
					return fmt.Errorf("mode %s: %w", w.name, err)
				}
				results.Places[w.name], times[w.name] = a.places, eval.Latencies(a.times)
			}
			if o.details {
				o.report = results.Details()
				o.report.LatenciesMS = times
				if o.report.Candidates, err = e.candidates(cmd.Context(), req); err != nil {
					return err
				}
			}
			return o.finish(cmd.OutOrStdout(), cmd.ErrOrStderr(), results, f.asJSON)
		},
	}
	cfg.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&qrels, "qrels", eval.DefaultQrels, "judgments to use: qrels/NAME.tsv")
	flags.StringSliceVar(&modes, "modes", nil, "modes to measure, of dense, sparse, lexical, hybrid and hybrid+rerank (default: all)")
	flags.StringVar(&f.collection, "collection", "", "collection to ask (default: default, and eval-FOLDER for a test collection, which is kept there)")
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
