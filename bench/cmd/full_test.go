package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/testenv"
)

// fakeBench notes how it is called, writes a report a part and fails in the part
// that the file "broken" names.
const fakeBench = `#!/bin/sh
echo "$*" >>calls
[ "$1" = merge ] && exit
part=$2
while [ "$1" != -out ]; do shift; done
echo "{}" >"$2.json"
echo "# $part" >"$2.md"
echo "it says why" >&2
[ "$part" != "$(cat broken)" ]
`

// fullCheckout is a checkout with scripts/bench-full and nothing else.
func fullCheckout(t *testing.T) (root string, full func(env string, args ...string) (said string, calls []string, err error)) {
	t.Helper()
	root = t.TempDir()
	script, err := os.ReadFile(filepath.Join(testenv.Root(), "scripts", "bench-full"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"scripts/bench-full": string(script), "bin/bench": fakeBench, "broken": "none", "calls": "", ".gitignore": "*"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		if said, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, said)
		}
	}
	return root, func(env string, args ...string) (string, []string, error) {
		if err := os.WriteFile(filepath.Join(root, "calls"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(root, "scripts", "bench-full"), args...)
		cmd.Env = append(os.Environ(), strings.Split(env, ";")...)
		said, failed := cmd.CombinedOutput()
		calls, err := os.ReadFile(filepath.Join(root, "calls"))
		if err != nil {
			t.Fatal(err)
		}
		return string(said), strings.Split(strings.TrimSpace(string(calls)), "\n"), failed
	}
}

// What failed runs again, what is done does not, and both are in the report.
func TestFullRunGoesOn(t *testing.T) {
	root, full := fullCheckout(t)
	broken := func(part string) {
		if err := os.WriteFile(filepath.Join(root, "broken"), []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	broken("stages")
	said, calls, err := full("STEPS=concurrency stages load", "out", "here")
	if err == nil || !strings.Contains(said, "stages on here failed") || !strings.Contains(said, "it says why") {
		t.Errorf("a step failed, but it says %q, %v", said, err)
	}
	if len(calls) != 4 || !strings.HasPrefix(calls[3], "merge -out out ") || strings.Count(calls[3], ".json") != 3 {
		t.Errorf("called %q, want three parts, and all merged", calls)
	}
	broken("none")
	said, calls, err = full("STEPS=concurrency stages load", "out", "here")
	if err != nil || len(calls) != 2 || !strings.HasPrefix(calls[0], "-parts stages -corpus here ") {
		t.Errorf("called %q, %v, want only what had failed: %s", calls, err, said)
	}
}

func TestFullRunSearchesEveryCorpus(t *testing.T) {
	_, full := fullCheckout(t)
	_, calls, err := full("STEPS=endtoend libraries;FLAGS=-rounds 1", "out", "a", "dir/b")
	if err != nil || len(calls) != 4 {
		t.Fatalf("called %q, %v", calls, err)
	}
	for i, want := range []string{"-parts endtoend -corpus a ", "-parts endtoend -corpus dir/b ", "-parts libraries -corpus a "} {
		if !strings.HasPrefix(calls[i], want) || !strings.HasSuffix(calls[i], " -rounds 1") {
			t.Errorf("call %d is %q, want %q and the flags last", i, calls[i], want)
		}
	}
}

func TestFullRunLeavesOutWhatDoesNotFit(t *testing.T) {
	_, full := fullCheckout(t)
	said, calls, err := full("STEPS=concurrency load;MINUTES=3", "out")
	if err == nil || !strings.Contains(said, "load on demo: left out") || len(calls) != 2 {
		t.Errorf("called %q, %v, and it says %q", calls, err, said)
	}
	if said, _, err := full(""); err == nil || !strings.Contains(said, "bench-full OUT [CORPUS...]") {
		t.Errorf("without arguments it says %q, %v", said, err)
	}
}
