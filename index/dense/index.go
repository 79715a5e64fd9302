package dense

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// DefaultGraphFrom is the number of vectors from which a graph pays: below it
// all are compared in two milliseconds on one core, and exactly.
const DefaultGraphFrom = 20_000

// Options shape an Index. The zero value has the defaults.
type Options struct {
	// GraphFrom is the number of vectors from which they are searched through a
	// graph; 0 is DefaultGraphFrom, below 0 is never.
	GraphFrom int
}

func (o Options) graphFrom() int {
	if o.GraphFrom == 0 {
		return DefaultGraphFrom
	}
	return o.GraphFrom
}

// Index is a set of vectors of one length: an Exact, or from Options.GraphFrom on
// a graph. It does not turn from one into the other by itself: see Outgrown.
// Searches may run at the same time as each other, not as Put or Remove: the
// caller holds a lock. Vacuum may run beside all of them, and Stage beside searches.
type Index struct {
	opts  Options
	dim   int
	exact *Exact      // nil if there is a graph
	graph *hnsw.Graph // nil if there is none
}

// NewIndex returns an empty index of vectors with dim components, at least 1,
// made for about the expected number of them.
func NewIndex(dim, expected int, opts Options) *Index {
	x := &Index{opts: opts, dim: dim}
	if from := opts.graphFrom(); from < 0 || expected < from {
		x.exact = New(dim)
		return x
	}
	graph, err := hnsw.New(dim, hnsw.Options{})
	if err != nil {
		panic(err) // only of options that are not the defaults
	}
	graph.HideFrom(0)
	graph.PaysFrom(opts.graphFrom())
	x.graph = graph
	return x
}

// Dimensions is the number of components of a vector.
func (x *Index) Dimensions() int { return x.dim }

// Options are those the index was made with.
func (x *Index) Options() Options { return x.opts }

// Outgrown reports whether an index made now, for as many vectors, would have a
// graph where this one has none.
func (x *Index) Outgrown() bool {
	from := x.opts.graphFrom()
	return x.graph == nil && from >= 0 && x.exact.Len() >= from
}

// Unwanted reports whether the index has a graph and its options want none.
func (x *Index) Unwanted() bool { return x.graph != nil && x.opts.graphFrom() < 0 }

// Put stores copies of vectors, each of length 1, under the ordinals from first
// on, which were not used before.
func (x *Index) Put(first uint32, vectors ...[]float32) {
	x.Stage(first, vectors...)
	x.Show(first, vectors...)
}

// Stage does of Put what takes long and may be done while searches go on: a graph
// takes the vectors, on all cores, and no search returns them before Show, which
// has to follow with the same vectors. Nothing else is changed in between.
func (x *Index) Stage(first uint32, vectors ...[]float32) {
	if x.graph == nil {
		return
	}
	var next atomic.Int64
	add := func() {
		for i := int(next.Add(1)) - 1; i < len(vectors); i = int(next.Add(1)) - 1 {
			if err := x.graph.Add(first+uint32(i), vectors[i]); err != nil {
				panic(err) // a vector or an ordinal that was not checked
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(vectors)) - 1 {
		others.Go(add)
	}
	add()
	others.Wait()
}

// Show does the rest of Put after Stage.
func (x *Index) Show(first uint32, vectors ...[]float32) {
	if x.graph != nil {
		x.graph.ShowBelow(first + uint32(len(vectors)))
		return
	}
	for i, v := range vectors {
		x.exact.Put(first+uint32(i), v)
	}
}

// Remove forgets the vector under ord, if there is one.
func (x *Index) Remove(ord uint32) {
	if x.graph != nil {
		x.graph.Remove(ord)
		return
	}
	x.exact.Remove(ord)
}

// Removed is the number of vectors that were removed since Vacuum last began and
// cost searches time as if they were there; 0 without a graph.
func (x *Index) Removed() int {
	if x.graph == nil {
		return 0
	}
	return x.graph.Removed()
}

// Vacuum takes removed vectors out of the graph, if there is one; see
// hnsw.Graph.Vacuum. Save waits for it. It fails only when ctx ends.
func (x *Index) Vacuum(ctx context.Context) error {
	if x.graph == nil {
		return nil
	}
	return x.graph.Vacuum(ctx)
}

// Len returns the number of vectors.
func (x *Index) Len() int {
	if x.graph != nil {
		return x.graph.Len()
	}
	return x.exact.Len()
}

// MemoryBytes is what the index holds in memory.
func (x *Index) MemoryBytes() int64 {
	if x.graph != nil {
		return x.graph.MemoryBytes()
	}
	return x.exact.MemoryBytes()
}

// Search returns the best matches of query, which has as many components as the
// stored vectors, and how they were found: a graph is not used where comparing
// all that scan.Allowed leaves takes less time. Scores are exact either way. It
// fails only when ctx ends.
func (x *Index) Search(ctx context.Context, query []float32, scan topk.Scan) (_ []topk.Match, by index.Method, err error) {
	if x.graph == nil {
		matches, err := x.exact.Search(ctx, query, scan)
		return matches, index.MethodExact, err
	}
	matches, stats, err := x.graph.Search(ctx, query, scan, 0)
	if stats.Scanned {
		return matches, index.MethodExact, err
	}
	return matches, index.MethodGraph, err
}

// Save writes the index: 1 if it is a graph and 0 if not, and what it is. It
// only reads the index.
func (x *Index) Save(w *snapshot.Writer) {
	if x.graph != nil {
		w.Uint64(1)
		x.graph.Save(w)
		return
	}
	w.Uint64(0)
	x.exact.Save(w)
}

// LoadIndex reads what Save has written, vectors with dim components under
// ordinals below end. It fails with r's error, with braid.Corrupt when what was
// read is something else.
func LoadIndex(r *snapshot.Reader, end uint64, dim int, opts Options) (*Index, error) {
	x := &Index{opts: opts, dim: dim}
	var err error
	switch kind := r.Uint64(); {
	case r.Err() != nil:
		return nil, r.Err()
	case kind == 1:
		if x.graph, err = hnsw.Load(r, end, dim); err == nil {
			x.graph.HideFrom(uint32(end))
			x.graph.PaysFrom(max(0, opts.graphFrom()))
		}
	case kind == 0:
		x.exact, err = Load(r, end, dim)
	default:
		r.Fail("an index of kind %d, want 0 or 1", kind)
		err = r.Err()
	}
	if err != nil {
		return nil, err
	}
	return x, nil
}
