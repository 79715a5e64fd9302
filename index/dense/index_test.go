package dense_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// near returns a random vector of length 1 near one of a few others, as texts
// about a few subjects have.
func near(random *rand.Rand, dim int) []float32 {
	subject := rand.New(rand.NewPCG(random.Uint64N(40), 9))
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(subject.NormFloat64() + 0.7*random.NormFloat64())
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// TestGraphAndScanAgree compares an index of each kind, with and without a
// filter, after removals and after saving and loading.
func TestGraphAndScanAgree(t *testing.T) {
	const n, dim, k = 6000, 48, 10
	random := rand.New(rand.NewPCG(91, 92))
	exact := dense.NewIndex(dim, n, dense.Options{GraphFrom: -1})
	graph := dense.NewIndex(dim, n, dense.Options{GraphFrom: 1})
	for first := 0; first < n; first += 100 {
		vectors := make([][]float32, 100)
		for i := range vectors {
			vectors[i] = near(random, dim)
		}
		exact.Put(uint32(first), vectors...)
		graph.Put(uint32(first), vectors...)
	}
	for range n / 5 {
		ord := random.Uint32N(n)
		exact.Remove(ord)
		graph.Remove(ord)
	}
	if exact.Len() != graph.Len() {
		t.Fatalf("%d and %d vectors", exact.Len(), graph.Len())
	}
	graph = reload(t, graph, n)
	exact = reload(t, exact, n)
	half := docset.Where(n, func(ord uint32) bool { return ord%2 == 0 })
	few := docset.Where(n, func(ord uint32) bool { return ord%200 == 0 })
	for name, c := range map[string]struct {
		allowed *docset.Set
		by      index.Method // "" for either
		recall  float64
	}{"all": {nil, index.MethodGraph, 0.95}, "half": {half, "", 0.95}, "few": {few, index.MethodExact, 1}} {
		found, walked := 0, 0
		const queries = 100
		for range queries {
			query, scan := near(random, dim), topk.Scan{K: k, Allowed: c.allowed}
			want, by, err := exact.Search(context.Background(), query, scan)
			if err != nil || by != index.MethodExact {
				t.Fatalf("%s: by %s, error %v", name, by, err)
			}
			got, by, err := graph.Search(context.Background(), query, scan)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d matches, want %d, error %v", name, len(got), len(want), err)
			}
			if by == c.by {
				walked++
			}
			for _, m := range got {
				if c.allowed != nil && !c.allowed.Contains(m.Ord) {
					t.Fatalf("%s: ordinal %d is not allowed", name, m.Ord)
				}
				if slices.ContainsFunc(want, func(w topk.Match) bool { return w.Ord == m.Ord }) {
					found++
				}
			}
		}
		if recall := float64(found) / (k * queries); recall < c.recall {
			t.Errorf("%s: recall is %.3f, want %.2f", name, recall, c.recall)
		}
		if c.by != "" && walked < queries/2 {
			t.Errorf("%s: %d of %d searches were by %s", name, walked, queries, c.by)
		}
	}
}

func reload(t *testing.T, x *dense.Index, end uint64) *dense.Index {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", formVersion)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := snapshot.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), "test", formVersion)
	got, err := dense.LoadIndex(r, end, x.Dimensions(), x.Options())
	if err != nil || r.Close() != nil {
		t.Fatal(err, r.Err())
	}
	if got.Len() != x.Len() {
		t.Fatalf("%d vectors after loading, want %d", got.Len(), x.Len())
	}
	return got
}

func TestOutgrown(t *testing.T) {
	random := rand.New(rand.NewPCG(93, 94))
	for name, c := range map[string]struct {
		from, expected int
		want           bool
	}{"never": {-1, 10, false}, "below": {6, 0, false}, "at": {5, 0, true}, "has one": {5, 5, false}} {
		x := dense.NewIndex(8, c.expected, dense.Options{GraphFrom: c.from})
		for ord := range uint32(5) {
			x.Put(ord, near(random, 8))
		}
		if x.Outgrown() != c.want {
			t.Errorf("%s: outgrown %v", name, x.Outgrown())
		}
	}
}

func TestLoadOfAnotherKind(t *testing.T) {
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", formVersion)
	w.Uint64(2)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := snapshot.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), "test", formVersion)
	if _, err := dense.LoadIndex(r, 10, 8, dense.Options{}); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("error %v, want %s", err, braid.Corrupt)
	}
}
