package corpus

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/braid-search/braid"
)

func TestMixTakesHalfOfEach(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a, b braid.SparseVector
	for i := range uint32(3000) {
		if i%3 != 1 {
			a.Indices, a.Values = append(a.Indices, i), append(a.Values, 1)
		}
		if i%3 != 0 {
			b.Indices, b.Values = append(b.Indices, i), append(b.Values, 2)
		}
	}
	v := mix(random, a, b)
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	var counts [3][3]int // by kind of index and value
	for i, index := range v.Indices {
		counts[index%3][int(v.Values[i])]++
	}
	for kind, want := range [3][3]int{{0, 500, 0}, {0, 0, 500}, {0, 500, 500}} {
		for value := range want {
			if got := counts[kind][value]; got < want[value]*9/10 || got > want[value]*11/10 {
				t.Errorf("indices of kind %d have value %d %d times, want about %d", kind, value, got, want[value])
			}
		}
	}
}

func TestMixerRepeatsItself(t *testing.T) {
	one := braid.SparseVector{Indices: []uint32{1, 5}, Values: []float32{1, 2}}
	sets := []*Set{
		{Name: "a", Passages: []string{"First. Second one.", "Third! Fourth"}, Vectors: []braid.SparseVector{one, {}}},
		{Name: "b", Passages: []string{"Fifth?"}, Vectors: []braid.SparseVector{one}},
	}
	m, again := NewMixer(sets), NewMixer(sets)
	var real []string
	for i := range 50 {
		if m.Text(i) != again.Text(i) || !slices.Equal(m.Vector(i).Indices, again.Vector(i).Indices) {
			t.Fatalf("passage %d differs", i)
		}
		if i < 3 {
			real = append(real, m.Text(i))
		}
	}
	slices.Sort(real)
	if want := []string{"Fifth?", "First. Second one.", "Third! Fourth"}; !slices.Equal(real, want) {
		t.Errorf("the first are %q, want %q", real, want)
	}
}

func TestSentences(t *testing.T) {
	got := sentences("One is 1.5. Two?  Three\nfour! ")
	if want := []string{"One is 1.5.", "Two?", "Three", "four!"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
