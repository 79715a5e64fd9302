package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/internal/strictjson"
	"github.com/braid-search/braid/search"
)

// searchFlags are the flags that make a search.Request.
type searchFlags struct {
	mode, method                string
	limit, candidates, depth, k int
	window                      int
	budget                      time.Duration
	rerank                      bool
	weights                     []string
	minScore, rerankWeight      float64
	minConfidence               float64
	routing                     bool
	collection, queriesFile     string
	filter                      string
	variants                    []string
	hypothetical                string
	asJSON, compare, explain    bool
	highlight, syntax           bool
}

func newSearchCommand() *cobra.Command {
	var cfg backendConfig
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search [flags] QUERY",
		Short: "Ask a collection",
		Long: `Ask a collection, and see for each hit which branch found it at which rank, where
fusion put it, what the cross-encoder said, and what each stage cost.

--compare answers the query in every mode and puts the answers side by side.
--queries FILE asks each line of a file: {"text": "…"}, optionally with
"relevant": ["id", …], which are then marked ✓, "shows": "a remark", and "variants" and
"hypothetical" as the flags have them.`,
		Example: `  braid search "how do I prime the pump"
  braid search --mode lexical ERR-104
  braid search --explain --limit 3 "low pressure"
  braid search '"inlet pressure" -outlet'
  braid search --filter '{"must": [{"field": "kind", "match": "error"}]}' "low pressure"
  braid search --fusion minmax --weights dense=2 --rerank=false "reset the pump"
  braid search --compare --queries demo/queries.jsonl --collection demo`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.queriesFile != "" {
				return exactly(0)(cmd, args)
			}
			return exactly(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			queries := []query{{Text: strings.Join(args, "")}}
			if f.queriesFile != "" {
				if queries, err = readQueries(f.queriesFile); err != nil {
					return err
				}
			}
			req, err := f.request(cmd.Flags())
			if err != nil {
				return err
			}
			if _, missing := os.Stat(cfg.data); cfg.server == "" && errors.Is(missing, fs.ErrNotExist) {
				return braid.Errorf(braid.NotFound, "there is no data folder %q: index first, or name the folder with --data or a server with --server", cfg.data)
			}
			b, err := cfg.open(cmd.Context(), cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, b.Close()) }()
			s := session{backend: b, collection: f.collection, asJSON: f.asJSON, printer: printer{out: cmd.OutOrStdout()}}
			reqs := make([]search.Request, len(queries))
			for i, q := range queries {
				reqs[i] = req
				reqs[i].Query = q.Text
				q.reword(&reqs[i], f)
			}
			if err := s.answerAll(cmd.Context(), queries, reqs, f.compare); err != nil {
				return err
			}
			s.tally()
			return s.err
		},
	}
	cfg.register(cmd)
	f.register(cmd.Flags())
	return cmd
}

func (f *searchFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.collection, "collection", defaultCollection, "collection to ask")
	flags.StringVar(&f.mode, "mode", string(search.ModeHybrid), "dense, sparse, lexical or hybrid")
	flags.IntVar(&f.limit, "limit", search.DefaultLimit, "hits to return")
	flags.IntVar(&f.candidates, "candidates", search.DefaultCandidates, "documents each branch retrieves")
	flags.BoolVar(&f.rerank, "rerank", true, "let the cross-encoder order the top (default: on in mode hybrid)")
	flags.IntVar(&f.depth, "rerank-depth", search.DefaultRerankDepth, "candidates the cross-encoder scores")
	f.registerWindow(flags)
	flags.DurationVar(&f.budget, "budget", 0, "time the cross-encoder may take, such as 100ms; what it does not get to keeps its place")
	f.registerFusion(flags)
	flags.StringVar(&f.filter, "filter", "", `search only documents whose payload passes this filter, such as '{"must": [{"field": "kind", "match": "error"}]}'`)
	flags.StringArrayVar(&f.variants, "variant", nil, "another wording of the query, asked beside it; may be given several times")
	flags.StringVar(&f.hypothetical, "hypothetical", "", "a made-up answer to the query: the dense branch looks for passages near it")
	flags.Float64Var(&f.minScore, "min-score", 0, "drop hits that score less")
	flags.Float64Var(&f.minConfidence, "min-confidence", 0, "no hits at all if the answer is less sure to hold something relevant, 0 to 1; needs braid tune --calibrate")
	flags.StringVar(&f.queriesFile, "queries", "", "ask each query of this JSON lines file")
	flags.BoolVar(&f.compare, "compare", false, "put the answers of all modes side by side")
	flags.BoolVar(&f.syntax, "syntax", false, "read \"a phrase\" and -word in a query as what has to be in a document, and must not be (default: in queries of at most 12 words, and no options such as -Wall)")
	flags.BoolVar(&f.highlight, "highlight", false, "show the pieces of each hit that match, the words in brackets")
	flags.BoolVar(&f.explain, "explain", false, "show what the scores of each hit consist of")
	flags.BoolVar(&f.asJSON, "json", false, "print answers as JSON, one a line")
}

