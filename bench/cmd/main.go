package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench"
	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/bench/report"
)

func main() {
	report.Main("bench", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr) })
}

// run is the whole program.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "peer" {
		return runPeer(ctx, args[1:], stdin, stdout, stderr)
	}
	if len(args) > 0 && args[0] == "compare" {
		return runCompare(args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "gate" {
		return runGate(ctx, args[1:], stdout, stderr)
	}
	if len(args) > 0 && args[0] == "merge" {
		return runMerge(args[1:], stdout, stderr)
	}
	return runBench(ctx, args, stdout, stderr)
}

// runMerge writes the reports in the named files as one.
func runMerge(args []string, stdout, stderr io.Writer) error {
	flags := newFlags("bench merge", stderr)
	out := flags.String("out", "", "write the report to OUT.json and OUT.md (default: Markdown to standard output)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return braid.Errorf(braid.InvalidArgument, "merge needs the JSON files of reports")
	}
	var reports []*bench.Report
	for _, name := range flags.Args() {
		data, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		report := new(bench.Report)
		if err := json.Unmarshal(data, report); err != nil {
			return fmt.Errorf("read report %s: %w", name, err)
		}
		reports = append(reports, report)
	}
	return write(bench.Merge(reports...), *out, stdout)
}

func runPeer(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var opts peer.Options
	flags := newFlags("bench peer", stderr)
	flags.StringVar(&opts.Library, "library", "", "path of libonnxruntime")
	flags.StringVar(&opts.Models, "models", "", "folder that holds the models")
	flags.StringVar(&opts.Dense, "dense", "", "dense model to load")
	flags.StringVar(&opts.Sparse, "sparse", "", "sparse model to load")
	flags.StringVar(&opts.Pair, "pair", "", "cross-encoder to load")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return peer.Serve(ctx, opts, stdin, stdout)
}

func runBench(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg := bench.Config{Log: stderr}
	flags := newFlags("bench", stderr)
	out := flags.String("out", "", "write the report to OUT.json and OUT.md (default: Markdown to standard output)")
	quick := flags.Bool("quick", false, "fewer texts and rounds: ten minutes at most on two cores")
	flags.StringVar(&cfg.Root, "root", ".", "root of the checkout")
	flags.StringVar(&cfg.Program, "program", "", "server to measure (default: bin/braid)")
	flags.StringVar(&cfg.Corpus, "corpus", "", "dataset in BEIR layout to cut texts from (default: demo)")
	flags.IntVar(&cfg.Rounds, "rounds", 0, "counted runs of each side (default 5)")
	flags.IntVar(&cfg.Documents, "documents", 0, "documents of the corpus to search in (default 1000)")
	flags.IntVar(&cfg.Judged, "judged", 0, "judged queries to rerank in the parts answers and savings (default all)")
	flags.IntVar(&cfg.Queries, "queries", 0, "queries a round, without a rerank (default 200)")
	flags.IntVar(&cfg.Passages, "passages", 0, "passages of mixed lengths (default 256)")
	flags.IntVar(&cfg.Reranks, "reranks", 0, "queries a round, with a rerank (default 10)")
	flags.DurationVar(&cfg.SoakTime, "soak", 0, "how long the part soak runs (default 10m)")
	flags.DurationVar(&cfg.LoadTime, "load", 0, "how long the part load runs at a rate in a round (default 10s)")
	flags.Func("parts", "parts to run, by comma: "+strings.Join(bench.AllParts(), ", ")+" (default: "+strings.Join(bench.Parts(), ", ")+")", func(list string) error {
		cfg.Parts = strings.Split(list, ",")
		return nil
	})
	flags.Func("stacks", "stacks to compare whole searches with, by comma (default: all)", func(list string) error {
		cfg.Stacks = strings.Split(list, ",")
		return nil
	})
	flags.Func("clients", "clients of the servers at the same time, by comma (default 1,4,16)", func(list string) (err error) {
		cfg.Clients, err = numbers(list)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return braid.Errorf(braid.InvalidArgument, "argument %q: there are flags only, see -help", flags.Arg(0))
	}
	if *quick {
		cfg = quickened(cfg)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cfg.Peer = []string{self, "peer"}
	if *out != "" {
		cfg.Seen = func(r *bench.Report) error { return write(r, *out, stdout) }
	}
	report, err := bench.Run(ctx, cfg)
	if report != nil {
		return errors.Join(err, write(report, *out, stdout))
	}
	return err
}

// quickened shortens what the flags did not set.
func quickened(cfg bench.Config) bench.Config {
	if cfg.Rounds == 0 {
		cfg.Rounds = 3
	}
	if cfg.Documents == 0 {
		cfg.Documents = 300
	}
	if len(cfg.Clients) == 0 {
		cfg.Clients = []int{1, 16}
	}
	if cfg.Queries == 0 {
		cfg.Queries = 100
	}
	if cfg.Reranks == 0 {
		cfg.Reranks = 4
	}
	if cfg.Passages == 0 {
		cfg.Passages = 128
	}
	if cfg.LoadTime == 0 {
		cfg.LoadTime = 3 * time.Second
	}
	return cfg
}

func numbers(list string) ([]int, error) {
	var values []int
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		values = append(values, n)
	}
	return values, nil
}

func newFlags(name string, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags
}

func write(report *bench.Report, out string, stdout io.Writer) error {
	if out == "" {
		return report.Markdown(stdout)
	}
	data, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	if err := os.WriteFile(out+".json", append(data, '\n'), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	var text strings.Builder
	if err := report.Markdown(&text); err != nil {
		return err
	}
	if err := os.WriteFile(out+".md", []byte(text.String()), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
