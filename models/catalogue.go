package models

import (
	_ "embed"

	"github.com/braid-search/braid"
)

//go:embed catalogue.yaml
var catalogueYAML []byte

// Catalogue returns the manifests of the models that set-up installs, built
// into the program, in the order dense, sparse, cross-encoder. The slice is the
// caller's. An error is a fault of the build.
func Catalogue() ([]Manifest, error) {
	var catalogue struct {
		Models []Manifest `yaml:"models"`
	}
	if err := decodeStrict(catalogueYAML, &catalogue); err != nil {
		return nil, braid.Errorf(braid.Internal, "built-in catalogue: %w", err)
	}
	for _, m := range catalogue.Models {
		if err := m.Validate(); err != nil {
			return nil, braid.Errorf(braid.Internal, "built-in catalogue: %w", err)
		}
	}
	return catalogue.Models, nil
}
