package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/apikeys"
)

func newKeysCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Make API keys",
		Long: `Make API keys for a server that is started with --api-keys FILE. The file is
  {"keys": [
    {"name": "operator", "sha256": "…"},
    {"name": "tenant a", "sha256": "…", "filter": {"must": [{"field": "tenant", "match": "a"}]}}
  ]}
and holds no key, only the SHA-256 of each; docs/keys.md says what limits there are.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysNewCommand())
	return cmd
}

func newKeysNewCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "new NAME",
		Short:   "Print a new key and its entry for the file of keys",
		Long:    "Print a new key, which is kept nowhere, and its entry for the file of keys.",
		Example: `  braid keys new "tenant a"`,
		Args:    exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, entry, err := apikeys.New(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "key:   %s\nentry: %s\n", key, entry)
			return err
		},
	}
}

// readKeys reads the file of --api-keys, nil when there is none.
func readKeys(name string) (*apikeys.Set, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, braid.Errorf(braid.NotFound, "--api-keys: %w", err)
	}
	set, err := apikeys.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("--api-keys %s: %w", name, err)
	}
	return set, nil
}
