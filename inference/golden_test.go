package inference

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/braid-search/braid"
)

// golden is testdata/golden.json; golden.py beside it makes it and says how.
type golden struct {
	InstructionSets []string `json:"instruction_sets"`
	Texts           []struct {
		Name    string   `json:"name"`
		Text    string   `json:"text"`
		Times   int      `json:"times"`
		Role    string   `json:"role"`
		Tokens  int      `json:"tokens"`
		IDs     uint32s  `json:"ids"`
		Dense   float32s `json:"dense"`
		Indices uint32s  `json:"indices"`
		Weights float32s `json:"weights"`
		// The same of the SPLADE with its head in float32.
		FloatIndices uint32s  `json:"float_indices"`
		FloatWeights float32s `json:"float_weights"`
	} `json:"texts"`
	Pairs []struct {
		Query   string  `json:"query"`
		Passage string  `json:"passage"`
		Tokens  int     `json:"tokens"`
		IDs     uint32s `json:"ids"`
		First   int     `json:"first"` // ids of segment 0
		Logit   float64 `json:"logit"`
	} `json:"pairs"`
}

type uint32s []uint32

func (u *uint32s) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	for len(raw) >= 4 {
		*u = append(*u, binary.LittleEndian.Uint32(raw))
		raw = raw[4:]
	}
	return err
}

type float32s []float32

