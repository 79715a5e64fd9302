package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/braid-search/braid/models"
)

func newModelsListCommand(root func() string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models and whether their files are whole",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := surveyModels(root())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
			}
			return printModels(cmd, root(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

// listedModel is a model as `models list` shows it.
type listedModel struct {
	Name         string `json:"name"`
	Kind         string `json:"kind,omitempty"`
	Dimensions   int    `json:"dimensions,omitempty"`
	Quantization string `json:"quantization,omitempty"`
	MaxTokens    int    `json:"max_tokens,omitempty"`
	Bytes        int64  `json:"bytes,omitempty"`
	Licence      string `json:"licence,omitempty"`
	Source       string `json:"source,omitempty"`
	Revision     string `json:"revision,omitempty"`
	Digest       string `json:"digest,omitempty"`
	Verified     bool   `json:"verified"`        // every file has its sha256
	Fault        string `json:"fault,omitempty"` // why not
}

// surveyModels reads every model in root, files included.
func surveyModels(root string) ([]listedModel, error) {
	installed, err := models.List(root)
	if err != nil {
		return nil, err
	}
	list := make([]listedModel, len(installed))
	for i, found := range installed {
		m := found.Manifest
		list[i] = listedModel{Name: found.Name}
		if found.Err != nil {
			list[i].Fault = found.Err.Error()
			continue
		}
		list[i] = listedModel{
			Name: m.Name, Kind: string(m.Kind), Dimensions: m.Dimensions, Quantization: string(m.Quantization),
			MaxTokens: m.MaxTokens, Bytes: m.Size(), Licence: m.Licence, Source: m.Source.Model, Revision: m.Source.Revision,
			Digest: m.Digest(), Verified: true,
		}
		if _, err := models.Find(root, m.Name); err != nil {
			list[i].Verified, list[i].Fault = false, err.Error()
		}
	}
	return list, nil
}

func printModels(cmd *cobra.Command, root string, list []listedModel) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
	if len(list) == 0 {
		_, _ = fmt.Fprintf(w, "no models in %s: run `make setup`, add one with `braid models add`, or name their folder with --models\n", root)
		return w.Flush()
	}
	_, _ = fmt.Fprintln(w, "NAME\tKIND\tDIMS\tQUANTISED\tTOKENS\tMIB\tFILES\tLICENCE\tSOURCE") // buffered: Flush reports
	for _, m := range list {
		if m.Kind == "" {
			_, _ = fmt.Fprintf(w, "%s\t-\t-\t-\t-\t-\tDAMAGED\t-\t-\n", m.Name)
			continue
		}
		files, dimensions := "verified", "-"
		if !m.Verified {
			files = "DAMAGED"
		}
		if m.Dimensions > 0 {
			dimensions = strconv.Itoa(m.Dimensions)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%.1f\t%s\t%s\t%s\n", m.Name, m.Kind, dimensions, m.Quantization, m.MaxTokens, float64(m.Bytes)/(1<<20), files, m.Licence, m.Source)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range list {
		if m.Fault != "" {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s\n", m.Name, m.Fault); err != nil {
				return err
			}
		}
	}
	return nil
}

func newModelsVerifyCommand(root func() string) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [NAME…]",
		Short: "Check every file of the models against its sha256",
		RunE:  func(cmd *cobra.Command, names []string) error { return verifyModels(cmd, root(), names) },
	}
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

func newModelsRemoveCommand(root func() string) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Delete a model",
		Long: `Delete a model's folder, without asking. Collections that were encoded with it
stay; to open them again, add the same model again.`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := models.Remove(root(), args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "removed %s from %s\n", args[0], root())
			return err
		},
	}
}
