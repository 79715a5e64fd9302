package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a command line that could never work.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

const rootHelp = `braid is hybrid search on your own machine: dense embeddings, SPLADE and BM25
retrieve side by side, their rankings are fused, and a cross-encoder reorders
the top. Models run in this process, from local files; nothing leaves it.

  braid index docs.jsonl            store documents (one JSON object a line)
  braid search "reset the pump"     ask
  braid serve                       the same over HTTP, at 127.0.0.1:8080

A document is {"id": "1", "title": "…", "text": "…", "payload": {…}}; id and a
title or text are required. Documents live in collections inside the data
folder (--data), which one process uses at a time; index, search and eval work
on it directly or, with --server URL, on a running server.

Every flag can be set in the environment: --data is BRAID_DATA, --log-level is
BRAID_LOG_LEVEL. A flag on the command line wins.`

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "braid",
		Short:         "Hybrid search on your own machine",
		Long:          rootHelp,
		Version:       version,
		SilenceErrors: true, // exitCode prints them, once
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("unknown command %q: see braid --help", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return fromEnvironment(cmd.Flags(), os.LookupEnv)
		},
	}
	root.SetVersionTemplate("braid {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())}
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServeCommand(), newIndexCommand(), newSearchCommand(), newEvalCommand(), newTuneCommand(), newModelsCommand(), newSnapshotCommand(), newReindexCommand(), newProfileCommand(), newHealthCommand(), newBenchCommand(), newKeysCommand(), newVersionCommand())
	return root
}

// fromEnvironment sets the flags that were not given from BRAID_ variables.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil {
			return
		}
		name := "BRAID_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, found := lookup(name)
		if !found {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = usageError{fmt.Errorf("environment variable %s: %w", name, err)}
		}
	})
	return failed
}

// exactly is cobra.ExactArgs as a usageError that shows how the command is used.
func exactly(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("got %d arguments, want %d: %s", len(args), n, cmd.UseLine())}
		}
		return nil
	}
}

func atLeast(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usageError{fmt.Errorf("got %d arguments, want %d or more: %s", len(args), n, cmd.UseLine())}
		}
		return nil
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "braid", version)
			return err
		},
	}
}
