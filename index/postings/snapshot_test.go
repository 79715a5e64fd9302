package postings

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

// decodeDocument is the Decode of the documents of these tests.
func decodeDocument(record []byte, terms []uint32, codes []uint8) ([]uint32, []uint8, bool) {
	if len(record)%8 != 0 {
		return nil, nil, false
	}
	d := parse(record)
	return append(terms, d.terms...), append(codes, d.codes()...), true
}

func save(t testing.TB, x *Index) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64) (*Index, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	x, err := Load(r, end, decodeDocument)
	if err != nil {
		return nil, err
	}
	return x, r.Close()
}

// filled returns an index of documents spread over three windows, the second
// of which is empty, with some removed, and what is in it.
func filled(random *rand.Rand) (*Index, model) {
	x, m := New(), model{}
	for i := range uint32(3000) {
		ord := i
		if i >= 2000 {
			ord += 2 << windowBits
		}
		m[ord] = draw(random, random.IntN(8), 50)
		x.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
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
	// It can be changed like any other.
	for ord := range uint32(2500) {
		y.Remove(ord)
		delete(m, ord)
	}
	for ord := uint32(4 << windowBits); ord < 4<<windowBits+500; ord++ {
		m[ord] = draw(random, 5, 60)
		y.Add(ord, m[ord].terms, m[ord].codes(), m[ord].record())
	}
	for range 50 {
		compare(t, y, m, query(draw(random, 5, 60)), topk.Scan{K: 20})
	}
}

// TestLongRecords saves a window in more than one piece.
func TestLongRecords(t *testing.T) {
	x := New()
	const long = pieceBytes/2 + 8
	for ord := range uint32(3) {
		record := bytes.Repeat([]byte{byte(ord), 0, 0, 0, 0, 0, 0x80, 0x3f}, long/8)
		x.Add(ord, []uint32{ord}, []uint8{1}, record)
	}
	x.Add(3, nil, nil, nil)
	if pieces := x.windows[0].pieces(pieceBytes); len(pieces) != 2 {
		t.Fatalf("%d pieces, want 2", len(pieces))
	}
	y, err := load(save(t, x), 4)
	if err != nil {
		t.Fatal(err)
	}
	for ord := range uint32(4) {
		if !bytes.Equal(y.Record(ord), x.Record(ord)) {
			t.Errorf("record of %d differs", ord)
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	x := New()
	x.Add(5, []uint32{1}, []uint8{1}, []byte("12345678"))
	x.Remove(5)
	for name, x := range map[string]*Index{"new": New(), "emptied": x} {
		y, err := load(save(t, x), 0)
		if err != nil || y.Len() != 0 {
			t.Fatalf("%s: %d documents, error %v", name, y.Len(), err)
		}
		y.Add(0, []uint32{1}, []uint8{1}, []byte("12345678"))
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

// TestSenselessContent writes streams whose checksums are right and whose
// content is not: each is refused, or is an index that can be searched.
func TestSenselessContent(t *testing.T) {
	random := rand.New(rand.NewPCG(27, 28))
	refused := 0
	for range 1000 {
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", 1)
		windows := random.IntN(3)
		w.Uint64(uint64(windows))
		for range windows {
			alive := make([]uint64, random.IntN(3))
			n := 0
			for i := range alive {
				alive[i] = random.Uint64() & random.Uint64() & random.Uint64() & random.Uint64()
				n += bitset(alive[i : i+1]).count()
			}
			if random.IntN(20) == 0 {
				alive = append(alive, make([]uint64, 1<<windowBits/64)...)
				alive[len(alive)-1] = 1
			}
			w.Uint64s(alive)
			var piece []byte
			for range n + random.IntN(2)*random.IntN(3) {
				size := 8 * random.IntN(3)
				piece = append(piece, byte(size+random.IntN(20)/19))
				piece = append(piece, make([]byte, size)...)
			}
			if random.IntN(4) == 0 {
				piece = append(piece, 0xff)
			}
			pieces := random.IntN(6) / 5
			w.Uint64(uint64(1 + pieces))
			w.Uint8s(piece)
			for range pieces {
				w.Uint8s(nil)
			}
		}
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
		q := Query{Terms: []Term{{ID: 0, Weight: 1}}, Score: func([]byte) float64 { return 1 }}
		if _, err := y.Search(context.Background(), q, topk.Scan{K: 3}); err != nil {
			t.Fatal(err)
		}
		for range y.Records() {
		}
	}
	if refused < 200 || refused > 900 {
		t.Errorf("%d of 1000 refused: the test tries too much of one kind", refused)
	}
}

// TestCounts compares the counts with the documents'.
func TestCounts(t *testing.T) {
	x, m := filled(rand.New(rand.NewPCG(29, 30)))
	want, got := map[uint32]int{}, map[uint32]int{}
	for _, d := range m {
		for _, term := range d.terms {
			want[term]++
		}
	}
	for term, n := range x.Counts() {
		got[term] += n
	}
	for term, n := range want {
		if got[term] != n {
			t.Errorf("term %d: %d documents, want %d", term, got[term], n)
		}
	}
	for term, n := range got {
		if want[term] != n {
			t.Errorf("term %d: %d documents, want %d", term, n, want[term])
		}
	}
	records := 0
	for record := range x.Records() {
		if len(record)%8 != 0 {
			t.Fatalf("record of %d bytes", len(record))
		}
		records++
	}
	if records != len(m) {
		t.Errorf("%d records, want %d", records, len(m))
	}
}
