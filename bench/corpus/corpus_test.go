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

// TestMixedVectors: the first are the real ones, the others have length 1 and lie
// between two neighbours.
func TestMixedVectors(t *testing.T) {
	passages, sentences := make(Matrix, 2*Dim), make(Matrix, Dim)
	passages[0], passages[Dim+1], sentences[2] = 1, 1, 1 // three unit vectors
	d, err := NewDense(passages, passages, sentences)
	if err != nil {
		t.Fatal(err)
	}
	all := d.Range(0, 50)
	seen := map[int]bool{}
	for i := range all.Rows() {
		var norm float64
		nonzero := 0
		for j, x := range all.Row(i) {
			norm += float64(x) * float64(x)
			if x != 0 {
				nonzero++
				if i < d.Real() {
					seen[j] = true
				}
			}
		}
		if norm < 0.9999 || norm > 1.0001 || nonzero > 2 || i < 3 && nonzero != 1 {
			t.Errorf("vector %d has length² %v and %d components", i, norm, nonzero)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%d of the real vectors are among the first, want 3", len(seen))
	}
	if part := d.Range(20, 30); !slices.Equal(part, all.Part(20, 30)) {
		t.Error("a part differs from the whole")
	}
}

func TestNearest(t *testing.T) {
	base := make(Matrix, 3*Dim)
	base[0], base[Dim], base[2*Dim] = 0.5, 1, 0.75
	if got := Nearest(base, base.Part(1, 2), 2)[0]; len(got) != 2 || got[0].Ord != 1 || got[1].Ord != 2 {
		t.Errorf("%v", got)
	}
}
