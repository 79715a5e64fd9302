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
		x.Add(ord, words(random, random.IntN(40))+strings.Repeat("often ", 500*int(ord%50/49)))
		if ord%3 == 0 {
			x.Remove(random.Uint32N(ord + 1))
		}
	}
	x.Add(500, "onlyonce")
	x.Remove(500) // a number without a term
	loaded, err := load(save(t, x), 501)
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

// TestFullWindow loads more documents than a window of package postings has.
func TestFullWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	x := lexical.New(lexical.Options{})
	const n = 66_000
	for ord := range uint32(n) {
		x.Add(ord, words(random, 2))
	}
	loaded, err := load(save(t, x), n)
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		for range 20 {
			text := words(random, 3)
			if got, want := search(loaded, text), search(x, text); !slices.Equal(got, want) {
				t.Fatalf("%q found %v, want %v", text, got, want)
			}
		}
	}
	check()
	for ord := uint32(65_000); ord < n; ord++ {
		x.Remove(ord)
		loaded.Remove(ord)
	}
	check()
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

// saved is what an index is saved as.
type saved struct {
	version               uint64
	names                 []string
	lengths               []uint32
	documents             uint64
	oftenTerms, oftenOrds []uint32
	oftenCounts           []uint16
	windows               uint64
	alive                 []uint64
	terms, listLengths    []uint32
	offsets               []uint16
	counts                []uint8
}

func parse(t testing.TB, b []byte) saved {
	t.Helper()
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	s := saved{
		r.Uint64(), r.Strings(), r.Uint32s(), r.Uint64(), r.Uint32s(), r.Uint32s(), r.Uint16s(),
		r.Uint64(), r.Uint64s(), r.Uint32s(), r.Uint32s(), r.Uint16s(), r.Uint8s(),
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s saved) write(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	w.Uint64(s.version)
	w.Strings(s.names)
	w.Uint32s(s.lengths)
	w.Uint64(s.documents)
	w.Uint32s(s.oftenTerms)
	w.Uint32s(s.oftenOrds)
	w.Uint16s(s.oftenCounts)
	w.Uint64(s.windows)
	w.Uint64s(s.alive)
	w.Uint32s(s.terms)
	w.Uint32s(s.listLengths)
	w.Uint16s(s.offsets)
	w.Uint8s(s.counts)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestSenselessContent changes what was saved and writes it with the right
// checksums: it is refused, or can be searched and emptied.
func TestSenselessContent(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	x := lexical.New(lexical.Options{})
	for ord := range uint32(20) {
		x.Add(ord, words(random, 30)+strings.Repeat("often ", 240*int(ord%2)+random.IntN(30)))
	}
	good := save(t, x)
	if s := parse(t, good); len(s.oftenTerms) == 0 || !bytes.Equal(s.write(t), good) {
		t.Fatal("the test does not write what it read")
	}
	refused := 0
	const tries = 3000
	for range tries {
		s := parse(t, good)
		i, j := random.IntN(len(s.offsets)), random.IntN(len(s.terms))
		o := random.IntN(len(s.oftenTerms))
		switch random.IntN(20) {
		case 0:
			s.names[random.IntN(len(s.names))] = ""
		case 1:
			s.names[random.IntN(len(s.names))] = s.names[0]
		case 2:
			s.names = append(s.names, []string{"", "more"}[random.IntN(2)])
		case 3:
			s.names = s.names[:len(s.names)-1]
		case 4:
			s.lengths[random.IntN(len(s.lengths))] = random.Uint32() >> random.IntN(32)
		case 5:
			s.lengths[random.IntN(len(s.lengths))] = 0
		case 6:
			s.lengths = s.lengths[:random.IntN(len(s.lengths))]
		case 7:
			s.lengths = append(s.lengths, uint32(random.IntN(2)))
		case 8:
			s.documents += random.Uint64N(3) - 1
		case 9:
			s.oftenTerms[o] = random.Uint32N(30)
		case 10:
			s.oftenOrds[o] = random.Uint32N(25)
		case 11:
			s.oftenCounts[o] = uint16(random.IntN(1 << 10))
		case 12:
			s.oftenCounts = s.oftenCounts[1:]
		case 13:
			s.oftenTerms, s.oftenOrds, s.oftenCounts = s.oftenTerms[1:], s.oftenOrds[1:], s.oftenCounts[1:]
		case 14:
			s.alive[0] ^= 1 << random.IntN(40)
		case 15:
			s.terms[j] = random.Uint32N(100)
		case 16:
			s.offsets[i] = uint16(random.IntN(25))
		default:
			s.counts[i] = uint8(random.Uint32())
		}
		loaded, err := load(s.write(t), 64)
		if err != nil {
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error %v, want %s", err, braid.Corrupt)
			}
			refused++
			continue
		}
		matches, err := loaded.Search(context.Background(), words(random, 30)+"often", topk.Scan{K: 100})
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
		if loaded.Len() != 0 || loaded.MemoryBytes() > 10_000 {
			t.Fatalf("%d documents and %d bytes are left", loaded.Len(), loaded.MemoryBytes())
		}
	}
	if refused < tries/5 || refused > tries*95/100 {
		t.Errorf("%d of %d refused: the test tries too much of one kind", refused, tries)
	}
}
