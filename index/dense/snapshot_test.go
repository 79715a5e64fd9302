package dense_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

func saved(t *testing.T, x *dense.Exact) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 2)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loaded(b []byte, end uint64, dim int) (*dense.Exact, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 2)
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
	w := snapshot.NewWriter(&b, "test", 2)
	w.Uint64s([]uint64{1})
	w.Uint64(0)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := loaded(b.Bytes(), 1, 8); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("error %v, want %s", err, braid.Corrupt)
	}
}
