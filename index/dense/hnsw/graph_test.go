package hnsw_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ExampleGraph() {
	g, err := hnsw.New(2, hnsw.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for ord, vector := range [][]float32{{1, 0}, {0, 1}, {0.6, 0.8}} {
		if err := g.Add(uint32(ord), vector); err != nil {
			fmt.Println(err)
		}
	}
	g.Remove(1)
	matches, _, err := g.Search(context.Background(), []float32{0, 1}, topk.Scan{K: 2}, hnsw.DefaultEf)
	for _, m := range matches {
		fmt.Printf("%d %.1f\n", m.Ord, m.Score)
	}
	fmt.Println(err)
	// Output:
	// 2 0.8
	// 0 0.0
	// <nil>
}

// dim is small, so that graphs larger than what is scanned are made quickly.
const dim = 24

// world is a graph and the plain list of what should be in it.
type world struct {
	*testing.T
	random  *rand.Rand
	graph   *hnsw.Graph
	ef      int // of searches
	centres [][]float32
	vectors [][]float32 // by ordinal; nil when removed
}

// newWorld returns an empty one, whose graph is made with less care than by
// default and so more quickly.
func newWorld(t *testing.T, seed uint64) *world {
	w := newWorldOf(t, seed, hnsw.Options{Seed: seed, EfConstruction: 60})
	w.ef = 50
	return w
}

func newWorldOf(t *testing.T, seed uint64, opts hnsw.Options) *world {
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 1))}
	for range 40 {
		w.centres = append(w.centres, w.unit(nil))
	}
	g, err := hnsw.New(dim, opts)
	if err != nil {
		t.Fatal(err)
	}
	w.use(g)
	return w
}

// use makes g the graph.
func (w *world) use(g *hnsw.Graph) {
	hnsw.PreferWalks(g)
	w.graph = g
}

// unit returns a vector of length 1 near a centre, or anywhere.
func (w *world) unit(centre []float32) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(w.random.NormFloat64())
		if centre != nil {
			v[i] = centre[i] + v[i]*0.12
		}
	}
	return w.normalise(v)
}

func (w *world) normalise(v []float32) []float32 {
	norm := float32(math.Sqrt(float64(simd.Dot(v, v))))
	for i := range v {
		v[i] /= norm
	}
	return v
}

// draw returns a vector as documents have: most in a cluster.
func (w *world) draw() []float32 {
	if w.random.IntN(10) == 0 {
		return w.unit(nil)
	}
	return w.unit(w.centres[w.random.IntN(len(w.centres))])
}

func (w *world) add(v []float32) {
	w.Helper()
	kept := slices.Clone(v)
	if err := w.graph.Add(uint32(len(w.vectors)), v); err != nil {
		w.Fatal(err)
	}
	clear(v) // the graph has a copy
	w.vectors = append(w.vectors, kept)
}

func (w *world) grow(n int) {
	w.Helper()
	for range n {
		w.add(w.draw())
	}
}

func (w *world) remove(ord int) {
	w.graph.Remove(uint32(ord))
	w.vectors[ord] = nil
}

func (w *world) live() (ords []int) {
	for ord, v := range w.vectors {
		if v != nil {
			ords = append(ords, ord)
		}
	}
	return ords
}

func (w *world) vacuum() {
	w.Helper()
	if err := w.graph.Vacuum(w.Context()); err != nil {
		w.Fatal(err)
	}
	if n := w.graph.Removed(); n != 0 {
		w.Fatalf("%d removed vectors after Vacuum", n)
	}
}

// truth returns the best matches by comparing everything.
func (w *world) truth(query []float32, scan topk.Scan) []topk.Match {
	c := topk.NewCollector(scan)
	for ord, v := range w.vectors {
		if v != nil {
			c.Offer(uint32(ord), float64(simd.Dot(query, v)))
		}
	}
	return c.Matches()
}

