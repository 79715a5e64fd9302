package main

import (
	"encoding/json"
	"os"
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

func TestEvalOfLabelledQueries(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	mustExecute(t, "index", "demo/corpus.jsonl", "--collection", "mine", "--data", data)
	labels := filepath.Join(dir, "labels.jsonl")
	text := `{"text":"ERR-104","relevant":["err-104"]}` + "\n" +
		`{"text":"how do I prime the pump","relevant":{"manual-priming":2}}` + "\n" + // an id that is not there
		`{"text":"zyxwvut","relevant":["err-104"]}` + "\n" + `{"text":"who won the cup","relevant":[]}` + "\n"
	if err := os.WriteFile(labels, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"eval", labels, "--collection", "mine", "--data", data, "--metrics", "nDCG@10", "--modes", "lexical,hybrid"}
	saved := filepath.Join(dir, "saved.json")
	stdout, stderr, code := execute(t, "", append(args, "--out", saved, "--details", "--json", "--candidates", "50")...)
	if code != 0 || !strings.Contains(stderr, "1 queries have no relevant document") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var report eval.Report
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	d := report.Details
	if report.Queries != 3 || len(d.Classes) != 3 || d.Classes[0].Name != "identifier" || d.Classes[0].Modes["hybrid"]["ndcg@10"] != 1 ||
		d.Intervals["hybrid"]["ndcg@10"].High != 1 || d.LatenciesMS["hybrid"]["dense_encode"].P95 <= 0 || d.LatenciesMS["lexical"]["dense_encode"].P95 != 0 {
		t.Errorf("report %s", stdout)
	}
	if c := d.Candidates; c.Depth != 50 || len(c.Branches) != 3 || len(c.Overlaps) != 3 || c.Branches["lexical"].Empty < 0.3 || c.Branches["dense"].Empty != 0 || c.Recall < c.Branches["dense"].Recall {
		t.Errorf("candidates %+v", c)
	}

	// Lexical evidence switched off, the code is lost; the list says by which branch.
	stdout, stderr, code = execute(t, "", append(args, "--baseline", saved, "--details", "--weights", "lexical=0,sparse=0")...)
	if code != 3 || !strings.Contains(stdout, "hybrid nDCG@10, worse most:\n") || !strings.Contains(stdout, "  ERR-104\n") || !strings.Contains(stdout, "err-104 (grade 1)  rank 1 → ") || !strings.Contains(stdout, "lexical 1 → 1") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
	for says, args := range map[string][]string{
		"does not exist":       {"eval", labels, "--collection", "absent", "--data", data},
		"no query has a relev": {"eval", write(t, "none.jsonl", `{"text":"x","relevant":[]}`), "--data", data},
		"are no --details":     {"eval", "demo", "--run-in", "x", "--details"},
		"--changed -1":         {"eval", "demo", "--changed", "-1"},
	} {
		if _, stderr, code := execute(t, "", args...); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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
