package testenv

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
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
func Open() (*inference.Runtime, search.Models, error) {
	var heads search.Models
	library, err := inference.FindLibrary(filepath.Join(Root(), ".local", "lib"))
	if err != nil {
		return nil, heads, err
	}
	r, err := inference.Open(inference.Options{Library: library})
	if err != nil {
		return nil, heads, err
	}
	if err := load(r, &heads); err != nil {
		return nil, heads, fmt.Errorf("%w (close: %v)", err, r.Close())
	}
	return r, heads, nil
}

func load(r *inference.Runtime, heads *search.Models) error {
	m, err := models.Find(ModelsFolder(), Dense)
	if err != nil {
		return err
	}
	if heads.Dense, err = r.NewDense(m); err != nil {
		return err
	}
	heads.DenseRef, heads.Dimensions = index.ModelRef{Name: m.Name, Digest: m.Digest()}, m.Dimensions

	if m, err = models.Find(ModelsFolder(), Sparse); err != nil {
		return err
	}
	if heads.Sparse, err = r.NewSparse(m); err != nil {
		return err
	}
	heads.SparseRef = index.ModelRef{Name: m.Name, Digest: m.Digest()}

	if m, err = models.Find(ModelsFolder(), Reranker); err != nil {
		return err
	}
	if heads.Pair, err = r.NewPair(m); err != nil {
		return err
	}
	heads.PairRef = index.ModelRef{Name: m.Name, Digest: m.Digest()}
	return nil
}
