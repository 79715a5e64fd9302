package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// newKey makes a key by the command and returns it with its entry.
func newKey(t *testing.T, name string) (key, entry string) {
	t.Helper()
	out := mustExecute(t, "keys", "new", name)
	m := regexp.MustCompile(`^key: +(\S+)\nentry: (\{.*\})\n$`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("keys new printed %q", out)
	}
	return m[1], m[2]
}

// TestServeWithKeys indexes and searches with the keys of two halls of a
// warehouse.
func TestServeWithKeys(t *testing.T) {
	operator, entry := newKey(t, "operator")
	hall, hallEntry := newKey(t, "hall 3")
	file := filepath.Join(t.TempDir(), "keys.json")
	limited := strings.TrimSuffix(hallEntry, "}") + `,"filter":{"must":[{"field":"hall","match":3}]}}`
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"keys":[%s,%s]}`, entry, limited), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveOn(t, t.TempDir(), "--api-keys", file)
	documents := corpus(t, 14)
	if _, stderr, code := execute(t, "", "index", documents, "--server", s.base); code != 1 || !strings.Contains(stderr, "Authorization: Bearer KEY") {
		t.Errorf("index without a key: exit %d, %s", code, stderr)
	}
	mustExecute(t, "index", documents, "--server", s.base, "--api-key", operator)
	if _, stderr, code := execute(t, "", "index", documents, "--server", s.base, "--api-key", hall); code != 1 || !strings.Contains(stderr, "filter of the API key \"hall 3\"") {
		t.Errorf("index for other halls: exit %d, %s", code, stderr)
	}
	t.Setenv("BRAID_API_KEY", hall)
	out := mustExecute(t, "search", "U-0004", "--server", s.base)
	if !strings.Contains(out, "d003") || !strings.Contains(out, "d010") || strings.Contains(out, "d004") || !strings.Contains(out, "2 documents pass the filter") {
		t.Errorf("search printed %s", out)
	}
	if _, stderr, code := execute(t, "", "snapshot", "create", filepath.Join(t.TempDir(), "s"), "--server", s.base); code != 1 || !strings.Contains(stderr, "limited") {
		t.Errorf("snapshot with the key of a hall: exit %d, %s", code, stderr)
	}
	mustExecute(t, "snapshot", "create", filepath.Join(t.TempDir(), "s"), "--server", s.base, "--api-key", operator)
	mustExecute(t, "health", "--server", s.base)
}
