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
	for range rapid.IntRange(0, 5).Draw(t, "dimensions") {
		e.Dense = append(e.Dense, rapid.Float32().Draw(t, "component"))
	}
	indices := rapid.SliceOfDistinct(rapid.Uint32(), rapid.ID).Draw(t, "indices")
	slices.Sort(indices)
	for _, i := range indices {
		e.Sparse.Indices = append(e.Sparse.Indices, i)
		e.Sparse.Values = append(e.Sparse.Values, rapid.Float32().Draw(t, "value"))
	}
	if rapid.Bool().Draw(t, "with tokens") {
		e.Tokens = append([]uint32{}, rapid.SliceOf(rapid.Uint32()).Draw(t, "tokens")...)
	}
	return e
})

func TestRecordRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry.Draw(t, "entry")
		record := appendRecord(nil, e)
		got, err := decodeRecord(e.Document.ID, record)
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
		if _, err := decodeRecord(e.Document.ID, record[:cut]); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("cut to %d of %d bytes: error %v", cut, len(record), err)
		}
		if _, err := decodeRecord(e.Document.ID, append(record, 0)); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("a byte too many: error %v", err)
		}
	})
}

// TestRecordLengthsAreBounded asserts that a length that a damaged record
// claims takes no memory before it is checked.
func TestRecordLengthsAreBounded(t *testing.T) {
	head := append([]byte{recordFormat}, make([]byte, 32)...)
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01} // the largest uvarint
	billion := []byte{0x80, 0x94, 0xeb, 0xdc, 0x03}
	for _, length := range [][]byte{huge, billion} {
		for zeros := range 6 { // which of the lengths is spoilt
			record := slices.Concat(head, make([]byte, zeros), length, make([]byte, 100))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := decodeRecord("x", record); braid.CodeOf(err) != braid.Corrupt {
				t.Errorf("length %x after %d zeros: error %v", length, zeros, err)
			}
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 1<<20 {
				t.Errorf("length %x after %d zeros: %d bytes allocated", length, zeros, allocated)
			}
		}
	}
}

// TestRecordGolden pins format 1: a folder of today must be read tomorrow.
func TestRecordGolden(t *testing.T) {
	e := index.Entry{
		Document:    braid.Document{ID: "id", Title: "T", Text: "tx", Payload: []byte("{}")},
		Fingerprint: [32]byte{0: 1, 31: 2},
		Dense:       []float32{1, -0.5},
		Sparse:      braid.SparseVector{Indices: []uint32{5, 300}, Values: []float32{2, 0.25}},
		Tokens:      []uint32{101, 7592},
	}
	want := slices.Concat(
		[]byte{1, 1}, make([]byte, 30), []byte{2},
		[]byte("\x01T\x02tx\x02{}"),
		[]byte{2, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf},
		[]byte{2, 5, 0xa7, 0x02, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3e},
		[]byte{3, 101, 0xa8, 0x3b})
	if got := appendRecord(nil, e); !bytes.Equal(got, want) {
		t.Errorf("record is\n%x, want\n%x", got, want)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte{})
	f.Add(appendRecord(nil, index.Entry{}))
	f.Add(appendRecord(nil, index.Entry{
		Document: braid.Document{ID: "x", Title: "a", Text: "b", Payload: []byte("{}")},
		Dense:    []float32{1, float32(math.NaN())},
		Sparse:   braid.SparseVector{Indices: []uint32{1, math.MaxUint32}, Values: []float32{1, 2}},
		Tokens:   []uint32{},
	}))
	f.Fuzz(func(t *testing.T, record []byte) {
		e, err := decodeRecord("x", record)
		if err != nil {
			want := braid.Corrupt
			if len(record) > 0 && record[0] != recordFormat {
				want = braid.Conflict
			}
			if braid.CodeOf(err) != want {
				t.Fatalf("error %v is not %s", err, want)
			}
			return
		}
		// What is accepted is a value: written again it reads the same.
		again := appendRecord(nil, e)
		e2, err := decodeRecord("x", again)
		if err != nil || !bytes.Equal(appendRecord(nil, e2), again) {
			t.Fatalf("%x reads as %+v, written again as %+v, error %v", record, e, e2, err)
		}
	})
}