// search searches and asserts everything but that the best were found: as many
// matches as there can be, each once, allowed and live, with its true score and
// in order. It returns how many of the best there are and how many were found.
func (w *world) search(query []float32, scan topk.Scan, ef int) (found, best int, stats hnsw.Stats) {
	w.Helper()
	got, stats, err := w.graph.Search(w.Context(), query, scan, ef)
	if err != nil {
		w.Fatal(err)
	}
	want := w.truth(query, scan)
	if len(got) != len(want) {
		w.Fatalf("%d matches, want %d", len(got), len(want))
	}
	seen := map[uint32]bool{}
	c := topk.NewCollector(scan)
	for _, m := range got {
		if int(m.Ord) >= len(w.vectors) || w.vectors[m.Ord] == nil {
			w.Fatalf("match %v is not there", m)
		}
		if score := float64(simd.Dot(query, w.vectors[m.Ord])); m.Score != score {
			w.Fatalf("match %v has score %v", m, score)
		}
		if seen[m.Ord] || scan.Allowed != nil && !scan.Allowed.Contains(m.Ord) {
			w.Fatalf("match %v occurs twice or is not allowed", m)
		}
		seen[m.Ord] = true
		c.Offer(m.Ord, m.Score)
	}
	if sorted := c.Matches(); !slices.Equal(sorted, got) {
		w.Fatalf("matches are in the order %v", got)
	}
	for _, m := range want {
		if seen[m.Ord] {
			found++
		}
	}
	return found, len(want), stats
}

// recall searches for drawn vectors and returns the share of the best ten that
// was found, and how many searches scanned.
func (w *world) recall(searches int, allowed *docset.Set) (recall float64, scanned int) {
	w.Helper()
	found, best := 0, 0
	for range searches {
		f, b, stats := w.search(w.draw(), topk.Scan{K: 10, Allowed: allowed}, w.ef)
		found, best = found+f, best+b
		if stats.Scanned {
			scanned++
		}
	}
	return float64(found) / float64(best), scanned
}

// mustRecall fails below a recall of 0.97, and when the graph was not walked.
func (w *world) mustRecall(when string) {
	w.Helper()
	if recall, scanned := w.recall(100, nil); recall < 0.97 || scanned > 0 {
		w.Errorf("%s: recall %.4f, want 0.97; %d of 100 searches scanned, want none", when, recall, scanned)
	}
}

// mustFindEach fails when more than one vector in 200 is not found by itself.
func (w *world) mustFindEach(when string) {
	w.Helper()
	const most = 400
	lost := 0
	ords := w.live()
	if len(ords) > most {
		w.random.Shuffle(len(ords), func(i, j int) { ords[i], ords[j] = ords[j], ords[i] })
		ords = ords[:most]
	}
	for _, ord := range ords {
		if found, best, _ := w.search(w.vectors[ord], topk.Scan{K: 1}, w.ef); found < best {
			lost++
		}
	}
	if 200*lost > len(ords) {
		w.Errorf("%s: %d of %d vectors are not found by themselves", when, lost, len(ords))
	}
}

func TestRecall(t *testing.T) {
	w := newWorldOf(t, 1, hnsw.Options{})
	w.grow(3000)
	w.mustRecall("a new graph")
	w.mustFindEach("a new graph")
}

// TestSmallGraphsAreExact grows a graph from nothing, searching at each size.
func TestSmallGraphsAreExact(t *testing.T) {
	w := newWorld(t, 2)
	for n := range 300 {
		found, best, _ := w.search(w.draw(), topk.Scan{K: 1 + n%40}, 0)
		if found != best {
			t.Fatalf("with %d vectors %d of the best %d were found", n, found, best)
		}
		w.grow(1)
	}
}

// TestEqualVectors asserts that of many equal vectors exactly the first in the
// order of ties are returned, also when some are removed or not allowed, and
// that they do not keep others from being found.
func TestEqualVectors(t *testing.T) {
	for name, copies := range map[string]func(i int) bool{
		"first":    func(i int) bool { return i < 1000 },
		"last":     func(i int) bool { return i >= 1000 },
		"between":  func(i int) bool { return i%2 == 0 },
		"only few": func(i int) bool { return i%500 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 5)
			one := w.draw()
			for i := range 2000 {
				if copies(i) {
					w.add(slices.Clone(one))
				} else {
					w.grow(1)
				}
			}
			exact := func(scan topk.Scan) {
				t.Helper()
				got, _, err := w.graph.Search(t.Context(), one, scan, 0)
				if want := w.truth(one, scan); err != nil || !slices.Equal(got, want) {
					t.Fatalf("got %v, error %v\nwant %v", got, err, want)
				}
			}
			latest := func(a, b uint32) bool { return a > b }
			exact(topk.Scan{K: 12, Before: latest})
			exact(topk.Scan{K: 12})
			w.mustFindEach("with copies")
			for i := range 2000 {
				if copies(i) && i%3 != 0 {
					w.remove(i)
				}
			}
			exact(topk.Scan{K: 4, Before: latest})
			w.vacuum()
			exact(topk.Scan{K: 4})
			exact(topk.Scan{K: 3, Allowed: docset.Where(2000, func(ord uint32) bool { return ord%4 != 0 })})
			w.mustFindEach("with copies, some removed")
			for i := range 2000 {
				if copies(i) {
					w.remove(i)
				}
			}
			w.vacuum()
			w.mustFindEach("without copies")
		})
	}
}

