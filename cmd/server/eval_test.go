package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/eval"
)

func TestEvalAgainstABaseline(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	lexical := []string{"eval", "demo", "--data", data, "--modes", "lexical", "--metrics", "nDCG@10,Success@1,AP"}
	good := filepath.Join(dir, "good.json")
	if out := mustExecute(t, append(lexical, "--out", good)...); !strings.Contains(out, "Success@1") || strings.Contains(out, "R@20") {
		t.Errorf("printed %s", out)
	}
	if out := mustExecute(t, append(lexical, "--baseline", good, "--tolerance", "0")...); !strings.Contains(out, "+0.0000 to +0.0000") || strings.Contains(out, "most:") {
		t.Errorf("nothing changed, but printed %s", out)
	}
	// A baseline in which every query is answered perfectly.
	better := filepath.Join(dir, "better.json")
	raise(t, good, better)
	stdout, stderr, code := execute(t, "", append(lexical, "--baseline", better)...)
	if code != 3 || !strings.Contains(stderr, "nDCG@10 of lexical fell by") || !strings.Contains(stdout, "lexical nDCG@10, worse most: ") {
		t.Errorf("worse than the baseline: exit %d\n%s%s", code, stdout, stderr)
	}
	if stdout, stderr, code := execute(t, "", append(lexical, "--baseline", better, "--tolerance", "1")...); code != 0 {
		t.Errorf("within the tolerance: exit %d\n%s%s", code, stdout, stderr)
	}
	for says, args := range map[string][]string{
		"Success@k": {"--metrics", "MAP"},
		"twice":     {"--metrics", "AP,AP"},
		"0 to 1":    {"--tolerance", "-1"},
	} {
		if _, stderr, code := execute(t, "", append([]string{"eval", "demo", "--data", data}, args...)...); code != 2 || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

func TestEvalRunFiles(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	saved := filepath.Join(dir, "saved.json")
	mustExecute(t, "eval", "demo", "--data", data, "--modes", "lexical", "--run-out", filepath.Join(dir, "runs"), "--out", saved)
	file := filepath.Join(dir, "runs", "lexical.run")
	// The file scores as the search did, without a data folder.
	out := mustExecute(t, "eval", "demo", "--data", filepath.Join(dir, "absent"), "--run-in", file, "--baseline", saved, "--tolerance", "0")
	if strings.Count(out, "+0.0000 to +0.0000") != 4 {
		t.Errorf("printed %s", out)
	}
	if _, stderr, code := execute(t, "", "eval", "demo", "--run-in", file, "--run-out", dir); code != 2 || !strings.Contains(stderr, "leave one out") {
		t.Errorf("both: exit %d: %s", code, stderr)
	}
}

// raise copies results with every score set to 1.
func raise(t *testing.T, from, to string) {
	t.Helper()
	r, err := eval.LoadResults(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, scores := range r.Modes {
		for _, values := range scores {
			for i := range values {
				values[i] = 1
			}
		}
	}
	if err := r.Save(to); err != nil {
		t.Fatal(err)
	}
}
