package snapshot_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/snapshot"
)

// content is one of everything a stream can hold.
type content struct {
	Signed  []int8
	Bytes   []byte
	Shorts  []uint16
	Words   []uint32
	Longs   []uint64
	Floats  []float32
	Number  uint64
	Strings []string
}

func write(c content) []byte {
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 3)
	w.Uint8s(c.Bytes)
	w.Int8s(c.Signed)
	w.Uint16s(c.Shorts)
	w.Uint32s(c.Words)
	w.Uint64s(c.Longs)
	w.Float32s(c.Floats)
	w.Uint64(c.Number)
	w.Strings(c.Strings)
	if err := w.Close(); err != nil {
		panic(err) // a bytes.Buffer does not fail
	}
	if w.Written() != int64(b.Len()) {
		panic("written bytes are not counted")
	}
	return b.Bytes()
}

func read(b []byte) (content, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 3)
	c := content{
		Bytes: r.Uint8s(), Signed: r.Int8s(), Shorts: r.Uint16s(), Words: r.Uint32s(), Longs: r.Uint64s(),
		Floats: r.Float32s(), Number: r.Uint64(), Strings: r.Strings(),
	}
	return c, r.Close()
}

func TestReadEqualsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := content{
			Bytes:   rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"),
			Signed:  rapid.SliceOf(rapid.Int8()).Draw(t, "signed"),
			Shorts:  rapid.SliceOf(rapid.Uint16()).Draw(t, "shorts"),
			Words:   rapid.SliceOf(rapid.Uint32()).Draw(t, "words"),
			Longs:   rapid.SliceOf(rapid.Uint64()).Draw(t, "longs"),
			Floats:  rapid.SliceOf(rapid.Float32()).Draw(t, "floats"),
			Number:  rapid.Uint64().Draw(t, "number"),
			Strings: rapid.SliceOf(rapid.String()).Draw(t, "strings"),
		}
		got, err := read(write(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v, want %+v, error %v", got, want, err)
		}
	})
}

// TestLargeArray reads an array of more than one piece.
func TestLargeArray(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var c content
	c.Strings = []string{}
	for range 200_000 {
		c.Floats = append(c.Floats, random.Float32())
	}
	got, err := read(write(c))
	if err != nil || !reflect.DeepEqual(got.Floats, c.Floats) {
		t.Fatalf("read %d floats, error %v", len(got.Floats), err)
	}
}

// TestEveryDamageIsSeen changes each byte, cuts at each length and adds one.
func TestEveryDamageIsSeen(t *testing.T) {
	good := write(content{
		Bytes: []byte{1, 2, 3}, Shorts: []uint16{4, 5}, Words: []uint32{6, 7, 8}, Longs: []uint64{9},
		Floats: []float32{math.Pi, 1}, Number: 10, Strings: []string{"a", "", "bc"},
	})
	if _, err := read(good); err != nil {
		t.Fatal(err)
	}
	damaged := func(what string, at int, b []byte) {
		t.Helper()
		if _, err := read(b); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("%s at %d: error %v, want %s", what, at, err, braid.Corrupt)
		}
	}
	for i := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b := bytes.Clone(good)
			b[i] ^= flip
			damaged("flipped", i, b)
		}
		damaged("cut", i, good[:i])
	}
	damaged("one more", len(good), append(bytes.Clone(good), 0))
}

// TestSwappedSections exchanges two sections of the same type and length.
func TestSwappedSections(t *testing.T) {
	pair := func(a, b uint64) []byte {
		var buf bytes.Buffer
		w := snapshot.NewWriter(&buf, "test", 1)
		w.Uint64(a)
		w.Uint64(b)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	b := pair(1, 2)
	const section, end = 9 + 8 + 8, 9 + 8
	second := len(b) - end - section
	first := second - section
	swapped := bytes.Clone(b)
	copy(swapped[first:], b[second:second+section])
	copy(swapped[second:], b[first:first+section])
	r := snapshot.NewReader(bytes.NewReader(swapped), int64(len(swapped)), "test", 1)
	if r.Uint64(); braid.CodeOf(r.Err()) != braid.Corrupt {
		t.Errorf("error %v, want %s", r.Err(), braid.Corrupt)
	}
}

func TestOtherKindsAndVersions(t *testing.T) {
	b := write(content{})
	for name, r := range map[string]*snapshot.Reader{
		"kind":    snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "other", 3),
		"version": snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 2),
	} {
		if braid.CodeOf(r.Err()) != braid.Conflict {
			t.Errorf("%s: error %v, want %s", name, r.Err(), braid.Conflict)
		}
		if r.Uint32s() != nil || r.Uint64() != 0 || r.Strings() != nil {
			t.Errorf("%s: something is read after an error", name)
		}
	}
}

// TestWriterKeepsItsError fails after some bytes, as a full disk does.
func TestWriterKeepsItsError(t *testing.T) {
	full := errors.New("no space")
	w := snapshot.NewWriter(&limited{left: 50, err: full}, "test", 1)
	w.Uint32s(make([]uint32, 100))
	w.Uint64(1)
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type limited struct {
	left int
	err  error
}

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		n := l.left
		l.left = 0
		return n, l.err
	}
	l.left -= len(b)
	return len(b), nil
}
