package sparse_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/topk"
)

func save(t testing.TB, p *sparse.Postings) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	p.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64) (*sparse.Postings, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	p, err := sparse.Load(r, end)
	if err != nil {
		return nil, err
	}
	return p, r.Close()
}

func TestLoadedEqualsSaved(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	p, model := sparse.New(), map[uint32]braid.SparseVector{}
	add := func(p *sparse.Postings, from, to uint32) {
		for ord := from; ord < to; ord++ {
			v := vector(random, random.IntN(12), 40)
			if random.IntN(10) == 0 && len(v.Indices) > 0 {
				v.Indices[len(v.Indices)-1] = math.MaxUint32
			}
			model[ord] = v
			p.Add(ord, v)
			if ord%3 == 0 {
				p.Remove(ord)
				delete(model, ord)
			}
		}
	}
	check := func(p *sparse.Postings) {
		t.Helper()
		for range 100 {
			query, q := vector(random, random.IntN(8), 40), topk.Scan{K: 1 + random.IntN(70)}
			got, err := p.Search(context.Background(), query, q)
			if want := bruteForce(model, query, q); err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, error %v\nwant %v", got, err, want)
			}
		}
	}
	add(p, 0, 500)
	loaded, err := load(save(t, p), 500)
	if err != nil {
		t.Fatal(err)
	}
	check(loaded)
	add(loaded, 500, 600)
	check(loaded)
}

// TestDamageIsSeen flips and cuts what was saved.
func TestDamageIsSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	p := sparse.New()
	for ord := range uint32(100) {
		p.Add(ord, vector(random, 1+random.IntN(12), 40))
	}
	good := save(t, p)
	for range 1000 {
		b, at := bytes.Clone(good), random.IntN(len(good))
		if random.IntN(2) == 0 {
			b = b[:at]
		} else {
			b[at] ^= byte(1 + random.IntN(255))
		}
		if _, err := load(b, 100); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("damaged at %d of %d: error %v, want %s", at, len(good), err, braid.Corrupt)
		}
	}
}

// TestWeightsThatCannotBe writes indexes with the right checksums and weights
// that no vector has, or that are above what the index says is the largest.
func TestWeightsThatCannotBe(t *testing.T) {
	write := func(top float64, weight float32) []byte {
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", 1)
		w.Uint64(math.Float64bits(top))
		w.Uint64(1)                   // a window
		w.Uint64s([]uint64{1})        // of a document
		w.Uint32s([]uint32{9})        // with a term
		w.Uint32s([]uint32{1})        // that has a posting:
		w.Uint16s([]uint16{0})        // the document
		w.Float32s([]float32{weight}) // and its weight
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if _, err := load(write(2, 1.5), 1); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		top    float64
		weight float32
	}{
		{2, 0}, {2, -1}, {2, 2.5}, {2, float32(math.NaN())}, {2, float32(math.Inf(1))},
		{3, 1}, {0, 1}, {-2, 1}, {math.NaN(), 1}, {math.Inf(1), 1}, {math.Inf(1), float32(math.Inf(1))},
	} {
		if _, err := load(write(tc.top, tc.weight), 1); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("largest %v, weight %v: error %v, want %s", tc.top, tc.weight, err, braid.Corrupt)
		}
	}
}
