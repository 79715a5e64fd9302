package postings

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

func save(t testing.TB, x *Index[float32]) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	x.Save(w, w.Float32s)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64) (*Index[float32], error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	x, err := Load(r, end, r.Float32s, func(part Part[float32], i int) (uint8, bool) {
		w := part.Exact[i]
		return codeOf(w), w > 0 && w <= topWeight
	})
	if err != nil {
		return nil, err
	}
	return x, r.Close()
}

// filled returns an index of documents spread over three windows, the second of
// which is empty, with some removed, and what is in it.
func filled(random *rand.Rand) (*Index[float32], model) {
	x, m := New[float32](), model{}
	for i := range uint32(3000) {
		ord := i
		if i >= 2000 {
			ord += 2 << windowBits
		}
		m[ord] = draw(random, random.IntN(8), 50)
		add(x, ord, m[ord])
	}
	for ord := range m {
		if ord%7 == 0 {
			x.Remove(ord)
			delete(m, ord)
		}
	}
	return x, m
}

func TestLoadedEqualsSaved(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	x, m := filled(random)
	saved := save(t, x)
	y, err := load(saved, 3000+2<<windowBits)
	if err != nil {
		t.Fatal(err)
	}
	if y.Len() != len(m) {
		t.Fatalf("%d documents, want %d", y.Len(), len(m))
	}
	if again := save(t, y); !bytes.Equal(again, saved) {
		t.Error("saved again, the bytes differ")
	}
	for range 50 {
		compare(t, y, m, query(draw(random, 5, 50)), topk.Scan{K: 20})
	}
	// It can be changed like any other, and what is saved then is all of it.
	for ord := range uint32(2500) {
		y.Remove(ord)
		delete(m, ord)
	}
	for ord := uint32(2<<windowBits) + 3000; ord < 2<<windowBits+3500; ord++ {
		m[ord] = draw(random, 5, 60)
		add(y, ord, m[ord])
	}
	z, err := load(save(t, y), 1<<32)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		compare(t, y, m, query(draw(random, 5, 60)), topk.Scan{K: 20})
		compare(t, z, m, query(draw(random, 5, 60)), topk.Scan{K: 20})
	}
}

func TestEmptyIndex(t *testing.T) {
	x := New[float32]()
	d := document{terms: []uint32{1}, weights: []float32{1}}
	add(x, 5, d)
	x.Remove(5)
	for name, x := range map[string]*Index[float32]{"new": New[float32](), "emptied": x} {
		y, err := load(save(t, x), 0)
		if err != nil || y.Len() != 0 {
			t.Fatalf("%s: %d documents, error %v", name, y.Len(), err)
		}
		add(y, 0, d)
		if y.Len() != 1 {
			t.Errorf("%s: cannot be added to", name)
		}
	}
}

func TestOrdinalsBeyondEnd(t *testing.T) {
	x, _ := filled(rand.New(rand.NewPCG(23, 24)))
	if _, err := load(save(t, x), 2500+2<<windowBits); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("error %v, want %s", err, braid.Corrupt)
	}
}

// TestDamageIsSeen flips and cuts what was saved.
func TestDamageIsSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 26))
	x, _ := filled(random)
	good := save(t, x)
	for range 1000 {
		b, at := bytes.Clone(good), random.IntN(len(good))
		if random.IntN(2) == 0 {
			b = b[:at]
		} else {
			b[at] ^= byte(1 + random.IntN(255))
		}
		if _, err := load(b, 1<<32); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("damaged at %d of %d: error %v, want %s", at, len(good), err, braid.Corrupt)
		}
	}
}

// TestSenselessContent changes what was saved and writes it with the right
// checksums: it is refused, or is an index that can be searched and changed.
func TestSenselessContent(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	x, m := newIndex[float32](windowBits), model{}
	for ord := range uint32(200) {
		m[ord] = draw(random, random.IntN(6), 10)
		add(x, ord, m[ord])
	}
	saved := save(t, x)
	refused := 0
	const tries = 2000
	for range tries {
		r := snapshot.NewReader(bytes.NewReader(saved), int64(len(saved)), "test", 1)
		windows, alive, terms, lengths, offsets, weights := r.Uint64(), r.Uint64s(), r.Uint32s(), r.Uint32s(), r.Uint16s(), r.Float32s()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		switch i := random.IntN(len(offsets)); random.IntN(10) {
		case 0:
			windows = random.Uint64() >> random.IntN(64)
		case 1:
			alive[random.IntN(len(alive))] ^= 1 << random.IntN(64)
		case 2:
			alive = append(alive, make([]uint64, 1<<windowBits/64)...)
			alive[len(alive)-1] = 1
		case 3:
			terms[random.IntN(len(terms))] = random.Uint32N(100)
		case 4:
			lengths[random.IntN(len(lengths))] = random.Uint32()
		case 5:
			from, to := random.IntN(len(lengths)), random.IntN(len(lengths))
			lengths[from]--
			lengths[to]++
		case 6:
			offsets[i] = uint16(random.Uint32N(300))
		case 7:
			offsets = offsets[:i]
		case 8:
			weights[i] = []float32{0, -1, float32(math.NaN()), 100, 1, 2}[random.IntN(6)]
		case 9:
			terms, lengths = append(terms, math.MaxUint32), append(lengths, 0)
		}
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", 1)
		w.Uint64(windows)
		w.Uint64s(alive)
		w.Uint32s(terms)
		w.Uint32s(lengths)
		w.Uint16s(offsets)
		w.Float32s(weights)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		y, err := load(b.Bytes(), 1<<32)
		if err != nil {
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error %v, want %s", err, braid.Corrupt)
			}
			refused++
			continue
		}
		if _, err := y.Search(context.Background(), query(draw(random, 5, 10)).build(false), topk.Scan{K: 3}); err != nil {
			t.Fatal(err)
		}
		for ord := range uint32(200) {
			y.Remove(ord)
		}
		add(y, 7, m[8])
	}
	if refused < tries/5 || refused > tries*95/100 {
		t.Errorf("%d of %d refused: the test tries too much of one kind", refused, tries)
	}
}
