package main

import (
	"github.com/spf13/cobra"
)

func newModelsCommand() *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Add, list, verify and remove models",
		Long: `Add, list, verify and remove models. Each is a folder with a manifest.yaml, which
names the files with their sha256 and says how the model is fed and read;
docs/models.md tells how to bring your own.`,
		Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&folder, "models", "", "folder that holds the models (default: .local/models here or beside the binary)")
	root := func() string { return localConfig{models: folder}.modelsFolder() }
	cmd.AddCommand(newModelsAddCommand(root), newModelsPullCommand(root), newModelsListCommand(root), newModelsVerifyCommand(root), newModelsRemoveCommand(root))
	return cmd
}
