package store

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/braid-search/braid"
)

// resolve returns the one true name of dir, which need not exist. The lock is by
// name within a process, and by process between them: under a second name the
// folder would be opened twice.
func resolve(dir string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return dir, err
	}
	// Only what exists can be a link.
	existing, rest := absolute, ""
	for {
		real, err := filepath.EvalSymlinks(existing)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, os.ErrNotExist) || existing == filepath.Dir(existing) {
			return dir, err
		}
		rest = filepath.Join(filepath.Base(existing), rest)
		existing = filepath.Dir(existing)
	}
}

// lockFolder makes the folder of records, if need be, and locks it.
func lockFolder(records string, fs vfs.FS) (*pebble.Lock, error) {
	if err := makeFolder(records, fs); err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(records, fs)
	var path *os.PathError
	if err == nil || errors.As(err, &path) {
		return lock, err
	}
	return nil, braid.Errorf(braid.Conflict, "it is in use by another process (%w): stop that one, send the request to it, or use another folder", err)
}

// makeFolder makes path and the folders above it that do not exist, and makes
// their names durable: a log is no safer than the folder it lies in.
func makeFolder(path string, fs vfs.FS) error {
	var parents []string // of folders that are made, outermost last
	for made := path; ; made = filepath.Dir(made) {
		if _, err := fs.Stat(made); err == nil || made == filepath.Dir(made) {
			break
		}
		parents = append(parents, filepath.Dir(made))
	}
	if err := fs.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		folder, err := fs.OpenDir(parent)
		if err != nil {
			return err
		}
		if err := errors.Join(folder.Sync(), folder.Close()); err != nil {
			return err
		}
	}
	return nil
}
