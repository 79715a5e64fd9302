package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/testdisk"
)

// TestFullDisk fills a disk with commits, and again with another file. Commits
// are refused while it is full, reading and opening work, dropping works and
// makes room.
func TestFullDisk(t *testing.T) {
	disk := testdisk.Small(t, 64)
	dir := filepath.Join(disk, "data")
	s := openStore(t, dir, Options{ReserveBytes: 4 << 20})
	c, other := create(t, s, "a"), create(t, s, "b")
	if err := commit(s, other, "1"); err != nil {
		t.Fatal(err)
	}
	stored, err := 0, error(nil)
	for err == nil && stored < 10_000 {
		if err = commitLarge(s, c, stored); err == nil {
			stored++
		}
	}
	if braid.CodeOf(err) != braid.StorageFull || stored < 50 {
		t.Fatalf("after %d commits of 100 kB: error %v, want %s", stored, err, braid.StorageFull)
	}
	check := func(what string) {
		t.Helper()
		if got, err := s.tally(c.Number); err != nil || int(got.count) != stored {
			t.Errorf("%s: %d documents, want %d, error %v", what, got.count, stored, err)
		}
		for i := range stored {
			if _, ok, err := s.Get(c.Number, fmt.Sprint(i)); !ok || err != nil {
				t.Fatalf("%s: document %d is missing, error %v", what, i, err)
			}
		}
	}
	check("full")
	filler := filepath.Join(disk, "filler")
	testdisk.Fill(t, filler)
	if err := commitLarge(s, c, stored); braid.CodeOf(err) != braid.StorageFull {
		t.Errorf("no byte free: error %v, want %s", err, braid.StorageFull)
	}
	check("no byte free")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, dir, Options{ReserveBytes: 4 << 20})
	check("opened with no byte free")
	testdisk.Fill(t, filler+"2") // opening gave up the reserve
	if err := s.Drop(c); braid.CodeOf(err) != braid.StorageFull {
		t.Errorf("drop with neither a byte nor the reserve: error %v, want %s", err, braid.StorageFull)
	}
	check("drop refused")
	if err := os.Remove(filler + "2"); err != nil {
		t.Fatal(err)
	}
	if err := s.Drop(c); err != nil {
		t.Fatalf("drop with what the reserve was: %v", err)
	}
	s.Reclaim(t.Context(), c)
	if err := commit(s, other, "2"); err != nil {
		t.Fatalf("with room again: %v", err)
	}
	if got := contents(t, s, other); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("holds %v", got)
	}
}
