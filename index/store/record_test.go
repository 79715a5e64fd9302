package store

import (
	"bytes"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

var anyEntry = rapid.Custom(func(t *rapid.T) index.Entry {
	e := index.Entry{
		Document: braid.Document{
			ID:    rapid.StringN(1, 20, 60).Draw(t, "id"),
			Title: rapid.String().Draw(t, "title"),
			Text:  rapid.String().Draw(t, "text"),
		},
		Fingerprint: [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "fingerprint")),
	}
	if rapid.Bool().Draw(t, "with payload") {
		e.Document.Payload = rapid.SliceOfN(rapid.Byte(), 1, 50).Draw(t, "payload")
	}
	if rapid.Bool().Draw(t, "not split") {
		e.Passages = []index.Passage{anyEncodings(t)}
		if rapid.Bool().Draw(t, "with format") {
			e.Document.Format = braid.FormatHTML
		}
		return e
	}
	for range rapid.IntRange(1, 5).Draw(t, "passages") {
		p := anyEncodings(t)
		p.Start = rapid.IntRange(0, len(e.Document.Text)).Draw(t, "start")
		p.End = rapid.IntRange(p.Start, len(e.Document.Text)).Draw(t, "end")
		p.Section = rapid.String().Draw(t, "section")
		p.Text = rapid.StringN(1, 20, -1).Draw(t, "own")
		if rapid.Bool().Draw(t, "as in the text") {
			p.Text += e.Document.Text[p.Start:p.End]
		}
		e.Passages = append(e.Passages, p)
	}
	return e
})

func anyEncodings(t *rapid.T) (p index.Passage) {
	for range rapid.IntRange(0, 5).Draw(t, "dimensions") {
		p.Dense = append(p.Dense, rapid.Float32().Draw(t, "component"))
	}
	indices := rapid.SliceOfDistinct(rapid.Uint32(), rapid.ID).Draw(t, "indices")
	slices.Sort(indices)
	for _, i := range indices {
		p.Sparse.Indices = append(p.Sparse.Indices, i)
		p.Sparse.Values = append(p.Sparse.Values, rapid.Float32().Draw(t, "value"))
	}
	if rapid.Bool().Draw(t, "with tokens") {
		p.Tokens = append([]uint32{}, rapid.SliceOf(rapid.Uint32()).Draw(t, "tokens")...)
	}
	return p
}

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry.Draw(t, "entry")
		record := appendRecord(nil, e)
		if n := passagesIn(record); n != len(e.Passages) {
			t.Fatalf("%d passages are counted, want %d", n, len(e.Passages))
		}
		bare, err := decodeRecord(e.Document.ID, record, false)
		if want := e.Stored(); err != nil || !reflect.DeepEqual(bare.Stored(), want) || bare.Passages[0].Dense != nil || bare.Passages[0].Sparse.Indices != nil {
			t.Fatalf("without vectors: got %+v, want %+v, error %v", bare, want, err)
		}
		got, err := decodeRecord(e.Document.ID, record, true)
		if err != nil || !reflect.DeepEqual(got, e) {
			t.Fatalf("got %+v, want %+v, error %v", got, e, err)
		}
		clear(record)
		if !reflect.DeepEqual(got, e) {
			t.Fatal("the entry shares memory with its record")
		}
		// Any cut is noticed.
		record = appendRecord(nil, e)
		cut := rapid.IntRange(0, len(record)-1).Draw(t, "cut")
		if _, err := decodeRecord(e.Document.ID, record[:cut], true); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("cut to %d of %d bytes: error %v", cut, len(record), err)
		}
		if _, err := decodeRecord(e.Document.ID, append(record, 0), true); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("a byte too many: error %v", err)
		}
	})
}

// TestRecordLengthsAreBounded asserts that a length that a damaged record
// claims takes no memory before it is checked.
func TestRecordLengthsAreBounded(t *testing.T) {
	for format := range byte(newestFormat) {
		boundedLengths(t, format+1)
	}
}

