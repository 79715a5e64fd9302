package testenv

import (
	"errors"
	"path/filepath"
	"runtime"

	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
)

// Names of the models set-up installs.
const (
	Dense    = "bge-small-en-v1.5"
	Sparse   = "splade-tiny"
	Reranker = "ms-marco-minilm-l12-v2"
)

// Root is the root of the checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

// ModelsFolder is where set-up puts the models.
func ModelsFolder() string { return filepath.Join(Root(), ".local", "models") }

// Open opens inference with the three models. The caller closes the Runtime.
func Open() (*inference.Runtime, *modelset.Set, error) { return OpenWith(inference.Options{}) }

// OpenWith is Open with options; their Library is filled in.
func OpenWith(opts inference.Options) (*inference.Runtime, *modelset.Set, error) {
	var err error
	if opts.Library, err = inference.FindLibrary(filepath.Join(Root(), ".local", "lib")); err != nil {
		return nil, nil, err
	}
	r, err := inference.Open(opts)
	if err != nil {
		return nil, nil, err
	}
	set, err := modelset.Load(r, ModelsFolder(), modelset.Names{Dense: []string{Dense}, Sparse: []string{Sparse}, Pair: []string{Reranker}})
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, set, nil
}
