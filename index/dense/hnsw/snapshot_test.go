package hnsw_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// formVersion is that of the form that graphs are saved in.
const formVersion = 2

func save(t testing.TB, g *hnsw.Graph) []byte {
	t.Helper()
	return saveAs(t, g, formVersion)
}

func saveAs(t testing.TB, g *hnsw.Graph, version uint64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", version)
	g.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64, dim int) (*hnsw.Graph, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", formVersion)
	g, err := hnsw.Load(r, end, dim)
	if err != nil {
		return nil, err
	}
	return g, r.Close()
}

// reloaded returns g as it is after saving and loading.
func reloaded(t testing.TB, g *hnsw.Graph) *hnsw.Graph {
	t.Helper()
	loaded, err := load(save(t, g), 1<<32, dim)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Len() != g.Len() {
		t.Fatalf("%d vectors after loading, want %d", loaded.Len(), g.Len())
	}
	return loaded
}

// lived makes a graph that has everything: removed nodes that are linked, some
// that were vacuumed, and twins.
func lived(t *testing.T, seed uint64, n int) *world {
	w := newWorld(t, seed)
	for range 5 {
		w.grow(n / 5)
		for _, ord := range w.live()[:n/50] {
			w.add(slices.Clone(w.vectors[ord]))
		}
		for _, ord := range w.live() {
			if w.random.IntN(6) == 0 {
				w.remove(ord)
			}
		}
		if w.random.IntN(2) == 0 {
			w.vacuum()
		}
	}
	w.remove(w.live()[0])
	return w
}

func TestLoadedIsSaved(t *testing.T) {
	w := lived(t, 30, 2500)
	saved := save(t, w.graph)
	loaded, err := load(saved, uint64(len(w.vectors)), dim)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(save(t, loaded), saved) {
		t.Error("what was loaded is saved in another way")
	}
	for range 50 {
		query := w.draw()
		want, wantStats, err := w.graph.Search(t.Context(), query, topk.Scan{K: 10}, 0)
		got, stats, loadedErr := loaded.Search(t.Context(), query, topk.Scan{K: 10}, 0)
		if err != nil || loadedErr != nil {
			t.Fatal(err, loadedErr)
		}
		if !slices.Equal(got, want) || stats != wantStats {
			t.Fatalf("loaded: %v, %+v\nsaved: %v, %+v", got, stats, want, wantStats)
		}
	}
	w.use(loaded)
	w.grow(500)
	w.vacuum()
	w.mustRecall("loaded and changed")
}

func TestEmptyGraphIsSaved(t *testing.T) {
	w := newWorld(t, 31)
	w.use(reloaded(t, w.graph))
	w.grow(3)
	for ord := range 3 {
		w.remove(ord)
	}
	w.use(reloaded(t, w.graph))
	w.vacuum()
	w.use(reloaded(t, w.graph))
	w.grow(3)
	w.search(w.draw(), topk.Scan{K: 10}, 0)
}

// TestSameCallsSameGraph makes a graph twice.
func TestSameCallsSameGraph(t *testing.T) {
	if !bytes.Equal(save(t, lived(t, 32, 1500).graph), save(t, lived(t, 32, 1500).graph)) {
		t.Error("the second graph differs")
	}
}

func TestLoadIntoSomethingElse(t *testing.T) {
	w := newWorld(t, 33)
	w.grow(100)
	saved := save(t, w.graph)
	for _, end := range []uint64{0, 1, 50, 99} {
		if _, err := load(saved, end, dim); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("a collection of %d: error %v, want %s", end, err, braid.Corrupt)
		}
	}
	for _, dim := range []int{1, dim - 1, dim + 1, 4096} {
		if _, err := load(saved, 100, dim); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("%d components: error %v, want %s", dim, err, braid.Corrupt)
		}
	}
}

// TestDamagedFiles changes or cuts bytes of a file.
func TestDamagedFiles(t *testing.T) {
	w := newWorld(t, 34)
	w.grow(50)
	saved := save(t, w.graph)
	for range 1000 {
		damaged := slices.Clone(saved)
		if w.random.IntN(4) == 0 {
			damaged = damaged[:w.random.IntN(len(damaged))]
		} else {
			damaged[w.random.IntN(len(damaged))] ^= 1 << w.random.IntN(8)
		}
		if _, err := load(damaged, 50, dim); braid.CodeOf(err) != braid.Corrupt && braid.CodeOf(err) != braid.Conflict {
			t.Fatalf("error %v, want %s, or %s for another version", err, braid.Corrupt, braid.Conflict)
		}
	}
}

// saved is a graph of one segment as arrays.
type saved struct {
	head                []uint64
	known, live, linked []uint64
	vectors             []float32
	codes               []int8
	scales, missed      []float32
	bottom, upper       []uint32
	twins               []uint32
}

