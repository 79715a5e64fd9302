package main

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/internal/eval"
)

// testBench has three real passages and vectors.
func testBench(t *testing.T, sizes ...int) *bench {
	vectors := make(corpus.Matrix, 3*corpus.Dim)
	for i := range 3 {
		vectors[i*corpus.Dim+i] = 1
	}
	one := braid.SparseVector{Indices: []uint32{1, 5}, Values: []float32{1, 2}}
	set := &corpus.Set{
		Name: "scifact", Passages: []string{"First one. Second one.", "Third.", "Fourth."}, Vectors: []braid.SparseVector{one, one, one},
		Data: &eval.Dataset{Queries: []eval.Query{{Text: "first"}, {Text: "third"}}}, Queries: []braid.SparseVector{one, one},
	}
	dense, err := corpus.NewDense(vectors.Part(0, 2), vectors.Part(0, 2), vectors.Part(2, 3))
	if err != nil {
		t.Fatal(err)
	}
	return &bench{
		folders: corpus.Folder{Root: t.TempDir()}, sizes: sizes, rounds: 1, log: func(string, ...any) {},
		mixer: corpus.NewMixer([]*corpus.Set{set}), dense: dense,
	}
}

// TestGrowth makes two small collections, the second from the first, and measures
// them.
func TestGrowth(t *testing.T) {
	b, ctx := testBench(t, 150, 400), context.Background()
	if err := b.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "growth")
	if err := b.measure(ctx, out); err != nil {
		t.Fatal(err)
	}
	var r results
	if err := report.Read(out, &r); err != nil || len(r.Sizes) != 2 {
		t.Fatalf("%d sizes, error %v", len(r.Sizes), err)
	}
	for i, want := range []struct{ passages, added int }{{150, 150}, {400, 250}} {
		s := r.Sizes[i]
		if s.Passages != want.passages || s.Added != want.added || s.Warm.Method != "exact" || s.Cold.Method != "exact" || s.Truth != nil {
			t.Errorf("size %+v, want %+v", s, want)
		}
		if s.Recall10 != 1 || s.Recall100 != 1 {
			t.Errorf("comparing all has recall %v and %v, want 1", s.Recall10, s.Recall100)
		}
		for _, name := range structures() {
			if s.Memory[name] <= 0 {
				t.Errorf("%s takes %d bytes", name, s.Memory[name])
			}
		}
	}
	if text := r.markdown("growth"); !strings.Contains(text, "| 400 | 250 | ") || !strings.Contains(text, "(growth-memory.svg)") {
		t.Errorf("report:\n%s", text)
	}
}

func TestRecall(t *testing.T) {
	hits := [][]braid.Hit{{{ID: "p1"}, {ID: "p9"}}, {{ID: "p3"}}}
	truth := [][]uint32{{1, 2}, {3, 9}}
	if got := recall(hits, truth, 1); got != 1 {
		t.Errorf("at 1: %v, want 1", got)
	}
	if got := recall(hits, truth, 2); math.Abs(got-0.5) > 1e-9 {
		t.Errorf("at 2: %v, want 0.5", got)
	}
}

func TestWhatIsNotMadeIsSaid(t *testing.T) {
	if err := testBench(t, 150).measure(context.Background(), filepath.Join(t.TempDir(), "growth")); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("error %v, want one of what was not found", err)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"-out", "x", "-sizes", "5"}, {"-out", "x", "-rounds", "0"}, {"prepare", "more"}} {
		if err := run(context.Background(), args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
