package corpus

import (
	"math/rand/v2"
	"strings"

	"github.com/braid-search/braid"
)

// Recipe is what Mixer does, for the report.
const Recipe = "Passages up to the number of real ones are those. Each further one belongs to a collection, " +
	"drawn by its size. Its text has as many words as a random real passage of the collection, or a sentence more, " +
	"in whole sentences of random passages of it. Its vector is mixed of two random vectors of it: each entry of either is in with " +
	"probability 1/2. So frequencies of terms and lengths are those of real passages, and so is what stands together in a sentence."

// Mixer yields passages: the real ones, then mixtures. It depends on nothing
// but the collections.
type Mixer struct {
	Sets      []*Set
	sentences [][]string // by set
	real      int        // passages of all sets
	order     []int      // of the real ones: shuffled, so that a part has some of each set
}

// seed is that of all that is drawn.
const seed = 20

// NewMixer returns a mixer of sets, which it keeps.
func NewMixer(sets []*Set) *Mixer {
	m := &Mixer{Sets: sets}
	for _, s := range sets {
		m.real += len(s.Passages)
		var all []string
		for _, passage := range s.Passages {
			all = append(all, sentences(passage)...)
		}
		m.sentences = append(m.sentences, all)
	}
	m.order = rand.New(rand.NewPCG(seed, 0)).Perm(m.real)
	return m
}

// sentences cuts text after full stops, question marks and line ends.
func sentences(text string) []string {
	var all []string
	start := 0
	for i := 0; i < len(text); i++ {
		end := text[i] == '\n' || (text[i] == '.' || text[i] == '?' || text[i] == '!') && i+1 < len(text) && text[i+1] == ' '
		if end || i == len(text)-1 {
			if s := strings.TrimSpace(text[start : i+1]); s != "" {
				all = append(all, s)
			}
			start = i + 1
		}
	}
	return all
}

// place returns the set of passage i, and its number there or, for a mixture,
// -1 and what it is drawn with.
func (m *Mixer) place(i int) (set, number int, random *rand.Rand) {
	if i < m.real {
		number = m.order[i]
	} else {
		random = rand.New(rand.NewPCG(seed, uint64(i)))
		number = random.IntN(m.real)
	}
	for number >= len(m.Sets[set].Passages) {
		number -= len(m.Sets[set].Passages)
		set++
	}
	if random != nil {
		number = -1
	}
	return set, number, random
}

// Text returns passage i.
func (m *Mixer) Text(i int) string {
	at, number, random := m.place(i)
	s := m.Sets[at]
	if random == nil {
		return s.Passages[number]
	}
	var text strings.Builder
	length := len(strings.Fields(s.Passages[random.IntN(len(s.Passages))]))
	for words := 0; words < length; {
		sentence := m.sentences[at][random.IntN(len(m.sentences[at]))]
		words += len(strings.Fields(sentence))
		text.WriteString(sentence)
		text.WriteByte(' ')
	}
	return text.String()
}

// Vector returns the vector of passage i; it shares memory with the set's.
func (m *Mixer) Vector(i int) braid.SparseVector {
	at, number, random := m.place(i)
	s := m.Sets[at]
	if random == nil {
		return s.Vectors[number]
	}
	return mix(random, s.Vectors[random.IntN(len(s.Vectors))], s.Vectors[random.IntN(len(s.Vectors))])
}

// mix takes each entry of a and of b with probability 1/2, and at an index of
// both either of the two.
func mix(random *rand.Rand, a, b braid.SparseVector) braid.SparseVector {
	var v braid.SparseVector
	take := func(index uint32, value float32) {
		v.Indices, v.Values = append(v.Indices, index), append(v.Values, value)
	}
	for len(a.Indices)+len(b.Indices) > 0 {
		heads := random.Uint32()&1 == 0
		switch {
		case len(b.Indices) == 0 || len(a.Indices) > 0 && a.Indices[0] < b.Indices[0]:
			if heads {
				take(a.Indices[0], a.Values[0])
			}
			a.Indices, a.Values = a.Indices[1:], a.Values[1:]
		case len(a.Indices) == 0 || b.Indices[0] < a.Indices[0]:
			if heads {
				take(b.Indices[0], b.Values[0])
			}
			b.Indices, b.Values = b.Indices[1:], b.Values[1:]
		default:
			value := a.Values[0]
			if heads {
				value = b.Values[0]
			}
			take(a.Indices[0], value)
			a.Indices, a.Values = a.Indices[1:], a.Values[1:]
			b.Indices, b.Values = b.Indices[1:], b.Values[1:]
		}
	}
	return v
}
