package inference

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// local is where set-up puts libraries and models.
const local = "../.local"

func openRuntime(t testing.TB, opts Options) *Runtime {
	t.Helper()
	library, err := FindLibrary(filepath.Join(local, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	opts.Library = library
	r, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func openModel(t testing.TB, name string) *models.Model {
	t.Helper()
	m, err := models.Open(filepath.Join(local, "models", name))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openDense(t testing.TB, r *Runtime) *Dense {
	t.Helper()
	d, err := r.NewDense(openModel(t, "bge-small-en-v1.5"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func openSparse(t testing.TB, r *Runtime) *Sparse {
	t.Helper()
	s, err := r.NewSparse(openModel(t, "splade-tiny"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openPair(t testing.TB, r *Runtime) *Pair {
	t.Helper()
	p, err := r.NewPair(openModel(t, "ms-marco-minilm-l12-v2"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKnownExpansion(t *testing.T) {
	s := openSparse(t, openRuntime(t, Options{}))
	got, _, err := s.Expand(context.Background(), Request{Texts: []string{"a big fat potato"}})
	if err != nil {
		t.Fatal(err)
	}
	v := got[0].Vector
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	weights := map[string]float32{}
	for i, index := range v.Indices {
		weights[s.Token(index)] = v.Values[i]
	}
	if len(weights) != 17 {
		t.Errorf("%d entries, want 17: %v", len(weights), weights)
	}
	for token, want := range map[string]float64{"fat": 2.635, "potato": 2.619, "large": 1.877, "potatoes": 1.764, "far": 1.629} {
		if got := float64(weights[token]); math.Abs(got-want) > 0.001 {
			t.Errorf("%s weighs %.4f, want %.3f", token, got, want)
		}
	}
	if s.Token(math.MaxUint32) != "" {
		t.Error("an index outside the vocabulary has a token")
	}
}

func TestKnownLogits(t *testing.T) {
	p := openPair(t, openRuntime(t, Options{}))
	passages := []Passage{{Text: "The capital of France is Paris."}, {Text: "I had a turkey sandwich."}}
	got, _, err := p.Score(context.Background(), PairRequest{Query: "what is the capital of france", Passages: passages, Lane: LaneQuery})
	if err != nil {
		t.Fatal(err)
	}
	// 9.33 and -11.11 on CPUs whose int8 products saturate, 9.63 and -11.30 on
	// those that have exact ones: see golden_test.go for the strict comparison.
	for i, want := range []float64{9.48, -11.2} {
		if math.Abs(float64(got[i].Logit)-want) > 0.25 {
			t.Errorf("passage %d has logit %.3f, want about %.2f", i, got[i].Logit, want)
		}
	}
}

func TestOneRuntimeAProcess(t *testing.T) {
	r := openRuntime(t, Options{})
	second, err := Open(Options{Library: r.Info().Library})
	if braid.CodeOf(err) != braid.Conflict {
		t.Fatalf("second Open: %v, %v; want a conflict", second, err)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Fatal(err)
	}
	again := openRuntime(t, Options{Slots: 1})
	if _, _, err := openDense(t, again).Embed(context.Background(), Request{Texts: []string{"works again"}}); err != nil {
		t.Fatal(err)
	}
}

func TestSelfTest(t *testing.T) {
	r := openRuntime(t, Options{})
	openDense(t, r)
	openSparse(t, r)
	openPair(t, r)
	if err := r.SelfTest(context.Background()); err != nil {
		t.Fatal(err)
	}
	info := r.Info()
	if len(info.Models) != 3 || info.Provider != "CPUExecutionProvider" || info.Version == "" || info.Slots < 1 {
		t.Errorf("info %+v", info)
	}
}

func TestFindLibrary(t *testing.T) {
	dir := t.TempDir()
	if path, err := FindLibrary(dir, ""); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("empty folders: %q, %v", path, err)
	}
	want := filepath.Join(dir, libraryName())
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := FindLibrary("/nonexistent", dir); path != want || err != nil {
		t.Errorf("got %q, %v; want %q", path, err, want)
	}
}

// TestArenas compares what models compute with memory kept in each way, and
// opens one after the other, as what the library registers must not stay.
func TestArenas(t *testing.T) {
	req := Request{Texts: []string{"water", "a longer text about water", "water " + strings.Repeat("and more ", 100)}}
	var want []Embedding
	for _, arena := range []Arena{ArenaModel, ArenaShared, "", ArenaOff} {
		r := openRuntime(t, Options{Arena: arena})
		got, _, err := openDense(t, r).Embed(t.Context(), req)
		if err != nil {
			t.Fatalf("arena %q: %v", arena, err)
		}
		if _, _, err := openSparse(t, r).Expand(t.Context(), req); err != nil {
			t.Fatalf("arena %q: %v", arena, err)
		}
		if want == nil {
			want = got
		}
		for i := range got {
			if !slices.Equal(got[i].Vector, want[i].Vector) {
				t.Errorf("arena %q: text %d has another vector", arena, i)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ParseArena("none"); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("arena none: %v, want %s", err, braid.InvalidArgument)
	}
}
