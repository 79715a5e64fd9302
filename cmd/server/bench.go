package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/internal/selfbench"
	"github.com/braid-search/braid/search"
)

func newBenchCommand() *cobra.Command {
	var cfg localConfig
	var budget time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the models on this machine and recommend settings",
		Long: `Measure what this machine does with the models, in about a minute: what each stage
of a search takes in every mode, how many tokens a second each model reads with
one, half and all of the cores, and how many passages a second are encoded by the
number of texts a call. It recommends settings by what it measured. Needs no data
folder and no server; let the machine have nothing else to do meanwhile.`,
		Example: `  braid bench
  braid bench --dense my-model --budget 20s --json`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := measure(cmd.Context(), cfg, budget, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			p := printer{out: cmd.OutOrStdout()}
			if asJSON {
				p.json(report)
				return p.err
			}
			return printBench(p.out, report)
		},
	}
	cfg.registerModels(cmd.Flags())
	cmd.Flags().DurationVar(&budget, "budget", time.Minute, "about how long to measure, 1s or more")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the figures as JSON")
	return cmd
}

// measure runs the measurement in a folder that is removed afterwards.
func measure(ctx context.Context, cfg localConfig, budget time.Duration, progress io.Writer) (_ *selfbench.Report, err error) {
	scratch, err := os.MkdirTemp("", "braid-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the measurement: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	open := func(threads int) (*modelset.Set, *inference.Runtime, error) {
		cfg.threads = threads
		l := &local{}
		if err := l.load(cfg); err != nil {
			return nil, nil, errors.Join(err, l.Close())
		}
		return l.set, l.runtime, nil
	}
	serve := func(ctx context.Context, set *modelset.Set) (*search.Service, io.Closer, error) {
		log := slog.New(slog.DiscardHandler)
		engine, err := embedded.Open(ctx, scratch, embedded.Options{Log: log})
		if err != nil {
			return nil, nil, err
		}
		return search.New(engine, set.Search(), log), engine, nil
	}
	return selfbench.Run(ctx, selfbench.Options{Open: open, Serve: serve, Budget: budget, Progress: progress})
}

// printBench prints the figures as tables and the advice below.
func printBench(out io.Writer, r *selfbench.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(format string, cells ...any) { _, _ = fmt.Fprintf(w, format+"\n", cells...) } // Flush reports a failure
	row("%d cores, ONNX Runtime %s, %s\n", r.Cores, r.Runtime, r.Provider)
	row("mode\tstage\tp50 ms\tp95 ms\tsearches")
	for _, s := range r.Stages {
		row("%s\t%s\t%.2f\t%.2f\t%d", s.Mode, s.Stage, s.P50, s.P95, s.Searches)
	}
	row("\nmodel\tat once\ttokens/s\tlowest\thighest")
	for _, rate := range r.Rates {
		row("%s\t%d\t%.0f\t%.0f\t%.0f", harmless(rate.Model), rate.Threads, rate.Tokens, rate.Lowest, rate.Highest)
	}
	if len(r.Calls) > 0 {
		row("\ntexts a call\tpassages/s")
		for _, c := range r.Calls {
			row("%d\t%.1f", c.Texts, c.Passages)
		}
	}
	if r.Advice.Threads == r.Cores {
		row("\nRecommended: --threads %d, which is the default here.", r.Advice.Threads)
	} else {
		row("\nRecommended: --threads %d. With %d, the default here, the models read fewer tokens a second.", r.Advice.Threads, r.Cores)
	}
	if r.Advice.Texts > 0 {
		row("Send %d texts a request or more when you store or embed many.", r.Advice.Texts)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print figures: %w", err)
	}
	return nil
}