// TestNearlyEqualVectors makes tight clusters that each are larger than the
// candidates of an insertion, one after the other and mixed, and asserts that
// none is lost. Which of a cluster's vectors is found is left open.
func TestNearlyEqualVectors(t *testing.T) {
	for _, noise := range []float64{1e-3, 1e-2} {
		for _, mixed := range []bool{false, true} {
			w := newWorldOf(t, 6, hnsw.Options{})
			for i := range 2000 {
				cluster := i / 400
				if mixed {
					cluster = i % 5
				}
				v := slices.Clone(w.centres[cluster])
				for j := range v {
					v[j] += float32(w.random.NormFloat64() * noise)
				}
				w.add(w.normalise(v))
			}
			for ord, v := range w.vectors {
				got, _, err := w.graph.Search(t.Context(), v, topk.Scan{K: 1}, 0)
				if err != nil || got[0].Score < 0.98 {
					t.Fatalf("noise %v, mixed: %t: vector %d finds %v, error %v", noise, mixed, ord, got, err)
				}
			}
		}
	}
}

// TestFilter searches inside sets of several sizes, among them one that lies
// apart from the queries.
func TestFilter(t *testing.T) {
	w := newWorld(t, 7)
	w.grow(3600)
	far := w.unit(nil)
	for range 600 {
		w.add(w.unit(far))
	}
	n := uint32(len(w.vectors))
	for _, c := range []struct {
		name string
		keep func(ord uint32) bool
		scan bool // whether it must
	}{
		{"nothing", func(uint32) bool { return false }, true},
		{"one", func(ord uint32) bool { return ord == 77 }, true},
		{"5 %", func(ord uint32) bool { return ord*2654435761>>16%20 == 0 }, true},
		{"50 %", func(ord uint32) bool { return ord*2654435761>>16%2 == 0 }, false},
		{"90 %", func(ord uint32) bool { return ord%10 != 0 }, false},
		{"apart", func(ord uint32) bool { return ord >= 3600 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.T = t
			allowed := docset.Where(n, c.keep)
			if allowed.Len() < 10 {
				w.search(w.draw(), topk.Scan{K: 10, Allowed: allowed}, 0)
				return
			}
			recall, scanned := w.recall(100, allowed)
			if recall < 0.97 || c.scan && scanned < 100 || !c.scan && scanned > 0 {
				t.Errorf("recall %.4f, want 0.97; %d of 100 searches scanned, want all: %t", recall, scanned, c.scan)
			}
		})
	}
}

// TestSetLargerThanTheGraph asserts that ordinals nobody added are no matches.
func TestSetLargerThanTheGraph(t *testing.T) {
	w := newWorld(t, 8)
	w.grow(1500)
	w.search(w.draw(), topk.Scan{K: 10, Allowed: docset.Where(100_000, func(uint32) bool { return true })}, 0)
}

