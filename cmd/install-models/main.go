package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/braid-search/braid/models"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "install-models:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	if len(args) != 1 && len(args) != 2 {
		return errors.New("usage: install-models ROOT [SOURCES]")
	}
	root := args[0]
	lacking, err := lackingModels(root)
	if err != nil {
		return err
	}
	for _, m := range lacking {
		if len(args) == 2 {
			if _, err := models.Install(root, m, os.DirFS(filepath.Join(args[1], m.Name))); err != nil {
				return err
			}
		}
		fmt.Fprintln(stdout, m.Name)
	}
	return nil
}

// lackingModels returns the models of the catalogue that root does not hold
// whole and unchanged.
func lackingModels(root string) ([]models.Manifest, error) {
	catalogue, err := models.Catalogue()
	if err != nil {
		return nil, err
	}
	var lacking []models.Manifest
	for _, m := range catalogue {
		if found, err := models.Find(root, m.Name); err != nil || found.Digest() != m.Digest() {
			lacking = append(lacking, m)
		}
	}
	return lacking, nil
}
