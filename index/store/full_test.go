package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// faults makes chosen operations fail.
type faults struct {
	pick func(errorfs.Op) bool
	err  error
	left atomic.Int64 // how often
	met  atomic.Int64 // how often it happened
}

func (f *faults) fs() vfs.FS {
	return errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if f.left.Load() <= 0 || !f.pick(op) {
			return nil
		}
		f.left.Add(-1)
		f.met.Add(1)
		return f.err
	}))
}

const always = 1 << 60

// on picks operations of the given kinds on files with the given name part.
func on(part string, kinds ...errorfs.OpKind) func(errorfs.Op) bool {
	return func(op errorfs.Op) bool {
		return strings.Contains(filepath.Base(op.Path), part) && slices.Contains(kinds, op.Kind)
	}
}

// TestLogFails lets each operation on the log fail for good. The commit that
// meets it and later ones are refused, reading goes on with what was
// acknowledged, and the folder opens again with it.
func TestLogFails(t *testing.T) {
	for _, test := range []struct {
		name string
		pick func(errorfs.Op) bool
		// reaches says that the refused commit may be on the disk.
		reaches bool
	}{
		{"write", on(".log", errorfs.OpFileWrite), false},
		{"sync", on(".log", errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo), true},
		{"create", on(".log", errorfs.OpCreate), false},
		{"sync folder", func(op errorfs.Op) bool { return filepath.Base(op.Path) == "records" && op.Kind == errorfs.OpFileSync }, false},
		{"manifest", on("MANIFEST", errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData), false},
	} {
		for err, code := range map[error]braid.Code{syscall.ENOSPC: braid.StorageFull, syscall.EIO: braid.Internal} {
			t.Run(test.name+" "+string(code), func(t *testing.T) {
				testLogFails(t, &faults{pick: test.pick, err: err}, code, test.reaches)
			})
		}
	}
}

func testLogFails(t *testing.T, f *faults, code braid.Code, reaches bool) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{ReserveBytes: 1, fs: f.fs()})
	c := create(t, s, "a")
	acknowledged := []string{"kept", "old"}
	for _, id := range acknowledged {
		if err := commit(s, c, id); err != nil {
			t.Fatal(err)
		}
	}
	f.left.Store(always)
	// Some faults only show when the log is changed for a new one.
	changed := document("old")
	changed.Document.Text = "changed"
	var refused bool
	for i := 0; i < 3 && !refused; i++ {
		err := s.Commit(c.Number, []index.Entry{changed, document(fmt.Sprint("new", i))}, []string{"kept"})
		if refused = err != nil; refused {
			if braid.CodeOf(err) != code {
				t.Errorf("commit: error %v, want %s", err, code)
			}
			break
		}
		// It was acknowledged: put back what it changed.
		acknowledged = []string{"kept", fmt.Sprint("new", i), "old"}
		if err := s.Commit(c.Number, []index.Entry{document("kept"), document("old")}, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		go cancel() // what waits for a flush that fails is let go
		s.Reclaim(ctx, c)
		<-ctx.Done()
		for s.failure.Load() == nil { // until the flush has met the fault
			time.Sleep(time.Millisecond)
		}
	}
	if !refused || f.met.Load() == 0 {
		t.Fatalf("refused %v after %d faults", refused, f.met.Load())
	}
	if err := commit(s, c, "later"); braid.CodeOf(err) != code {
		t.Errorf("later commit: error %v, want %s", err, code)
	}
	if got := contents(t, s, c); !slices.Equal(got, acknowledged) {
		t.Errorf("reads %v, want %v", got, acknowledged)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "records", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close() // may report the fault
	if again, err := filepath.Glob(filepath.Join(dir, "records", "*.log")); err != nil || !slices.Equal(again, logs) {
		t.Errorf("logs after closing are %v, before %v, error %v", again, logs, err)
	}
	f.left.Store(0)
	s = openStore(t, dir, Options{ReserveBytes: 1})
	if s.Loss() != nil {
		t.Errorf("loss %+v", s.Loss())
	}
	if _, kept, err := s.Get(c.Number, "kept"); reaches && err == nil && !kept {
		// The refused commit is there: then whole.
		old, _, err := s.Get(c.Number, "old")
		if _, ok, err2 := s.Get(c.Number, "new0"); err != nil || err2 != nil || !ok || old.Document.Text != "changed" {
			t.Errorf("opened again: a part of the refused commit: old %+v, new %v, errors %v, %v", old, ok, err, err2)
		}
		return
	}
	if got := contents(t, s, c); !slices.Equal(got, acknowledged) {
		t.Errorf("opened again: reads %v, want %v", got, acknowledged)
	}
}

// TestReserveSavesACommit lets the disk be full once, on the log and on a table:
// the reserve is given up, the commit goes through, the next one takes the
// reserve again.
func TestReserveSavesACommit(t *testing.T) {
	for _, part := range []string{".log", ".sst"} {
		f := &faults{pick: on(part, errorfs.OpFileWrite), err: syscall.ENOSPC}
		dir := t.TempDir()
		s := openStore(t, dir, Options{ReserveBytes: 1 << 20, fs: f.fs()})
		c := create(t, s, "a")
		reserve := filepath.Join(dir, "reserve")
		if info, err := vfs.Default.Stat(reserve); err != nil || info.Size() != 1<<20 {
			t.Fatalf("%s: reserve %v, error %v", part, info, err)
		}
		f.left.Store(1)
		if err := commit(s, c, "1"); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		if err := s.db.Flush(); err != nil {
			t.Fatal(err)
		}
		if _, err := vfs.Default.Stat(reserve); err == nil || f.met.Load() != 1 {
			t.Errorf("%s: reserve is still there after %d faults", part, f.met.Load())
		}
		if err := commit(s, c, "2"); err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		if _, err := vfs.Default.Stat(reserve); err != nil {
			t.Errorf("%s: reserve is not taken again: %v", part, err)
		}
		if got := contents(t, s, c); !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("%s: holds %v", part, got)
		}
	}
}

// TestNothingIsDeletedAfterAFailure asserts what a flush under way relies on:
// the log it has copied to a table stays until a restart has seen both.
func TestNothingIsDeletedAfterAFailure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "000001.log")
	failed := false
	guard := &guardedFS{FS: vfs.Default, failed: func() bool { return failed }}
	for _, failed = range []bool{true, false} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := guard.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); (err == nil) != failed {
			t.Errorf("failed %v: stat after removing: %v", failed, err)
		}
	}
}
