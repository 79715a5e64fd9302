package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/selfbench"
)

// The measurement runs on the real models and says what it advises.
func TestBench(t *testing.T) {
	out := mustExecute(t, "bench", "--budget", "1s", "--json")
	var got selfbench.Report
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if len(got.Models) != 3 || got.Searched == 0 || got.Advice.Texts == 0 {
		t.Errorf("got %+v", got)
	}
	tried := map[int]int{}
	for _, r := range got.Rates {
		tried[r.Threads]++
		if r.Tokens <= 0 || r.Lowest > r.Tokens || r.Highest < r.Tokens {
			t.Errorf("rate %+v", r)
		}
	}
	if tried[got.Advice.Threads] != 3 || tried[1] != 3 || tried[got.Cores] != 3 {
		t.Errorf("rates by threads %v, want every model with one, all cores and the advised %d", tried, got.Advice.Threads)
	}
	for _, want := range []string{"dense encode", "sparse encode", "lexical search", "fuse", "rerank"} {
		if !slices.ContainsFunc(got.Stages, func(s selfbench.Stage) bool { return s.Stage == want && s.P50 > 0 }) {
			t.Errorf("no stage %q in %+v", want, got.Stages)
		}
	}
}

// For people it prints tables and a recommendation.
func TestBenchPrints(t *testing.T) {
	out := mustExecute(t, "bench", "--budget", "1s", "--sparse", "none", "--reranker", "none")
	for _, want := range []string{"tokens/s", "bge-small-en-v1.5", "dense encode", "Recommended: --threads ", "texts a request"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "splade") || strings.Contains(out, "rerank") {
		t.Errorf("a model that is switched off was measured:\n%s", out)
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, args := range [][]string{{"bench", "--budget", "10ms"}, {"bench", "--dense", "none", "--sparse", "none", "--reranker", "none"}} {
		if _, stderr, code := execute(t, "", args...); code != 2 || !strings.Contains(stderr, "braid: ") {
			t.Errorf("%q: exit status %d, %q", args, code, stderr)
		}
	}
}
