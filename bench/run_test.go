package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/internal/testenv"
)

// TestMain runs the contender in process when the benchmark under test starts
// this binary for it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "peer" {
		opts := peer.Options{Library: os.Args[3], Models: os.Args[5]}
		switch os.Args[6] {
		case "-dense":
			opts.Dense = os.Args[7]
		case "-pair":
			opts.Pair = os.Args[7]
		}
		if len(os.Args) > 9 && os.Args[8] == "-sparse" {
			opts.Sparse = os.Args[9]
		}
		if err := peer.Serve(context.Background(), opts, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// checkout is a folder with what a benchmark needs of the real one, and scratch
// space of its own.
func checkout(t *testing.T, names ...string) Config {
	t.Helper()
	root := t.TempDir()
	for _, name := range append(names, ".local/lib", ".local/models", "demo", "bench/peers") {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(testenv.Root(), name), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return Config{Root: root, Peer: []string{os.Args[0], "peer"}, Rounds: 2, Queries: 3, Passages: 4, Reranks: 1, Parts: []string{Libraries}}
}

// Where nothing is installed, the benchmark says so and compares nothing.
func TestRunWithoutPeers(t *testing.T) {
	report, err := Run(context.Background(), checkout(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Comparisons) != 0 || len(report.Memory) != 3 {
		t.Errorf("%d comparisons and %d rows of memory, want 0 and braid's 3", len(report.Comparisons), len(report.Memory))
	}
	if missing := strings.Join(report.NotRun, "\n"); !strings.Contains(missing, "bench/peers/install fastembed") || !strings.Contains(missing, "the part servers") {
		t.Errorf("it does not say what was not run: %s", missing)
	}
	for name, tokens := range report.Texts {
		if tokens.Texts < 3 || tokens.Min < 3 || tokens.Max > 512 || tokens.Mean < float64(tokens.Min) {
			t.Errorf("%s: %+v", name, tokens)
		}
	}
}

// Bare onnxruntime computes the same vectors, one text at a time, as braid does, and
// with braid's setting the same scores: the comparison is of the same work. With
// its own setting layer norms are rounded otherwise, which dynamic quantisation
// makes tenths of a logit of.
func TestRunAgainstOnnxruntime(t *testing.T) {
	if _, err := os.Stat((Config{Root: testenv.Root()}).python("onnxruntime")); err != nil {
		t.Skip("skipped: no peer: run bench/peers/install onnxruntime")
	}
	report, err := Run(context.Background(), checkout(t, ".local/venv/onnxruntime"))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, a := range report.Agreements {
		if !strings.Contains(a.Contender, "one-by-one") && !strings.Contains(a.Contender, "two-callers") {
			continue
		}
		same++
		if a.LargestDifference > 1e-3 && strings.Contains(a.Contender, "apart") || a.LowestCosine != 0 && a.LowestCosine < 0.99999 {
			t.Errorf("%s, %s: its answers are not braid's: %+v", a.Contender, a.Workload, a)
		}
	}
	if same != 8 {
		t.Errorf("%d agreements of one text a run, want two contenders in three workloads and one in two", same)
	}
	for _, c := range report.Comparisons {
		if len(c.AFigure.Rounds) != 2 || c.AFigure.Min <= 0 || c.BFigure.Min <= 0 {
			t.Errorf("%s, %s against %s: %+v, %+v", c.Workload, c.A, c.B, c.AFigure, c.BFigure)
		}
	}
}

func TestRunThatCannotBegin(t *testing.T) {
	cfg := checkout(t)
	cfg.Peer = []string{"/bin/sh", "-c", "echo this is not braid >&2; exit 1"}
	report, err := Run(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "this is not braid") {
		t.Errorf("got %v, want what the contender said", err)
	}
	if report == nil || len(report.Parts) != 1 || !strings.Contains(strings.Join(report.NotRun, "\n"), "the rest of the part libraries") {
		t.Errorf("the report of a part that failed is %+v", report)
	}
}

// A part that fails does not keep the others from running.
func TestRunGoesOnAfterAPartThatFails(t *testing.T) {
	cfg := checkout(t)
	cfg.Peer = []string{"/bin/sh", "-c", "exit 1"}
	cfg.Program = "/nowhere/braid"
	cfg.Parts = []string{Libraries, Stages}
	var kept []int // parts, each time
	cfg.Seen = func(r *Report) error {
		kept = append(kept, len(r.Parts))
		return nil
	}
	report, err := Run(context.Background(), cfg)
	if err == nil || !strings.Contains(err.Error(), "libraries: ") || !strings.Contains(err.Error(), "stages: ") {
		t.Errorf("got %v, want what became of both parts", err)
	}
	if len(report.Parts) != 2 || !slices.Equal(kept, []int{1, 2}) {
		t.Errorf("ran %+v and kept %v", report.Parts, kept)
	}
}