func read(t *testing.T, b []byte) (s saved) {
	t.Helper()
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", formVersion)
	s.head, s.known, s.live, s.linked = r.Uint64s(), r.Uint64s(), r.Uint64s(), r.Uint64s()
	s.vectors, s.codes, s.scales, s.missed = r.Float32s(), r.Int8s(), r.Float32s(), r.Float32s()
	s.bottom, s.upper, s.twins = r.Uint32s(), r.Uint32s(), r.Uint32s()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s saved) write() []byte {
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", formVersion)
	for _, words := range [][]uint64{s.head, s.known, s.live, s.linked} {
		w.Uint64s(words)
	}
	w.Float32s(s.vectors)
	w.Int8s(s.codes)
	w.Float32s(s.scales)
	w.Float32s(s.missed)
	for _, numbers := range [][]uint32{s.bottom, s.upper, s.twins} {
		w.Uint32s(numbers)
	}
	if err := w.Close(); err != nil {
		panic(err) // a bytes.Buffer does not fail
	}
	return b.Bytes()
}

// TestDamageUnderChecksums changes what a file says and gives it the checksums
// to match. It is refused, or makes a graph with which everything can be done.
func TestDamageUnderChecksums(t *testing.T) {
	w := lived(t, 35, 1500)
	original := save(t, w.graph)
	refused := 0
	for range 1000 {
		s := read(t, original)
		for range 1 + w.random.IntN(3) {
			s.damage(w.random, len(w.vectors))
		}
		g, err := load(s.write(), uint64(len(w.vectors)), dim)
		if err != nil {
			if refused++; braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error %v, want %s", err, braid.Corrupt)
			}
			continue
		}
		use(t, w, g)
	}
	if refused < 500 || refused == 1000 {
		t.Errorf("%d of 1000 were refused, want most and not all", refused)
	}
}

// damage changes one thing among those of the first n nodes.
func (s *saved) damage(random *rand.Rand, n int) {
	links := func(v []uint32) *uint32 { return &v[random.IntN(len(v))] }
	node := random.IntN(n)
	switch random.IntN(12) {
	case 0:
		s.head[random.IntN(len(s.head))] ^= 1 << random.IntN(64)
	case 1:
		s.known[node/64] ^= 1 << (node % 64)
	case 2:
		s.live[node/64] ^= 1 << (node % 64)
	case 3:
		s.linked[node/64] ^= 1 << (node % 64)
	case 4:
		s.vectors[random.IntN(n*dim)] = []float32{0, -1, float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32}[random.IntN(5)]
	case 5:
		*links(s.bottom[:n*32]) = random.Uint32N(uint32(n) * 2)
	case 6:
		*links(s.upper) = random.Uint32N(uint32(n) * 2)
	case 7:
		s.twins[node] = random.Uint32N(uint32(n) * 2)
	case 8:
		s.codes[random.IntN(n*dim)] = int8(random.IntN(256) - 128)
	case 9:
		s.scales[node] = []float32{0, -1, float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32}[random.IntN(5)]
	case 10:
		s.missed[node] = []float32{0, -1, float32(math.NaN()), float32(math.Inf(1)), math.MaxFloat32}[random.IntN(5)]
	case 11: // a whole array of another length
		s.upper = s.upper[:random.IntN(len(s.upper))]
	}
}

// use does everything that can be done with a graph.
func use(t *testing.T, w *world, g *hnsw.Graph) {
	t.Helper()
	search := func() {
		t.Helper()
		got, _, err := g.Search(t.Context(), w.draw(), topk.Scan{K: 10}, 0)
		if err != nil || len(got) != min(10, g.Len()) {
			t.Fatalf("%d matches of %d, error %v", len(got), g.Len(), err)
		}
	}
	search()
	for range 3 {
		if err := g.Add(uint32(len(w.vectors)+w.random.IntN(1000)), w.draw()); err != nil && braid.CodeOf(err) != braid.Conflict {
			t.Fatal(err)
		}
		g.Remove(w.random.Uint32N(uint32(len(w.vectors))))
	}
	if w.random.IntN(10) > 0 { // the rest takes long
		return
	}
	search()
	if err := g.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	search()
	reloaded(t, g)
}

type failing struct{ after int }

var errFull = errors.New("no room")

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestSaveTellsWriteErrors(t *testing.T) {
	w := newWorld(t, 36)
	w.grow(10)
	for _, after := range []int{0, 100, 10_000} {
		s := snapshot.NewWriter(&failing{after}, "test", formVersion)
		w.graph.Save(s)
		if err := s.Close(); !errors.Is(err, errFull) {
			t.Errorf("after %d bytes: error %v", after, err)
		}
	}
	w.grow(1) // nothing is held
}
