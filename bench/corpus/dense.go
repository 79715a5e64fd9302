package corpus

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/topk"
)

// DenseRecipe is what Dense.Mixed does, for the report.
const DenseRecipe = "Vectors up to the number of real ones, which are those of the passages and of their sentences, are those, " +
	"in random order. Each further one lies at a random place on the line between a random real vector and one of its 16 nearest " +
	"neighbours (as SMOTE does: Chawla et al., 2002), scaled to length 1. So the more there are the closer they lie, where real ones lie."

// near is how many neighbours a real vector is mixed with.
const near = 16

// Dense are dense vectors, all of length 1.
type Dense struct {
	Queries   Matrix // SciFact's claims
	Passages  Matrix // those of all collections
	Sentences Matrix // of the passages, each text once

	order      []int    // of the real vectors, shuffled
	neighbours []uint32 // near of each of the real ones
}

// Dense reads the dense vectors and makes those that are not there yet. When ctx
// ends, what was made is kept and a later call goes on from there.
func (f Folder) Dense(ctx context.Context) (*Dense, error) {
	t, err := readTexts(f.Data)
	if err != nil {
		return nil, err
	}
	folder := f.Scratch("dense")
	if err := t.embed(ctx, f, folder); err != nil {
		return nil, err
	}
	var m [3]Matrix
	for i, s := range t.sets() {
		if m[i], err = s.read(folder); err != nil {
			return nil, err
		}
	}
	d := shuffled(m[0].Part(0, t.questions), m[1], m[2])
	return d, d.findNeighbours(ctx, filepath.Join(folder, "neighbours.u32"), f.Log)
}

// NewDense returns what Folder.Dense does of other vectors, of which there are at
// least two real ones.
func NewDense(queries, passages, sentences Matrix) (*Dense, error) {
	d := shuffled(queries, passages, sentences)
	return d, d.searchNeighbours(context.Background())
}

func shuffled(queries, passages, sentences Matrix) *Dense {
	d := &Dense{Queries: queries, Passages: passages, Sentences: sentences}
	d.order = rand.New(rand.NewPCG(seed, 0)).Perm(d.Real())
	return d
}

// Real is how many real vectors there are.
func (d *Dense) Real() int { return d.Passages.Rows() + d.Sentences.Rows() }

// real returns a real vector by its place in order.
func (d *Dense) real(i int) []float32 {
	if n := d.order[i]; n < d.Passages.Rows() {
		return d.Passages.Row(n)
	} else {
		return d.Sentences.Row(n - d.Passages.Rows())
	}
}

// Mixed writes vector i, by DenseRecipe, to v.
func (d *Dense) Mixed(i int, v []float32) {
	if i < d.Real() {
		copy(v, d.real(i))
		return
	}
	random := rand.New(rand.NewPCG(seed, uint64(i)))
	one := random.IntN(d.Real())
	other := d.neighbours[one*near+random.IntN(near)]
	place := random.Float32()
	a, b := d.real(one), d.real(int(other))
	var norm float64
	for j := range v {
		v[j] = a[j] + place*(b[j]-a[j])
		norm += float64(v[j]) * float64(v[j])
	}
	scale := float32(1 / math.Sqrt(norm))
	for j := range v {
		v[j] *= scale
	}
}

// Range returns the vectors from first to end-1 of Mixed.
func (d *Dense) Range(first, end int) Matrix {
	m := make(Matrix, (end-first)*Dim)
	inParallel(end-first, func(i int) { d.Mixed(first+i, m.Row(i)) })
	return m
}

// findNeighbours finds the neighbours of the real vectors and keeps them in a file.
func (d *Dense) findNeighbours(ctx context.Context, path string, log func(string, ...any)) error {
	if data, err := os.ReadFile(path); err == nil && len(data) == 4*near*d.Real() {
		d.neighbours = make([]uint32, near*d.Real())
		for i := range d.neighbours {
			d.neighbours[i] = binary.LittleEndian.Uint32(data[4*i:]) % uint32(d.Real())
		}
		return nil
	}
	log("neighbours of %d vectors are found once", d.Real())
	if err := d.searchNeighbours(ctx); err != nil {
		return err
	}
	data := make([]byte, 0, 4*len(d.neighbours))
	for _, n := range d.neighbours {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	return os.WriteFile(path, data, 0o644)
}

// searchNeighbours finds the neighbours with the graph, which misses few.
func (d *Dense) searchNeighbours(ctx context.Context) error {
	graph, err := hnsw.New(Dim, hnsw.Options{})
	if err != nil {
		return err
	}
	for i := range d.Real() {
		if err := graph.Add(uint32(i), d.real(i)); err != nil {
			return err
		}
	}
	d.neighbours = make([]uint32, d.Real()*near)
	var failed atomic.Value
	inParallel(d.Real(), func(i int) {
		matches, _, err := graph.Search(ctx, d.real(i), topk.Scan{K: near + 1}, 4*hnsw.DefaultEf)
		if err != nil {
			failed.Store(err)
			return
		}
		matches = slices.DeleteFunc(matches, func(m topk.Match) bool { return int(m.Ord) == i })
		for at := range near { // again from the first where there are fewer
			d.neighbours[i*near+at] = matches[at%len(matches)].Ord
		}
	})
	if err, ok := failed.Load().(error); ok {
		return err
	}
	return nil
}

// inParallel calls do for 0 to n-1, on all cores.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

// Nearest returns the k best rows of base for every query, best first, by
// comparing all.
func Nearest(base, queries Matrix, k int) [][]topk.Match {
	best := make([][]topk.Match, queries.Rows())
	inParallel(len(best), func(q int) {
		const some = 4096
		scores := make([]float32, some)
		c := topk.NewCollector(topk.Scan{K: k})
		for first := 0; first < base.Rows(); first += some {
			part := base.Part(first, min(first+some, base.Rows()))
			scores := scores[:part.Rows()]
			simd.DotBlock(queries.Row(q), part, scores)
			for i, score := range scores {
				c.Offer(uint32(first+i), float64(score))
			}
		}
		best[q] = c.Matches()
	})
	return best
}
