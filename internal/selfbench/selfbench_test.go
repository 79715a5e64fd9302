package selfbench

import (
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

// The default stays unless another number of runs is clearly better, in all
// models together.
func TestAdviseThreads(t *testing.T) {
	rates := func(one, two, four float64) []Rate {
		return []Rate{{Threads: 1, Tokens: one}, {Threads: 2, Tokens: two}, {Threads: 4, Tokens: four}}
	}
	for _, tc := range []struct {
		name  string
		rates []Rate
		want  int
	}{
		{"all cores are best", rates(100, 190, 350), 4},
		{"half is better, within the margin", rates(100, 204, 200), 4},
		{"half is clearly better", rates(100, 230, 200), 2},
		{"one is best", rates(300, 230, 200), 1},
		{"a slow model counts more", append(rates(100, 200, 300), rates(10, 20, 15)...), 2},
	} {
		if got := adviseThreads(tc.rates, 4); got != tc.want {
			t.Errorf("%s: got %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestAdviseTexts(t *testing.T) {
	if got := adviseTexts([]Calls{{1, 50}, {4, 97}, {16, 100}, {32, 99}}); got != 4 {
		t.Errorf("got %d, want the fewest that come near the best, 4", got)
	}
	if got := adviseTexts(nil); got != 0 {
		t.Errorf("got %d without figures, want 0", got)
	}
}

func TestCandidates(t *testing.T) {
	for cores, want := range map[int][]int{1: {1}, 2: {1, 2}, 3: {1, 3}, 8: {1, 4, 8}} {
		if got := candidates(cores); !slices.Equal(got, want) {
			t.Errorf("%d cores: got %v, want %v", cores, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	for q, want := range map[float64]float64{0: 1, 0.5: 2.5, 0.95: 3.85, 1: 4} {
		if got := Quantile([]float64{4, 1, 3, 2}, q); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
}

// A stage that did not run has no row.
func TestSummed(t *testing.T) {
	got := summed("dense", []search.Timings{{DenseEncode: 3, Total: 4}, {DenseEncode: 5, Total: 6}})
	want := []Stage{{"dense", "dense encode", 2, 4, 4.9}, {"dense", "total", 2, 5, 5.9}}
	if len(got) != 2 || got[0].Stage != want[0].Stage || got[0].P50 != 4 || got[1].P50 != 5 || got[0].Searches != 2 {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMadeTexts(t *testing.T) {
	texts := made(rand.New(rand.NewPCG(1, 1)), 50, 3, 5)
	for _, text := range texts {
		if n := len(strings.Fields(text)); n < 3 || n > 5 {
			t.Errorf("%q has %d words", text, n)
		}
	}
	if !slices.Equal(texts, made(rand.New(rand.NewPCG(1, 1)), 50, 3, 5)) {
		t.Error("the same seed made other texts")
	}
}

func TestRefusals(t *testing.T) {
	open := func(int) (*modelset.Set, *inference.Runtime, error) {
		return nil, nil, braid.Errorf(braid.NotFound, "no model here")
	}
	serve := func(context.Context, *modelset.Set) (*search.Service, io.Closer, error) {
		t.Error("there is nothing to serve")
		return nil, nil, nil
	}
	for name, tc := range map[string]struct {
		opts Options
		want braid.Code
	}{
		"no way to open models": {Options{Budget: time.Second, Serve: serve}, braid.InvalidArgument},
		"no way to serve":       {Options{Open: open, Budget: time.Second}, braid.InvalidArgument},
		"no time":               {Options{Open: open, Serve: serve}, braid.InvalidArgument},
		"models do not open":    {Options{Open: open, Budget: time.Second, Serve: serve}, braid.NotFound},
	} {
		if _, err := Run(context.Background(), tc.opts); braid.CodeOf(err) != tc.want {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}
