package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/braid-search/braid/internal/testdisk"
)

// A snapshot that does not fit says so and leaves nothing under either name.
func TestSnapshotToAFullDisk(t *testing.T) {
	data := t.TempDir()
	mustExecute(t, "index", corpus(t, 10), "--data", data)
	disk := testdisk.Small(t, 1)
	filler := filepath.Join(disk, "filler")
	testdisk.Fill(t, filler)
	s := serveOn(t, data)
	for _, from := range [][]string{{"--server", s.base}, {"--data", data}} {
		if from[0] == "--data" {
			s.stop(t, syscall.SIGTERM)
		}
		file := filepath.Join(disk, "snapshot")
		_, stderr, code := execute(t, "", append([]string{"snapshot", "create", file}, from...)...)
		if code != 1 || !strings.Contains(stderr, "disk is full") || !strings.Contains(stderr, file) {
			t.Errorf("%v: exit %d: %s", from, code, stderr)
		}
		if left, err := filepath.Glob(file + "*"); err != nil || len(left) > 0 {
			t.Errorf("%v: left are %v, error %v", from, left, err)
		}
	}
}
