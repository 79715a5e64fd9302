package querylog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
)

// file is what is needed of an open file.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
}

// openFile opens a file for reading at its end and appending; only its owner may
// read it.
func openFile(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
}

// rotating is a file of lines that starts anew when it is full: path is the current
// one, path.1 the one before it, up to path.N. It has one user.
type rotating struct {
	path string
	max  int64 // bytes of one file
	keep int   // older files
	open func(path string) (file, error)

	f    file // nil: to be opened
	size int64
}

// write appends a line, newline included, whole or not at all.
func (r *rotating) write(line []byte) error {
	if r.f == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	if r.size > 0 && r.size+int64(len(line)) > r.max {
		if err := r.rotate(); err != nil {
			return err
		}
	}
	if _, err := r.f.Write(line); err != nil {
		// Part of the line may be there.
		if r.f.Truncate(r.size) != nil {
			err = errors.Join(err, r.close()) // start will end it
		}
		return err
	}
	r.size += int64(len(line))
	return nil
}

// start opens the current file and ends its last line, which a crash may have cut.
func (r *rotating) start() (err error) {
	f, err := r.open(r.path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return fmt.Errorf("read the end of %s: %w", r.path, err)
		}
		if last[0] != '\n' {
			if _, err := f.Write([]byte{'\n'}); err != nil {
				return err
			}
			size++
		}
	}
	r.f, r.size = f, size
	return nil
}

// rotate moves every file one number on, the last out, and starts a new one.
func (r *rotating) rotate() error {
	if err := r.close(); err != nil {
		return err
	}
	for i := r.keep; i >= 1; i-- {
		if err := os.Rename(r.numbered(i-1), r.numbered(i)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if r.keep == 0 {
		if err := os.Remove(r.path); err != nil {
			return err
		}
	}
	return r.start()
}

// numbered is the name of the file i before the current one.
func (r *rotating) numbered(i int) string {
	if i == 0 {
		return r.path
	}
	return r.path + "." + strconv.Itoa(i)
}

func (r *rotating) close() error {
	if r.f == nil {
		return nil
	}
	f := r.f
	r.f = nil
	return f.Close()
}
