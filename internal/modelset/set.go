package modelset

import (
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
)

// Names says which models to load, defaults first.
type Names struct {
	Dense, Sparse, Pair []string
}

// Set is what was loaded. It is not changed afterwards and safe for concurrent
// use.
type Set struct {
	Dense  []Loaded[*inference.Dense]
	Sparse []Loaded[*inference.Sparse]
	Pair   []Loaded[*inference.Pair]
}

// Loaded is a head and the model it runs.
type Loaded[H any] struct {
	Manifest models.Manifest
	Digest   string
	Head     H
}

// Ref identifies the model to collections.
func (l Loaded[H]) Ref() index.ModelRef {
	return index.ModelRef{Name: l.Manifest.Name, Digest: l.Digest}
}

// Load verifies the models in the folder root and opens a head for each.
func Load(r *inference.Runtime, root string, names Names) (*Set, error) {
	var s Set
	var err error
	if s.Dense, err = load(root, names.Dense, models.Dense, r.NewDense); err != nil {
		return nil, err
	}
	if s.Sparse, err = load(root, names.Sparse, models.Sparse, r.NewSparse); err != nil {
		return nil, err
	}
	if s.Pair, err = load(root, names.Pair, models.CrossEncoder, r.NewPair); err != nil {
		return nil, err
	}
	return &s, nil
}

func load[H any](root string, names []string, kind models.Kind, open func(*models.Model) (H, error)) ([]Loaded[H], error) {
	var loaded []Loaded[H]
	for _, name := range names {
		for _, earlier := range loaded {
			if earlier.Manifest.Name == name {
				return nil, braid.Errorf(braid.InvalidArgument, "model %q is named twice", name)
			}
		}
		m, err := models.Find(root, name)
		if err != nil {
			return nil, err
		}
		if m.Kind != kind {
			return nil, braid.Errorf(braid.InvalidArgument, "model %q is a %s model, want a %s one", name, m.Kind, kind)
		}
		head, err := open(m)
		if err != nil {
			return nil, err
		}
		loaded = append(loaded, Loaded[H]{Manifest: m.Manifest, Digest: m.Digest(), Head: head})
	}
	return loaded, nil
}

// Search returns the heads for collections: the defaults, and further ones for
// those that were made with them.
func (s *Set) Search() search.Models {
	var m search.Models
	if len(s.Dense) > 0 {
		m.Dense, m.DenseRef, m.Dimensions = s.Dense[0].Head, s.Dense[0].Ref(), s.Dense[0].Manifest.Dimensions
	}
	if len(s.Sparse) > 0 {
		m.Sparse, m.SparseRef = s.Sparse[0].Head, s.Sparse[0].Ref()
	}
	if len(s.Pair) > 0 {
		m.Pair, m.PairRef = s.Pair[0].Head, s.Pair[0].Ref()
	}
	shared := func(sparse *inference.Sparse) bool {
		return len(s.Pair) > 0 && sparse.Vocabulary() == s.Pair[0].Head.Vocabulary()
	}
	m.SharedVocabulary = len(s.Sparse) > 0 && shared(s.Sparse[0].Head)
	for _, l := range s.Dense[min(1, len(s.Dense)):] {
		m.Further.Dense = append(m.Further.Dense, search.FurtherDense{Model: l.Head, Ref: l.Ref(), Dimensions: l.Manifest.Dimensions})
	}
	for _, l := range s.Sparse[min(1, len(s.Sparse)):] {
		m.Further.Sparse = append(m.Further.Sparse, search.FurtherSparse{Model: l.Head, Ref: l.Ref(), SharedVocabulary: shared(l.Head)})
	}
	return m
}

// FindDense returns the dense model called name, or the default for "". An
// unknown name is braid.NotFound and lists the names there are; the name of a
// model of another kind is braid.InvalidArgument and says so.
func (s *Set) FindDense(name string) (Loaded[*inference.Dense], error) {
	return find(s, s.Dense, models.Dense, name)
}

// FindSparse is FindDense for sparse models.
func (s *Set) FindSparse(name string) (Loaded[*inference.Sparse], error) {
	return find(s, s.Sparse, models.Sparse, name)
}

// FindPair is FindDense for cross-encoders.
func (s *Set) FindPair(name string) (Loaded[*inference.Pair], error) {
	return find(s, s.Pair, models.CrossEncoder, name)
}

func find[H any](s *Set, loaded []Loaded[H], kind models.Kind, name string) (Loaded[H], error) {
	var none Loaded[H]
	if name == "" && len(loaded) > 0 {
		return loaded[0], nil
	}
	names := make([]string, len(loaded))
	for i, l := range loaded {
		if names[i] = l.Manifest.Name; names[i] == name {
			return l, nil
		}
	}
	there := strings.Join(names, ", ")
	if there == "" {
		return none, braid.Errorf(braid.NotFound, "no %s model is loaded: start the server with one", kind).In("model")
	}
	for _, other := range s.Manifests() {
		if other.Name == name {
			return none, braid.Errorf(braid.InvalidArgument, "model %q is a %s model, this needs a %s one: %s", name, other.Kind, kind, there).In("model")
		}
	}
	return none, braid.Errorf(braid.NotFound, "model %q is not loaded; the %s models are: %s", name, kind, there).In("model")
}

// Manifests lists every model, by kind, defaults first.
func (s *Set) Manifests() []models.Manifest {
	var all []models.Manifest
	for _, l := range s.Dense {
		all = append(all, l.Manifest)
	}
	for _, l := range s.Sparse {
		all = append(all, l.Manifest)
	}
	for _, l := range s.Pair {
		all = append(all, l.Manifest)
	}
	return all
}
