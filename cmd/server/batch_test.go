package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid/search"
)

// A file of more queries than a batch holds is answered line by line, and a query
// that is refused does not keep the others back.
func TestSearchQueriesOfAFile(t *testing.T) {
	data := t.TempDir()
	mustExecute(t, "index", "--data", data, corpus(t, 5))
	const n, bad = search.MaxBatch + 2, 7
	var lines strings.Builder
	for i := range n {
		text := fmt.Sprintf("number %d", i)
		if i == bad {
			text = strings.Repeat("x", search.MaxQueryBytes+1)
		}
		fmt.Fprintf(&lines, "{\"text\":%q,\"variants\":[\"the same\"]}\n", text)
	}
	file := filepath.Join(t.TempDir(), "queries.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := execute(t, "", "search", "--data", data, "--mode", "lexical", "--json", "--queries", file)
	printed := strings.Split(strings.TrimSpace(stdout), "\n")
	if code == 0 || !strings.Contains(stderr, fmt.Sprintf("1 of %d queries failed", n)) || len(printed) != n {
		t.Fatalf("exit %d, %d lines: %.300s", code, len(printed), stderr)
	}
	for i, line := range printed {
		if want := map[bool]string{true: `"code":"too_large"`, false: `"variant_weight":1`}[i == bad]; !strings.Contains(line, want) {
			t.Errorf("line %d: %.200s, want %s", i+1, line, want)
		}
	}
}