// TestRandomOperations compares the graph with the list after every kind of
// change, at sizes where it is walked and where it is scanned.
func TestRandomOperations(t *testing.T) {
	for seed := range uint64(2) {
		w := newWorld(t, 100+seed)
		w.grow(1000)
		found, best := 0, 0
		for range 1000 {
			switch ords := w.live(); w.random.IntN(12) {
			case 0, 1, 2:
				w.grow(1 + w.random.IntN(20))
			case 3, 4:
				for range min(len(ords), w.random.IntN(20)) {
					w.remove(ords[w.random.IntN(len(ords))])
				}
			case 5: // the best match
				if got := w.truth(w.draw(), topk.Scan{K: 1}); len(got) > 0 {
					w.remove(int(got[0].Ord))
				}
			case 6: // again what is there
				if len(ords) > 0 {
					w.add(slices.Clone(w.vectors[ords[w.random.IntN(len(ords))]]))
				}
			case 7:
				if w.random.IntN(20) == 0 {
					w.vacuum()
				}
			case 8:
				if w.random.IntN(20) == 0 {
					w.use(reloaded(t, w.graph))
				}
			default:
				scan := topk.Scan{K: 1 + w.random.IntN(20)}
				if w.random.IntN(3) == 0 {
					modulus := 2 + w.random.Uint32N(10)
					scan.Allowed = docset.Where(uint32(len(w.vectors)), func(ord uint32) bool { return ord%modulus != 0 })
				}
				f, b, _ := w.search(w.draw(), scan, 0)
				found, best = found+f, best+b
			}
		}
		if recall := float64(found) / float64(best); recall < 0.98 {
			t.Errorf("seed %d: recall %.4f, want 0.98", seed, recall)
		}
		w.mustFindEach("in the end")
	}
}

func TestRefusals(t *testing.T) {
	for _, o := range []hnsw.Options{{M: 1}, {M: 65}, {M: -1}, {EfConstruction: -1}, {M: 32, EfConstruction: 31}, {EfConstruction: 4097}} {
		if _, err := hnsw.New(dim, o); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%+v: error %v", o, err)
		}
	}
	if _, err := hnsw.New(0, hnsw.Options{}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("no components: error %v", err)
	}
	w := newWorld(t, 9)
	w.grow(3)
	nan, inf := w.draw(), w.draw()
	nan[dim-1], inf[0] = float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		ord    uint32
		vector []float32
		code   braid.Code
	}{
		{3, make([]float32, dim-1), braid.InvalidArgument},
		{3, nil, braid.InvalidArgument},
		{3, nan, braid.InvalidArgument},
		{3, inf, braid.InvalidArgument},
		{1, w.draw(), braid.Conflict},
		{math.MaxUint32, w.draw(), braid.TooLarge},
	} {
		if err := w.graph.Add(c.ord, c.vector); braid.CodeOf(err) != c.code {
			t.Errorf("ordinal %d: error %v, want %s", c.ord, err, c.code)
		}
	}
	w.graph.Remove(1 << 30) // never there
	if n := w.graph.Len(); n != 3 {
		t.Errorf("length %d after refusals, want 3", n)
	}
	if _, _, err := w.graph.Search(t.Context(), make([]float32, dim+1), topk.Scan{K: 1}, 0); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("a long query: error %v", err)
	}
	if got, _, err := w.graph.Search(t.Context(), w.draw(), topk.Scan{}, 0); len(got) > 0 || err != nil {
		t.Errorf("no matches asked for: %v, error %v", got, err)
	}
	w.remove(1)
	if err := w.graph.Add(1, w.draw()); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("a removed ordinal again: error %v", err)
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t, 10)
	w.grow(2000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, k := range []int{1, 1000} { // walks, scans
		if _, _, err := w.graph.Search(ctx, w.draw(), topk.Scan{K: k}, 0); braid.CodeOf(err) != braid.Canceled {
			t.Errorf("search: got %v, want %s", err, braid.Canceled)
		}
	}
	for ord := range 500 {
		w.remove(ord)
	}
	if err := w.graph.Vacuum(ctx); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("vacuum: got %v, want %s", err, braid.Canceled)
	}
	w.mustFindEach("after a cancelled Vacuum")
	w.vacuum()
	w.mustFindEach("after Vacuum")
}

// TestSparseOrdinals asserts that gaps between ordinals are no matches.
func TestSparseOrdinals(t *testing.T) {
	w := newWorld(t, 11)
	w.vectors = make([][]float32, 40_000)
	for i := range 1500 {
		ord := (i * 7919) % 40_000
		v := w.draw()
		if err := w.graph.Add(uint32(ord), v); err != nil {
			t.Fatal(err)
		}
		w.vectors[ord] = v
	}
	w.mustRecall("with gaps")
}
