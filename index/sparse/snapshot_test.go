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

// TestSenselessContent changes what was saved and writes it with the right
// checksums: it is refused, or finds nothing that is no vector.
func TestSenselessContent(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	p := sparse.New()
	for ord := range uint32(4) {
		p.Add(ord, vector(random, 1+random.IntN(6), 40))
	}
	saved := save(t, p)
	refused := 0
	const tries = 2000
	for range tries {
		r := snapshot.NewReader(bytes.NewReader(saved), int64(len(saved)), "test", 1)
		top, windows, alive, pieces, records := r.Uint64(), r.Uint64(), r.Uint64s(), r.Uint64(), r.Uint8s()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(3) {
			switch random.IntN(12) {
			case 0:
				top = random.Uint64()
			case 1:
				top = math.Float64bits(math.Ldexp(1, random.IntN(8)-4))
			case 2:
				alive[0] ^= 1 << random.IntN(6)
			case 3:
				records = records[:random.IntN(len(records))]
				records = append(records, 0)
			default:
				records[random.IntN(len(records))] = byte(random.Uint32())
			}
		}
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", 1)
		w.Uint64(top)
		w.Uint64(windows)
		w.Uint64s(alive)
		w.Uint64(pieces)
		w.Uint8s(records)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		loaded, err := load(b.Bytes(), 64)
		if err != nil {
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error %v, want %s", err, braid.Corrupt)
			}
			refused++
			continue
		}
		got, err := loaded.Search(context.Background(), vector(random, 40, 40), topk.Scan{K: 100})
		for _, m := range got {
			if !(m.Score > 0) || math.IsInf(m.Score, 0) {
				t.Fatalf("found %v", m)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if refused < tries/5 || refused > tries*4/5 {
		t.Errorf("%d of %d refused: the test tries too much of one kind", refused, tries)
	}
}
