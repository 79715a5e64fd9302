package lexical_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/topk"
)

func save(t testing.TB, x *lexical.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64) (*lexical.Index, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	x, err := lexical.Load(r, end, lexical.Options{})
	if err != nil {
		return nil, err
	}
	return x, r.Close()
}

// words returns n of a hundred words, the first ones most often.
func words(random *rand.Rand, n int) string {
	var text strings.Builder
	for range n {
		fmt.Fprintf(&text, "w%c%c ", 'a'+rune(random.ExpFloat64()*2)%10, 'a'+rune(random.ExpFloat64()*2)%10)
	}
	return text.String()
}

// A loaded index answers as the saved one does, and goes on as it would.
func TestLoadedEqualsSaved(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	x := lexical.New(lexical.Options{})
	for ord := range uint32(500) {
		x.Add(ord, words(random, random.IntN(40)))
		if ord%3 == 0 {
			x.Remove(random.Uint32N(ord + 1))
		}
	}
	x.Add(500, "onlyonce")
	x.Remove(500) // a number without a term
	loaded, err := load(save(t, x), 500)
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if loaded.Len() != x.Len() {
			t.Fatalf("%d documents, want %d", loaded.Len(), x.Len())
		}
		for range 100 {
			text := words(random, 1+random.IntN(5))
			if got, want := search(loaded, text), search(x, text); !slices.Equal(got, want) {
				t.Fatalf("%q found %v, want %v", text, got, want)
			}
		}
	}
	check()
	for ord := uint32(501); ord < 600; ord++ {
		text := words(random, random.IntN(40)) + fmt.Sprintf("own%d", ord%7)
		x.Add(ord, text)
		loaded.Add(ord, text)
		out := random.Uint32N(ord)
		x.Remove(out)
		loaded.Remove(out)
	}
	check()
	if got, want := search(loaded, "own3"), search(x, "own3"); len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("a new word finds %v, want %v", got, want)
	}
}

func TestOtherAnalyserIsRefused(t *testing.T) {
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	w.Uint64(lexical.AnalyzerVersion + 1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := load(b.Bytes(), 1); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("error %v, want %s", err, braid.Conflict)
	}
}

// TestDamageIsSeen flips and cuts what was saved.
func TestDamageIsSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	x := lexical.New(lexical.Options{})
	for ord := range uint32(50) {
		x.Add(ord, words(random, random.IntN(40)))
	}
	good := save(t, x)
	for range 1000 {
		b, at := bytes.Clone(good), random.IntN(len(good))
		if random.IntN(2) == 0 {
			b = b[:at]
		} else {
			b[at] ^= byte(1 + random.IntN(255))
		}
		if _, err := load(b, 50); braid.CodeOf(err) != braid.Corrupt {
			t.Fatalf("damaged at %d of %d: error %v, want %s", at, len(good), err, braid.Corrupt)
		}
	}
}

// TestSenselessContent changes what was saved and writes it with the right
// checksums: it is refused, or can be searched and changed.
func TestSenselessContent(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x := lexical.New(lexical.Options{})
	for ord := range uint32(20) {
		x.Add(ord, words(random, 30))
	}
	saved := save(t, x)
	refused := 0
	const tries = 2000
	for range tries {
		r := snapshot.NewReader(bytes.NewReader(saved), int64(len(saved)), "test", 1)
		version, names, windows, alive, pieces, records := r.Uint64(), r.Strings(), r.Uint64(), r.Uint64s(), r.Uint64(), r.Uint8s()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(2) {
			switch random.IntN(12) {
			case 0:
				names[random.IntN(len(names))] = ""
			case 1:
				names[random.IntN(len(names))] = names[0]
			case 2:
				names = append(names, "more")
			case 3:
				alive[0] ^= 1 << random.IntN(6)
			case 4:
				records = append(records[:random.IntN(len(records))], 0)
			default:
				records[random.IntN(len(records))] = byte(random.Uint32())
			}
		}
		var b bytes.Buffer
		w := snapshot.NewWriter(&b, "test", 1)
		w.Uint64(version)
		w.Strings(names)
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
		matches, err := loaded.Search(context.Background(), words(random, 30), topk.Scan{K: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			if !(m.Score > 0) || math.IsInf(m.Score, 0) {
				t.Fatalf("found %v", m)
			}
		}
		for ord := range uint32(64) {
			loaded.Remove(ord)
		}
		if loaded.Len() != 0 {
			t.Fatalf("%d documents are left", loaded.Len())
		}
	}
	if refused < tries/5 || refused > tries*95/100 {
		t.Errorf("%d of %d refused: the test tries too much of one kind", refused, tries)
	}
}
