package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid/models"
)

func newModelsCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Show and verify the models at hand",
		Long: `Show and verify the models at hand: one folder each with a manifest.yaml, which
names the files with their sha256 and says how the model is fed and read.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&folder, "models", "", "folder that holds the models (default: .local/models here or beside the binary)")
	root := func() string { return localConfig{models: folder}.modelsFolder() }
	cmd.AddCommand(
		&cobra.Command{
			Use:   "list",
			Short: "List the models",
			Args:  exactly(0),
			RunE:  func(cmd *cobra.Command, _ []string) error { return listModels(cmd, root()) },
		},
		&cobra.Command{
			Use:   "verify [NAME…]",
			Short: "Check every file of the models against its sha256",
			RunE:  func(cmd *cobra.Command, names []string) error { return verifyModels(cmd, root(), names) },
		},
	)
	return cmd
}

func listModels(cmd *cobra.Command, root string) error {
	installed, err := models.List(root)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NAME\tKIND\tTOKENS\tMIB\tLICENCE\tSOURCE") // buffered: Flush reports
	for _, m := range installed {
		if m.Err != nil {
			_, _ = fmt.Fprintf(w, "%s\t%v\n", m.Name, m.Err)
			continue
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%d\t%.0f\t%s\t%s\n", m.Name, m.Manifest.Kind, m.Manifest.MaxTokens, float64(m.Manifest.Size())/(1<<20), m.Manifest.Licence, m.Manifest.Source.Model)
	}
	if len(installed) == 0 {
		_, _ = fmt.Fprintf(w, "no models in %s: run `make setup`, or name their folder with --models\n", root)
	}
	return w.Flush()
}

func verifyModels(cmd *cobra.Command, root string, names []string) error {
	if len(names) == 0 {
		installed, err := models.List(root)
		if err != nil {
			return err
		}
		for _, m := range installed {
			names = append(names, m.Name)
		}
	}
	var faults []error
	for _, name := range names {
		m, err := models.Find(root, name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %d files match, digest %s\n", name, len(m.Files), m.Digest()); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}
