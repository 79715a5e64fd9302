package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench"
)

// runCompare prints what changed between two reports.
func runCompare(args []string, stdout, stderr io.Writer) error {
	flags := newFlags("bench compare BEFORE.json AFTER.json", stderr)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return braid.Errorf(braid.InvalidArgument, "got %d files, want the JSON of two reports: bench compare BEFORE.json AFTER.json", flags.NArg())
	}
	before, err := readReport(flags.Arg(0))
	if err != nil {
		return err
	}
	after, err := readReport(flags.Arg(1))
	if err != nil {
		return err
	}
	return bench.WriteChanges(stdout, before, after)
}

func readReport(path string) (*bench.Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	var report bench.Report
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, braid.Errorf(braid.InvalidArgument, "%s is no report of this program: %w", path, err)
	}
	if report.Taken.IsZero() {
		return nil, braid.Errorf(braid.InvalidArgument, "%s is no report of this program: it does not say when it was taken", path)
	}
	return &report, nil
}

// runGate fails when a program is slower than an earlier one.
func runGate(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	cfg := bench.Config{Log: stderr, Documents: 100, Queries: 60, Passages: 32}
	flags := newFlags("bench gate", stderr)
	before := flags.String("before", "", "the braid program of the earlier commit")
	after := flags.String("after", "", "the braid program of the later commit")
	pairs := flags.Int("pairs", bench.DefaultPairs, "times that each does the work, in turn")
	flags.StringVar(&cfg.Root, "root", ".", "root of the checkout")
	flags.StringVar(&cfg.Corpus, "corpus", "", "dataset in BEIR layout to cut texts from (default: demo)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *before == "" || *after == "" || flags.NArg() > 0 {
		return braid.Errorf(braid.InvalidArgument, "want two programs: bench gate -before PROGRAM -after PROGRAM")
	}
	verdicts, err := bench.Gate(ctx, cfg, *before, *after, *pairs)
	if err != nil {
		return err
	}
	if err := bench.WriteGate(stdout, verdicts); err != nil {
		return err
	}
	for _, g := range verdicts {
		if g.Fails {
			return braid.Errorf(braid.Conflict, "%s became slower by more than 5 %%: %d of %d pairs say so, p = %.4f", g.Workload, g.Over, g.Pairs, g.P)
		}
	}
	return nil
}
