package store

import (
	"errors"
	"io/fs"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/braid-search/braid"
)

// reserve is a file of zeros that is given up when the disk is full, so that
// what is under way can be finished. A commit is refused while the reserve is
// not there or as much again is not free: flushes and compactions run behind
// commits and need room too.
type reserve struct {
	fs   vfs.FS
	dir  string
	path string
	size int64

	mu   sync.Mutex
	held bool
}

// free returns the bytes the disk has left for this user. A file system that
// does not tell counts as empty: the write itself will tell.
func (r *reserve) free() int64 {
	usage, err := r.fs.GetDiskUsage(r.dir)
	if err != nil {
		return 1 << 62
	}
	return int64(min(usage.AvailBytes, 1<<62))
}

// admit reports whether a commit of need bytes may start, and takes the reserve
// again when there is room for it.
func (r *reserve) admit(need int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// Twice: once in the log, once in the table it is flushed to.
	want := r.size + 2*need
	if !r.held {
		want += r.size
	}
	if free := r.free(); free < want {
		return braid.Errorf(braid.StorageFull, "%d MiB are free on its disk and this takes %d MiB: free some space, reads go on meanwhile", free>>20, want>>20+1)
	}
	if !r.held {
		return r.take()
	}
	return nil
}

// dropRoom is what a commit that frees space may take.
const dropRoom = 256 << 10

// admitDrop is admit for a commit that frees space: it may use up the reserve.
func (r *reserve) admitDrop() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if free := r.free(); !r.held && free < dropRoom {
		return braid.Errorf(braid.StorageFull, "%d KiB are free on its disk and to free more takes %d KiB", free>>10, dropRoom>>10)
	}
	return nil
}

// take writes the file. The caller holds mu.
func (r *reserve) take() error {
	file, err := r.fs.Create(r.path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return wrap(err, "make the space reserve %s", r.path)
	}
	zeros := make([]byte, 1<<20)
	for left := r.size; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = file.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err = errors.Join(err, file.Close()); err != nil {
		_ = r.fs.Remove(r.path)
		return wrap(err, "make the space reserve %s", r.path)
	}
	r.held = true
	return nil
}

// giveUp frees the space of the file. It runs while a write waits for it.
func (r *reserve) giveUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = false
	_ = r.fs.Remove(r.path)
}

// recall finds out whether an earlier process left the reserve behind.
func (r *reserve) recall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := r.fs.Stat(r.path)
	r.held = err == nil && info.Size() == r.size
	if !r.held && !errors.Is(err, fs.ErrNotExist) {
		_ = r.fs.Remove(r.path)
	}
}
