package dense_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// formVersion is that of the form that indexes are saved in.
const formVersion = 3

func saved(t testing.TB, x *dense.Exact) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", formVersion)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loaded(b []byte, end uint64, dim int) (*dense.Exact, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", formVersion)
	x, err := dense.Load(r, end, dim)
	if err != nil {
		return nil, err
	}
	return x, r.Close()
}

func TestSavedAndLoaded(t *testing.T) {
	random := rand.New(rand.NewPCG(71, 72))
	for _, n := range []int{0, 1, 63, 64, 65, 3000} {
		const dim = 200
		x := dense.New(dim)
		for ord := range n {
			x.Put(uint32(ord), small(random, dim))
		}
		for range n / 3 {
			x.Remove(random.Uint32N(uint32(n)))
		}
		b := saved(t, x)
		got, err := loaded(b, uint64(n), dim)
		if err != nil || got.Len() != x.Len() {
			t.Fatalf("%d vectors: %v", n, err)
		}
		query := small(random, dim)
		want, err := x.Search(context.Background(), query, topk.Scan{K: n + 1})
		if err != nil {
			t.Fatal(err)
		}
		if found, err := got.Search(context.Background(), query, topk.Scan{K: n + 1}); err != nil || !slices.Equal(found, want) {
			t.Fatalf("%d vectors: found %v, want %v, error %v", n, found, want, err)
		}
		if n == 0 {
			continue
		}
		for name, c := range map[string]struct{ end, dim int }{"fewer ordinals": {n / 2, dim}, "other components": {n, dim + 1}} {
			if _, err := loaded(b, uint64(c.end), c.dim); braid.CodeOf(err) != braid.Corrupt && x.Len() > 1 {
				t.Errorf("%d vectors, %s: error %v, want %s", n, name, err, braid.Corrupt)
			}
		}
	}
}

// TestLiveWithoutVector has a bit set where there is no block.
func TestLiveWithoutVector(t *testing.T) {
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", formVersion)
	w.Uint64s([]uint64{1})
	w.Uint64(0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := loaded(b.Bytes(), 1, 8); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("error %v, want %s", err, braid.Corrupt)
	}
}

// TestDamagedCodes has arrays of other lengths, and numbers that no codes have.
func TestDamagedCodes(t *testing.T) {
	const dim, rows = 1 << 17, 2 // of a block
	vectors := make([]float32, dim*rows)
	vectors[0], vectors[dim] = 1, 1
	for name, c := range map[string]struct {
		codes, scales, missed int
		scale, miss           float32
		norms                 []float32
		good                  bool
	}{
		"whole":                      {dim * rows, rows, rows, 1. / 127, 0, []float32{1}, true},
		"fewer codes":                {dim*rows - 1, rows, rows, 1. / 127, 0, []float32{1}, false},
		"fewer scales":               {dim * rows, rows - 1, rows, 1. / 127, 0, []float32{1}, false},
		"more errors":                {dim * rows, rows, rows + 1, 1. / 127, 0, []float32{1}, false},
		"a scale below 0":            {dim * rows, rows, rows, -1, 0, []float32{1}, false},
		"a scale without end":        {dim * rows, rows, rows, float32(math.Inf(1)), 0, []float32{1}, false},
		"an error that is no number": {dim * rows, rows, rows, 1. / 127, float32(math.NaN()), []float32{1}, false},
		"a length that is no number": {dim * rows, rows, rows, 1. / 127, 0, []float32{float32(math.NaN())}, false},
		"no length":                  {dim * rows, rows, rows, 1. / 127, 0, nil, false},
	} {
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", formVersion)
		w.Uint64s([]uint64{3})
		w.Uint64(1)
		w.Float32s(vectors)
		w.Int8s(make([]int8, c.codes))
		w.Float32s(slices.Repeat([]float32{c.scale}, c.scales))
		w.Float32s(slices.Repeat([]float32{c.miss}, c.missed))
		w.Float32s(c.norms)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := loaded(b.Bytes(), rows, dim); c.good != (err == nil) || err != nil && braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
