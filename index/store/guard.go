package store

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guardedFS stands between pebble and the disk so that a log that cannot be
// written does not end the process. pebble has no other answer to that than to
// panic, since commits it has reported might be gone; here a commit is reported
// only after the guard has been asked whether anything failed.
//
// After the first failure the log takes no more bytes and claims to have taken
// them, and nothing is deleted any more, so what is on disk stays what a
// restart needs. Tables fail as they do without the guard, and all of them after
// a failure of the log: pebble retries them, and reads without.
type guardedFS struct {
	vfs.FS
	// fail records the first failure.
	fail func(op, path string, err error)
	// failed says whether there was one.
	failed func() bool
	// void stands in for log files that cannot be made.
	void vfs.FS
}

// tableRetryPause slows pebble's retries, which follow a failed flush at once
// and for as long as it fails. Close may have to wait for one.
const tableRetryPause = time.Second

var errNoMoreTables = errors.New("no more tables are written since the log failed")

func isLog(path string) bool { return strings.HasSuffix(path, ".log") }

func isTable(path string) bool { return strings.HasSuffix(path, ".sst") }

func (g *guardedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if isTable(name) && g.failed() {
		time.Sleep(tableRetryPause)
		return nil, errNoMoreTables
	}
	file, err := g.FS.Create(name, category)
	switch {
	case isLog(name):
		return g.logFile(name, file, err)
	case err != nil && isTable(name):
		time.Sleep(tableRetryPause)
	}
	if err != nil || !isTable(name) {
		return file, err
	}
	return tableFile{file}, nil
}

// ReuseForWrite makes a new log in place of reusing an old one: a log then
// holds nothing but its own commits, and where it ends can be told.
func (g *guardedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := g.Remove(oldname); err != nil {
		return nil, err
	}
	return g.Create(newname, category)
}

func (g *guardedFS) logFile(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		g.fail("create", name, err)
		if file, err = g.void.Create(filepath.Base(name), vfs.WriteCategoryUnspecified); err != nil {
			return nil, err
		}
	}
	return &logFile{File: file, name: name, guard: g}, nil
}

func (g *guardedFS) OpenDir(name string) (vfs.File, error) {
	dir, err := g.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &logFile{File: dir, name: name, guard: g}, nil
}

func (g *guardedFS) Remove(name string) error {
	if g.failed() {
		return nil
	}
	return g.FS.Remove(name)
}

func (g *guardedFS) Unwrap() vfs.FS { return g.FS }

// logFile is a log, or the folder that a log's name must be made durable in.
// Its writes and syncs report no error, they record it.
type logFile struct {
	vfs.File
	name  string
	guard *guardedFS
}

func (f *logFile) try(op string, do func() error) {
	if f.guard.failed() {
		return
	}
	if err := do(); err != nil {
		f.guard.fail(op, f.name, err)
	}
}

func (f *logFile) Write(p []byte) (int, error) {
	f.try("write", func() error { _, err := f.File.Write(p); return err })
	return len(p), nil
}

func (f *logFile) Sync() error {
	f.try("sync", f.File.Sync)
	return nil
}

func (f *logFile) SyncData() error {
	f.try("sync", f.File.SyncData)
	return nil
}

func (f *logFile) SyncTo(length int64) (fullSync bool, err error) {
	f.try("sync", func() error { fullSync, err = f.File.SyncTo(length); return err })
	return fullSync, nil
}

// Preallocate does nothing: pebble would take a whole buffer's worth of disk for
// a log that may stay small, and fail where there is room for the commit.
func (f *logFile) Preallocate(int64, int64) error { return nil }

func (f *logFile) Close() error {
	if err := f.File.Close(); err != nil && !f.guard.failed() {
		f.guard.fail("close", f.name, err)
	}
	return nil
}

// tableFile waits before it reports that a write failed.
type tableFile struct{ vfs.File }

func (f tableFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil {
		time.Sleep(tableRetryPause)
	}
	return n, err
}