func (f *searchFlags) registerWindow(flags *pflag.FlagSet) {
	flags.IntVar(&f.window, "rerank-window", search.DefaultRerankWindow, "tokens the cross-encoder reads of a long passage, those that say most about the query; 0 is its beginning, as much as it can read")
}

func (f *searchFlags) registerFusion(flags *pflag.FlagSet) {
	flags.StringVar(&f.method, "fusion", "", "rrf, minmax or dbsf (default: minmax, with weights that suit the kind of query)")
	flags.Float64Var(&f.rerankWeight, "rerank-weight", 0, "share of the cross-encoder in the final order, 0 to 1 (default: what suits the kind of query)")
	flags.BoolVar(&f.routing, "routing", true, "choose the default weights by the kind of query")
	flags.IntVar(&f.k, "k", fusion.DefaultK, "constant of rrf")
	flags.StringSliceVar(&f.weights, "weights", nil, "weight of branches, such as dense=2,lexical=0.5; others weigh 1")
}

// request holds what was asked for; what was not is left to the service's
// defaults.
func (f *searchFlags) request(flags *pflag.FlagSet) (search.Request, error) {
	req := search.Request{Mode: search.Mode(f.mode), Explain: f.explain}
	if flags.Changed("syntax") {
		req.Syntax = &f.syntax
	}
	if f.highlight {
		req.Highlight = &search.Highlight{}
	}
	for name, field := range map[string]struct {
		value *int
		to    **int
	}{"limit": {&f.limit, &req.Limit}, "candidates": {&f.candidates, &req.Candidates}, "rerank-depth": {&f.depth, &req.RerankDepth}, "rerank-window": {&f.window, &req.RerankWindow}} {
		if flags.Changed(name) {
			*field.to = field.value
		}
	}
	if flags.Changed("rerank") {
		req.Rerank = &f.rerank
	}
	if flags.Changed("budget") {
		ms := int(f.budget.Milliseconds())
		req.BudgetMS = &ms
	}
	if flags.Changed("rerank-weight") {
		req.RerankWeight = &f.rerankWeight
	}
	if flags.Changed("routing") {
		req.Routing = &f.routing
	}
	if flags.Changed("min-score") {
		req.MinScore = &f.minScore
	}
	if flags.Changed("min-confidence") {
		req.MinConfidence = &f.minConfidence
	}
	if flags.Changed("filter") {
		req.Filter = &braid.Filter{}
		if err := strictjson.Decode([]byte(f.filter), req.Filter); err != nil {
			return req, fmt.Errorf("--filter: %w", err)
		}
	}
	if flags.Changed("fusion") || flags.Changed("k") || flags.Changed("weights") {
		req.Fusion = &search.Fusion{Method: fusion.Method(f.method), Weights: search.Weights{}}
		if flags.Changed("k") {
			req.Fusion.K = &f.k
		}
	}
	for _, w := range f.weights {
		branch, value, _ := strings.Cut(w, "=")
		weight, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return req, braid.Errorf(braid.InvalidArgument, "--weights %q: want BRANCH=NUMBER, such as dense=2", w)
		}
		req.Fusion.Weights[braid.Branch(branch)] = weight
	}
	return req, nil
}

// query is one line of a --queries file.
type query struct {
	ID       string   `json:"id"`
	BEIR     string   `json:"_id"`
	Text     string   `json:"text"`
	Relevant []string `json:"relevant"`
	Shows    string   `json:"shows"`

	Variants     []string `json:"variants"`
	Hypothetical string   `json:"hypothetical"`
}

// reword puts the query's other wordings into the request; what the file is silent
// about is as the flags have it.
func (q query) reword(req *search.Request, f searchFlags) {
	req.Variants, req.Hypothetical = f.variants, f.hypothetical
	if q.Variants != nil {
		req.Variants = q.Variants
	}
	if q.Hypothetical != "" {
		req.Hypothetical = q.Hypothetical
	}
}

func readQueries(name string) ([]query, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, braid.Errorf(braid.NotFound, "open queries: %w", err)
	}
	var queries []query
	for i, line := range strings.Split(string(data), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var q query
		if err := strictjson.Decode([]byte(line), &q); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, i+1, err)
		}
		if q.ID == "" {
			q.ID = q.BEIR
		}
		queries = append(queries, q)
	}
	if len(queries) == 0 {
		return nil, braid.Errorf(braid.InvalidArgument, "%s holds no query", name)
	}
	return queries, nil
}