func boundedLengths(t *testing.T, format byte) {
	head := append([]byte{format}, make([]byte, 32)...)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01} // the largest uvarint
	billion := []byte{0x80, 0x94, 0xeb, 0xdc, 0x03}
	for _, length := range [][]byte{huge, billion} {
		for zeros := range 9 { // which of the lengths is spoilt
			record := slices.Concat(head, make([]byte, zeros), length, make([]byte, 100))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := decodeRecord("x", record, true); braid.CodeOf(err) != braid.Corrupt {
				t.Errorf("length %x after %d zeros: error %v", length, zeros, err)
			}
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
				t.Errorf("length %x after %d zeros: %d bytes allocated", length, zeros, allocated)
			}
		}
	}
}

// TestRecordGolden pins the formats: a folder of today must be read tomorrow.
func TestRecordGolden(t *testing.T) {
	e := index.Whole(braid.Document{ID: "id", Title: "T", Text: "tx", Payload: []byte("{}")}, [32]byte{0: 1, 31: 2})
	e.Passages[0] = index.Passage{
		Dense:  []float32{1, -0.5},
		Sparse: braid.SparseVector{Indices: []uint32{5, 300}, Values: []float32{2, 0.25}},
		Tokens: []uint32{101, 7592},
	}
	head := slices.Concat([]byte{1}, make([]byte, 30), []byte{2}, []byte("\x01T\x02tx\x02{}"))
	encodings := slices.Concat(
		[]byte{2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf},
		[]byte{2, 5, 0xa7, 0x02, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3e},
		[]byte{3, 101, 0xa8, 0x3b})
	if got, want := appendRecord(nil, e), slices.Concat([]byte{1}, head, encodings); !bytes.Equal(got, want) {
		t.Errorf("record is\n%x, want\n%x", got, want)
	}
	e.Document.Format = "html"
	first, second := e.Passages[0], index.Passage{Text: "T§ x", Start: 1, End: 2, Section: "§"}
	first.Text = "another"
	e.Passages = []index.Passage{first, second}
	if got, want := appendRecord(nil, e), slices.Concat([]byte{2}, head, []byte("\x04html\x02"),
		[]byte("\x00\x00\x00\x07another\x00"), encodings,
		[]byte("\x01\x01\x02§\x04T§ \x01"), []byte{0, 0, 0}); !bytes.Equal(got, want) {
		t.Errorf("record is\n%x, want\n%x", got, want)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte{})
	whole := index.Whole(braid.Document{ID: "x", Title: "a", Text: "b", Payload: []byte("{}")}, [32]byte{})
	f.Add(appendRecord(nil, whole))
	whole.Passages[0] = index.Passage{
		Dense:  []float32{1, float32(math.NaN())},
		Sparse: braid.SparseVector{Indices: []uint32{1, math.MaxUint32}, Values: []float32{1, 2}},
		Tokens: []uint32{},
	}
	f.Add(appendRecord(nil, whole))
	whole.Passages = append(whole.Passages, index.Passage{Text: "a b", End: 1, Section: "c"})
	f.Add(appendRecord(nil, whole))
	f.Fuzz(func(t *testing.T, record []byte) {
		e, err := decodeRecord("x", record, true)
		if err != nil {
			want := braid.Corrupt
			if len(record) > 0 && (record[0] < formatWhole || record[0] > newestFormat) {
				want = braid.Conflict
			}
			if braid.CodeOf(err) != want {
				t.Fatalf("error %v is not %s", err, want)
			}
			return
		}
		// What is accepted is a value: written again it reads the same.
		again := appendRecord(nil, e)
		e2, err := decodeRecord("x", again, true)
		if err != nil || !bytes.Equal(appendRecord(nil, e2), again) {
			t.Fatalf("%x reads as %+v, written again as %+v, error %v", record, e, e2, err)
		}
	})
}
