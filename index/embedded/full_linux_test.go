package embedded_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/testdisk"
)

// TestSavingOnAFullDisk closes a collection when its saved form has no room: from
// the start, and in the middle of it. The one saved before stays and is opened, with
// what was written since.
func TestSavingOnAFullDisk(t *testing.T) {
	ctx := context.Background()
	for _, middle := range []bool{false, true} {
		random := rand.New(rand.NewPCG(91, 92))
		disk := testdisk.Small(t, 64)
		dir := filepath.Join(disk, "data")
		indexes := filepath.Join(dir, "indexes")
		if middle {
			// The room that is asked for beforehand is on the disk of the records.
			dir = t.TempDir()
			indexes = disk
			if err := os.Symlink(disk, filepath.Join(dir, "indexes")); err != nil {
				t.Fatal(err)
			}
		}
		open := func() (*embedded.Engine, *bytes.Buffer) {
			var said bytes.Buffer
			e, err := embedded.Open(ctx, dir, embedded.Options{Log: debugLog(&said), ReserveBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			return e, &said
		}
		e, _ := open()
		c, err := e.Create(ctx, "t", schema)
		if err != nil {
			t.Fatal(err)
		}
		m := savedModel{}
		m.write(t, c, random, 1100)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadDir(indexes)
		if err != nil || len(before) != 1 {
			t.Fatalf("saved are %v, error %v", before, err)
		}
		e, said := open()
		if c, err = e.Open(ctx, "t"); err != nil {
			t.Fatal(err)
		}
		m.write(t, c, random, 600)
		filler := filepath.Join(disk, "filler")
		testdisk.Fill(t, filler)
		if middle {
			info, err := os.Stat(filler)
			if err == nil {
				err = os.Truncate(filler, info.Size()-(512<<10))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m.check(t, e, random)
		if err := e.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
		if log := said.String(); !strings.Contains(log, "index: not saved") || !strings.Contains(log, "free some space") {
			t.Errorf("middle %v: the log does not say that the disk is full:\n%s", middle, log)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadDir(indexes)
		if err != nil || len(after) != 1 || after[0].Name() != before[0].Name() {
			t.Errorf("middle %v: left are %v, want %v, error %v", middle, after, before, err)
		}
		e, said = open()
		if changes, ok := fromSaved(said.String()); !ok || changes == "0" {
			t.Errorf("middle %v: not opened from what was saved before: %s changes, %v", middle, changes, ok)
		}
		m.check(t, e, random)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupOfAFullDisk copies a data folder whose disk is full: the copy needs room
// for what is not yet in a table. It is made or refused, and nothing is left of a
// refused one.
func TestBackupOfAFullDisk(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(93, 94))
	disk := testdisk.Small(t, 64)
	dir := filepath.Join(disk, "data")
	e, err := embedded.Open(ctx, dir, embedded.Options{ReserveBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	m := savedModel{}
	m.write(t, c, random, 300)
	filler := filepath.Join(disk, "filler")
	testdisk.Fill(t, filler)
	if err := e.Backup(ctx, io.Discard); err != nil && braid.CodeOf(err) != braid.StorageFull {
		t.Errorf("no byte free: %v, want %s", err, braid.StorageFull)
	}
	if _, err := os.Stat(filepath.Join(dir, "checkpoint.tmp")); err == nil {
		t.Error("part of a copy is left")
	}
	m.check(t, e, random)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	m.write(t, c, random, 50)
	var copied bytes.Buffer
	if err := e.Backup(ctx, &copied); err != nil || copied.Len() == 0 {
		t.Errorf("with room again: %d bytes, error %v", copied.Len(), err)
	}
	m.check(t, e, random)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