func (f *float32s) UnmarshalText(text []byte) error {
	var bits uint32s
	err := bits.UnmarshalText(text)
	for _, b := range bits {
		*f = append(*f, math.Float32frombits(b))
	}
	return err
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// tolerance is how far results may be from the goldens.
type tolerance struct {
	cosine float64 // at least
	logit  float64 // at most, absolute
	weight float64 // the same, of SPLADE
}

// tolerate is strict on a CPU like the one the goldens were made on. Elsewhere
// the float32 kernels round differently, which can move an activation of an
// int8 model to the next of its 256 steps: between AVX-512 and AVX2 that was
// seen to move a cosine by 0.0026, the logit of a full model by 0.02 and a weight
// of SPLADE by 0.0025.
func (g golden) tolerate(t *testing.T) tolerance {
	t.Helper()
	var sets []string
	for _, set := range []struct {
		name string
		has  bool
	}{
		{"avx2", cpu.X86.HasAVX2},
		{"avx512f", cpu.X86.HasAVX512F},
		{"avx_vnni", cpu.X86.HasAVXVNNI},
		{"avx512_vnni", cpu.X86.HasAVX512VNNI},
		{"amx_int8", cpu.X86.HasAMXInt8},
	} {
		if set.has {
			sets = append(sets, set.name)
		}
	}
	if slices.Equal(sets, g.InstructionSets) {
		return tolerance{cosine: 0.99999, logit: 1e-3, weight: 1e-4}
	}
	t.Logf("this CPU has %q, the goldens' had %q: comparing loosely", sets, g.InstructionSets)
	return tolerance{cosine: 0.99, logit: 0.1, weight: 0.05}
}

func TestGoldenTokens(t *testing.T) {
	g := readGolden(t)
	r := openRuntime(t, Options{})
	dense, sparse := openDense(t, r).head, openSparse(t, r).head
	for _, c := range g.Texts {
		t.Run(c.Name, func(t *testing.T) {
			req := Request{Texts: []string{strings.Repeat(c.Text, c.Times)}}
			if c.Role == "passage" {
				req.Role = RolePassage
			}
			for _, h := range []*head{dense, sparse} {
				if h == sparse && c.Role == "query" {
					continue // it has no prefix
				}
				sequences, usage, err := h.tokenise(context.Background(), req)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(sequences[0].ids, c.IDs) {
					t.Errorf("%s: ids %v\nwant %v", h.model.Name, sequences[0].ids, c.IDs)
				}
				if usage[0].Truncated != (c.Tokens > 512) {
					t.Errorf("%s: truncated is %v with %d tokens", h.model.Name, usage[0].Truncated, c.Tokens)
				}
				exact := len(req.Texts[0]) <= segmentBytes
				if exact && usage[0].Tokens != c.Tokens || usage[0].Tokens > c.Tokens || usage[0].Tokens < len(c.IDs) {
					t.Errorf("%s: %d tokens, want %d", h.model.Name, usage[0].Tokens, c.Tokens)
				}
			}
		})
	}
}

func TestGoldenPairTokens(t *testing.T) {
	g := readGolden(t)
	p := openPair(t, openRuntime(t, Options{}))
	for i, c := range g.Pairs {
		sequences, usage, err := p.tokenise(context.Background(), PairRequest{Query: c.Query, Passages: []Passage{{Text: c.Passage}}})
		if err != nil {
			t.Fatal(err)
		}
		types := make([]uint8, len(c.IDs))
		for at := range types[c.First:] {
			types[c.First+at] = 1
		}
		if !slices.Equal(sequences[0].ids, c.IDs) || !slices.Equal(sequences[0].types, types) {
			t.Errorf("pair %d: ids %v, types %v\nwant %v, %v", i, sequences[0].ids, sequences[0].types, c.IDs, types)
		}
		if want := (Usage{Tokens: c.Tokens, Truncated: c.Tokens > 512}); usage[0] != want {
			t.Errorf("pair %d: usage %+v, want %+v", i, usage[0], want)
		}
	}
}

func TestGoldenEmbeddings(t *testing.T) {
	g := readGolden(t)
	want := g.tolerate(t)
	d := openDense(t, openRuntime(t, Options{exactInt8: true}))
	for _, c := range g.Texts {
		req := Request{Texts: []string{strings.Repeat(c.Text, c.Times)}}
		if c.Role == "passage" {
			req.Role = RolePassage
		}
		got, _, err := d.Embed(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if cosine := dot(got[0].Vector, c.Dense); cosine < want.cosine {
			t.Errorf("%s: cosine %.7f with the reference, want %v", c.Name, cosine, want.cosine)
		}
		if length := dot(got[0].Vector, got[0].Vector); math.Abs(length-1) > 1e-6 {
			t.Errorf("%s: squared length %v, want 1", c.Name, length)
		}
	}
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestGoldenExpansions(t *testing.T) {
	g := readGolden(t)
	want := g.tolerate(t)
	for i, got := range expandGolden(t, g, Options{}) {
		c := g.Texts[i]
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		for index, d := range difference(got, braid.SparseVector{Indices: c.Indices, Values: c.Weights}) {
			if math.Abs(d) > want.weight {
				t.Errorf("%s: weight of token %d is off by %v", c.Name, index, d)
			}
		}
	}
}

// The head's weights are such that no processor's product saturates, so the exact
// mode, which is slower, gives the same bits.
func TestInt8HeadIsExactAnyway(t *testing.T) {
	g := readGolden(t)
	exact := expandGolden(t, g, Options{exactInt8: true})
	for i, got := range expandGolden(t, g, Options{}) {
		if !slices.Equal(got.Indices, exact[i].Indices) || !slices.Equal(got.Values, exact[i].Values) {
			t.Errorf("%s: another expansion than in the exact mode", g.Texts[i].Name)
		}
	}
}

// expandGolden returns what the SPLADE makes of the golden texts in a runtime of
// its own, which is closed again.
func expandGolden(t *testing.T, g golden, options Options) (vectors []braid.SparseVector) {
	t.Helper()
	t.Run("expand", func(t *testing.T) {
		s := openSparse(t, openRuntime(t, options))
		for _, c := range g.Texts {
			got, _, err := s.Expand(context.Background(), Request{Texts: []string{strings.Repeat(c.Text, c.Times)}})
			if err != nil {
				t.Fatal(err)
			}
			vectors = append(vectors, got[0].Vector)
		}
	})
	return vectors
}

// What rounding the head to int8 costs, on every processor: seen were a cosine of
// 0.9986 with the float head, in a text of one word, and a weight off by 0.10.
func TestInt8HeadIsNearTheFloatHead(t *testing.T) {
	g := readGolden(t)
	for i, got := range expandGolden(t, g, Options{}) {
		want := braid.SparseVector{Indices: g.Texts[i].FloatIndices, Values: g.Texts[i].FloatWeights}
		var off, distance float64
		for _, d := range difference(got, want) {
			off = max(off, math.Abs(d))
			distance += d * d
		}
		a, b := dot(got.Values, got.Values), dot(want.Values, want.Values)
		cosine := (a + b - distance) / (2 * math.Sqrt(a*b))
		if !(cosine >= 0.998 && off <= 0.2) {
			t.Errorf("%s: cosine %.6f, want 0.998; a weight is off by %.3f, want 0.2 at most", g.Texts[i].Name, cosine, off)
		}
	}
}

// difference is a - b by index. A weight that one side lacks counts as 0, so an
// entry may only be missing when it is below the tolerance.
func difference(a, b braid.SparseVector) map[uint32]float64 {
	d := map[uint32]float64{}
	for i, index := range a.Indices {
		d[index] += float64(a.Values[i])
	}
	for i, index := range b.Indices {
		d[index] -= float64(b.Values[i])
	}
	return d
}

func TestGoldenLogits(t *testing.T) {
	g := readGolden(t)
	want := g.tolerate(t)
	p := openPair(t, openRuntime(t, Options{exactInt8: true}))
	for i, c := range g.Pairs {
		tokens, err := p.Tokens(context.Background(), []string{c.Passage, c.Query})
		if err != nil {
			t.Fatal(err)
		}
		passages := []Passage{{Text: c.Passage}, {Tokens: tokens[0]}}
		got, _, err := p.Score(context.Background(), PairRequest{Query: c.Query, Passages: passages, Lane: LaneQuery})
		if err != nil {
			t.Fatal(err)
		}
		if d := math.Abs(float64(got[0].Logit) - c.Logit); d > want.logit {
			t.Errorf("pair %d: logit %.4f, want %.4f", i, got[0].Logit, c.Logit)
		}
		// Stored ids give the same score, unless the query fills the model alone.
		if len(tokens[1]) < p.Room() && got[1].Logit != got[0].Logit {
			t.Errorf("pair %d: logit %v from stored ids, %v from text", i, got[1].Logit, got[0].Logit)
		}
	}
}
