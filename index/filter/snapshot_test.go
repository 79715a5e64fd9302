package filter_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/filter"
	"github.com/braid-search/braid/index/snapshot"
)

func save(t testing.TB, x *filter.Index) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	x.Save(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(b []byte, end uint64) (*filter.Index, error) {
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	x, err := filter.Load(r, end)
	if err != nil {
		return nil, err
	}
	return x, r.Close()
}

// reloaded returns x as it is after saving and loading.
func reloaded(t testing.TB, x *filter.Index, end int) *filter.Index {
	t.Helper()
	loaded, err := load(save(t, x), uint64(end))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Len() != x.Len() {
		t.Fatalf("%d documents after loading, want %d", loaded.Len(), x.Len())
	}
	return loaded
}

// TestOrdinalsBeyondTheEnd loads an index into a collection that has fewer
// documents.
func TestOrdinalsBeyondTheEnd(t *testing.T) {
	x := filter.New()
	for ord := range uint32(100) {
		x.Add(ord, fieldsOf(t, `{"a":"x","n":1}`))
	}
	saved := save(t, x)
	for end := range uint64(100) {
		if _, err := load(saved, end); braid.CodeOf(err) != braid.Corrupt {
			t.Errorf("end %d: error %v, want %s", end, err, braid.Corrupt)
		}
	}
}

// sections are the arrays of a saved index of one field with numbers and times.
type sections struct {
	live, numbersHigh, timesHigh                 []uint64
	keys, many, names                            []byte
	places, lengths, few, sizes, ends            []uint32
	numbersLow, numbersOrds, timesLow, timesOrds []uint32
}

func readSections(t *testing.T, b []byte) (s sections) {
	t.Helper()
	r := snapshot.NewReader(bytes.NewReader(b), int64(len(b)), "test", 1)
	s.live, s.keys, s.places = r.Uint64s(), r.Uint8s(), r.Uint32s()
	s.lengths, s.few, s.sizes, s.many = r.Uint32s(), r.Uint32s(), r.Uint32s(), r.Uint8s()
	s.ends, s.names = r.Uint32s(), r.Uint8s()
	s.numbersHigh, s.numbersLow, s.numbersOrds = r.Uint64s(), r.Uint32s(), r.Uint32s()
	s.timesHigh, s.timesLow, s.timesOrds = r.Uint64s(), r.Uint32s(), r.Uint32s()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s sections) write(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := snapshot.NewWriter(&b, "test", 1)
	w.Uint64s(s.live)
	w.Uint8s(s.keys)
	w.Uint32s(s.places)
	w.Uint32s(s.lengths)
	w.Uint32s(s.few)
	w.Uint32s(s.sizes)
	w.Uint8s(s.many)
	w.Uint32s(s.ends)
	w.Uint8s(s.names)
	w.Uint64s(s.numbersHigh)
	w.Uint32s(s.numbersLow)
	w.Uint32s(s.numbersOrds)
	w.Uint64s(s.timesHigh)
	w.Uint32s(s.timesLow)
	w.Uint32s(s.timesOrds)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestWrongContent changes what is saved and gives it right checksums: it is
// refused, or it is an index that answers.
func TestWrongContent(t *testing.T) {
	g := newGenerator(7)
	x := filter.New()
	for ord := range uint32(700) {
		x.Add(ord, fieldsOf(t, `{"n":[`+g.scalar()+`,7,"2031-05-02"]}`))
	}
	saved := save(t, x)
	refused := 0
	const tries = 2000
	for range tries {
		s := readSections(t, saved)
		switch random := g.Rand; random.IntN(4) {
		case 0:
			change(random, [][]byte{s.keys, s.many, s.names}[random.IntN(3)])
		case 1:
			change(random, [][]uint64{s.live, s.numbersHigh, s.timesHigh}[random.IntN(3)])
		case 2:
			change(random, [][]uint32{s.places, s.lengths, s.few, s.sizes, s.ends, s.numbersLow, s.numbersOrds, s.timesLow, s.timesOrds}[random.IntN(9)])
		case 3:
			list := []*[]uint32{&s.places, &s.lengths, &s.few, &s.sizes, &s.numbersLow, &s.timesOrds}[random.IntN(6)]
			*list = (*list)[:random.IntN(len(*list))]
		}
		loaded, err := load(s.write(t), 700)
		if err != nil {
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("error %v, want %s", err, braid.Corrupt)
			}
			refused++
			continue
		}
		for range 5 {
			for ord := range loaded.Resolve(parse(t, g.filter(2))).All() {
				if ord >= 700 {
					t.Fatalf("ordinal %d is found among 700", ord)
				}
			}
		}
		loaded.Add(701, fieldsOf(t, `{"n":[1,"x"]}`))
	}
	if refused < tries/5 || refused == tries {
		t.Errorf("%d of %d refused: the test tries too much of one kind", refused, tries)
	}
}

// change gives one element another value, near or far.
func change[T byte | uint32 | uint64](random *rand.Rand, list []T) {
	if len(list) == 0 {
		return
	}
	i := random.IntN(len(list))
	if random.IntN(2) == 0 {
		list[i] += T(random.IntN(5)) - 2
	} else {
		list[i] = T(random.Uint64())
	}
}
