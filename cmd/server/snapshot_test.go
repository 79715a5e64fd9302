package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSnapshots copies a folder in use through its server, and one nobody uses,
// and searches in what is made of each.
func TestSnapshots(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "data"), t.TempDir()
	s := serveOn(t, data)
	mustExecute(t, "index", corpus(t, 10), "--server", s.base)
	live, still := filepath.Join(dir, "live"), filepath.Join(dir, "still")
	mustExecute(t, "snapshot", "create", live, "--server", s.base)

	_, stderr, code := execute(t, "", "snapshot", "create", still, "--data", data)
	if code != 1 || !strings.Contains(stderr, "in use") || !strings.Contains(stderr, "--server") {
		t.Errorf("snapshot of a folder in use: exit %d: %s", code, stderr)
	}
	if code := s.stop(t, syscall.SIGTERM); code != 0 {
		t.Fatalf("the server stops with %d", code)
	}
	mustExecute(t, "snapshot", "create", still, "--data", data)

	for _, file := range []string{live, still} {
		restored := file + ".data"
		mustExecute(t, "snapshot", "restore", file, "--data", restored)
		if out := mustExecute(t, "search", "U-0007", "--data", restored); !strings.Contains(strings.Split(out, "\n")[1], "d007") {
			t.Errorf("after restoring %s, search printed %s", file, out)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.unfinished")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, error %v", left, err)
	}
}

func TestSnapshotFaults(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("not a snapshot"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no folder":        {[]string{"create", filepath.Join(dir, "a"), "--data", filepath.Join(dir, "none")}, 1, "none"},
		"file exists":      {[]string{"create", file, "--data", dir}, 1, "exists"},
		"no file":          {[]string{"restore", filepath.Join(dir, "none"), "--data", filepath.Join(dir, "b")}, 2, "none"},
		"no snapshot":      {[]string{"restore", file, "--data", filepath.Join(dir, "c")}, 1, "not a backup"},
		"folder not empty": {[]string{"restore", file, "--data", dir}, 1, "new or empty folder"},
		"no server":        {[]string{"create", filepath.Join(dir, "d"), "--server", "http://127.0.0.1:1"}, 1, "is the server running"},
		"no argument":      {[]string{"create"}, 2, "FILE"},
	} {
		_, stderr, code := execute(t, "", append([]string{"snapshot"}, c.args...)...)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit %d, want %d: %s", name, code, c.code, stderr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("what failed leaves %v, error %v", left, err)
	}
}
