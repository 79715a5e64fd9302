package corpus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/internal/modelset"
)

// Set is a test collection with the vectors of its texts.
type Set struct {
	Name     string
	IDs      []string
	Passages []string             // what the models and the analyser read of a document
	Vectors  []braid.SparseVector // of passages
	Data     *eval.Dataset
	Queries  []braid.SparseVector // of Data.Queries
}

// encoder makes vectors and keeps them in folder.
type encoder struct {
	library string // path of libonnxruntime
	models  string // folder of the models
	model   string // name of the sparse model
	folder  string
	log     func(format string, args ...any)
}

// vectorsKind names the files of vectors; they hold passages, then queries.
const vectorsKind = "bench-vectors"

// read reads the collection in dir and makes the vectors that are not kept.
func (e encoder) read(ctx context.Context, dir string) (*Set, error) {
	data, err := eval.Open(dir, eval.DefaultQrels)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: data.Name, Data: data}
	for doc, err := range data.Corpus() {
		if err != nil {
			return nil, err
		}
		s.IDs = append(s.IDs, doc.ID)
		s.Passages = append(s.Passages, doc.Passage())
	}
	path := filepath.Join(e.folder, s.Name+".vectors")
	err = s.load(path)
	if errors.Is(err, fs.ErrNotExist) {
		e.log("vectors of %s are made once: %d passages", s.Name, len(s.Passages))
		if err = e.encode(ctx, s); err == nil {
			err = s.save(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("vectors of %s: %w", s.Name, err)
	}
	return s, nil
}

func (e encoder) encode(ctx context.Context, s *Set) (err error) {
	runtime, err := inference.Open(inference.Options{Library: e.library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runtime.Close()) }()
	models, err := modelset.Load(runtime, e.models, modelset.Names{Sparse: []string{e.model}})
	if err != nil {
		return err
	}
	expand := func(texts []string, role inference.Role) (vectors []braid.SparseVector, err error) {
		const batch = 64
		for first := 0; first < len(texts); first += batch {
			request := inference.Request{Texts: texts[first:min(first+batch, len(texts))], Role: role, Lane: inference.LaneBulk}
			expansions, _, err := models.Sparse[0].Head.Expand(ctx, request)
			if err != nil {
				return nil, err
			}
			for _, expansion := range expansions {
				vectors = append(vectors, expansion.Vector)
			}
		}
		return vectors, nil
	}
	if s.Vectors, err = expand(s.Passages, inference.RolePassage); err != nil {
		return err
	}
	texts := make([]string, len(s.Data.Queries))
	for i, q := range s.Data.Queries {
		texts[i] = q.Text
	}
	s.Queries, err = expand(texts, inference.RoleQuery)
	return err
}

func (s *Set) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	w := snapshot.NewWriter(file, vectorsKind, 1)
	for _, vectors := range [][]braid.SparseVector{s.Vectors, s.Queries} {
		var ends, indices []uint32
		var values []float32
		for _, v := range vectors {
			indices, values = append(indices, v.Indices...), append(values, v.Values...)
			ends = append(ends, uint32(len(indices)))
		}
		w.Uint32s(ends)
		w.Uint32s(indices)
		w.Float32s(values)
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

func (s *Set) load(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	r := snapshot.NewReader(file, info.Size(), vectorsKind, 1)
	s.Vectors = readVectors(r, len(s.Passages))
	s.Queries = readVectors(r, len(s.Data.Queries))
	return r.Close()
}

// readVectors reads n vectors, each valid.
func readVectors(r *snapshot.Reader, n int) []braid.SparseVector {
	ends, indices, values := r.Uint32s(), r.Uint32s(), r.Float32s()
	if r.Err() == nil && (len(ends) != n || len(indices) != len(values)) {
		r.Fail("%d vectors of %d indices and %d values, want %d", len(ends), len(indices), len(values), n)
	}
	if r.Err() != nil {
		return nil
	}
	vectors := make([]braid.SparseVector, n)
	start := uint32(0)
	for i, end := range ends {
		if end < start || int(end) > len(indices) {
			r.Fail("vector %d ends at %d", i, end)
			return nil
		}
		vectors[i] = braid.SparseVector{Indices: indices[start:end], Values: values[start:end]}
		if err := vectors[i].Validate(); err != nil {
			r.Fail("vector %d: %v", i, err)
			return nil
		}
		start = end
	}
	return vectors
}
