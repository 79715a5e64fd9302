package store

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/klauspost/compress/zstd"

	"github.com/braid-search/braid"
)

// A backup is a tar archive, compressed with zstd, of the files of a data folder
// by their names in it, and at last a manifest with the digest of each: an
// archive that was cut or changed does not pass for a whole one.
const (
	manifestName   = "manifest.json"
	manifestFormat = 1
	maxManifest    = 16 << 20
)

type manifest struct {
	Format int               `json:"format"`
	Files  map[string]string `json:"files"` // name to sha256, hexadecimal
}

// Names of the data folder that exist for a while.
const (
	checkpointFolder = "checkpoint.tmp" // what a backup is made of
	restoringFolder  = "restoring.tmp"  // what a restore is about to put in place
)

// Backup writes the state after the newest commit to w. Commits wait only while
// its files are linked, not while they are written. progress, which may be nil,
// is called with the bytes read so far of all. One backup runs at a time.
func (s *Store) Backup(ctx context.Context, w io.Writer, progress func(done, total int64)) (err error) {
	if !s.backup.TryLock() {
		return braid.Errorf(braid.Conflict, "data folder %q: a backup is being made: wait for it", s.dir)
	}
	defer s.backup.Unlock()
	dir := filepath.Join(s.dir, checkpointFolder)
	defer func() {
		if removeErr := os.RemoveAll(dir); err == nil && removeErr != nil {
			err = wrap(removeErr, "data folder %q: clean up after the backup", s.dir)
		}
	}()
	if err := s.checkpoint(dir); err != nil {
		return err
	}
	compressed, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return braid.Errorf(braid.Internal, "start to compress: %w", err)
	}
	archive := tar.NewWriter(compressed)
	if err := errors.Join(writeArchive(ctx, archive, dir, progress), archive.Close(), compressed.Close()); err != nil {
		return wrap(err, "data folder %q: write a backup", s.dir)
	}
	return nil
}

// checkpoint makes a folder of links to the files as of the newest commit.
func (s *Store) checkpoint(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return wrap(err, "data folder %q: clear the way for a backup", s.dir)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return wrap(err, "data folder %q: make a backup's folder", s.dir)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if failure := s.failure.Load(); failure != nil {
		return failure
	}
	if err := s.db.Checkpoint(filepath.Join(dir, "records"), pebble.WithFlushedWAL()); err != nil {
		return wrap(err, "data folder %q: link its files for a backup", s.dir)
	}
	m, err := s.mark.read()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "acknowledged"), m.encode(), 0o600)
	}
	if err != nil {
		return wrap(err, "data folder %q: copy what was acknowledged", s.dir)
	}
	return nil
}

// writeArchive writes all files below dir and their manifest.
func writeArchive(ctx context.Context, archive *tar.Writer, dir string, progress func(done, total int64)) error {
	var total, done int64
	var names []string
	err := filepath.WalkDir(dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		total += info.Size()
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return err
	}
	m := manifest{Format: manifestFormat, Files: map[string]string{}}
	for _, name := range names {
		digest, err := writeFile(archive, filepath.Join(dir, filepath.FromSlash(name)), name, func(r io.Reader) io.Reader {
			return &counter{ctx: ctx, r: r, count: func(n int) {
				if done += int64(n); progress != nil {
					progress(done, total)
				}
			}}
		})
		if err != nil {
			return err
		}
		m.Files[name] = digest
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := archive.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(b))}); err != nil {
		return err
	}
	_, err = archive.Write(b)
	return err
}

func writeFile(archive *tar.Writer, from, name string, through func(io.Reader) io.Reader) (digest string, err error) {
	f, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime()}); err != nil {
		return "", err
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(archive, sum), through(f)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// counter reads until its context ends and tells how much.
type counter struct {
	ctx   context.Context
	r     io.Reader
	count func(int)
}

func (c *counter) Read(b []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.count(n)
	return n, err
}

// Restore makes the data folder dir, which must not exist or be empty, from a
// backup. It fails with braid.Conflict when there is something in dir, with
// braid.Corrupt when the backup is not as it was written; dir is then as it was.
// progress, which may be nil, is called with the bytes of the backup read so
// far.
func Restore(ctx context.Context, r io.Reader, dir string, progress func(done int64)) (err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return wrap(err, "data folder %q", dir)
	}
	existed := err == nil
	for _, e := range entries {
		if e.Name() != restoringFolder {
			return braid.Errorf(braid.Conflict, "data folder %q holds %q: restore into a new or empty folder", dir, e.Name())
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return wrap(err, "data folder %q", dir)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(filepath.Join(dir, restoringFolder))
			if !existed {
				_ = os.Remove(dir)
			}
		}
	}()
	fresh := filepath.Join(dir, restoringFolder)
	if err := os.RemoveAll(fresh); err != nil {
		return wrap(err, "data folder %q", dir)
	}
	var done int64
	through := &counter{ctx: ctx, r: r, count: func(n int) {
		if done += int64(n); progress != nil {
			progress(done)
		}
	}}
	if err := extract(through, fresh); err != nil {
		if code := braid.CodeOf(err); code == braid.Corrupt || code == braid.Conflict {
			return braid.Errorf(code, "restore into %q: %w", dir, err)
		}
		return wrap(err, "restore into %q", dir)
	}
	// The records are what makes a folder one of ours: they come first, so that
	// what was acknowledged is never there without them.
	for _, name := range []string{"records", "acknowledged"} {
		if err := os.Rename(filepath.Join(fresh, name), filepath.Join(dir, name)); err != nil {
			return wrap(err, "data folder %q: put the backup in place", dir)
		}
	}
	if err := os.Remove(fresh); err != nil {
		return wrap(err, "data folder %q: clean up", dir)
	}
	return syncDir(dir)
}

// extract writes the files of a backup into dir and checks them.
func extract(r io.Reader, dir string) error {
	plain, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return notBackup(err)
	}
	defer plain.Close()
	found := map[string]string{}
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return braid.Errorf(braid.Corrupt, "the backup ends before its manifest: it was not written to its end")
		case err != nil:
			return notBackup(err)
		case header.Name == manifestName:
			return checkManifest(archive, found)
		}
		if !inBackup(header) {
			return braid.Errorf(braid.Corrupt, "the backup holds %q, which is no part of a data folder", header.Name)
		}
		if found[header.Name], err = extractFile(archive, filepath.Join(dir, filepath.FromSlash(header.Name))); err != nil {
			return err
		}
	}
}

// inBackup reports whether an entry is a file that a data folder has.
func inBackup(h *tar.Header) bool {
	folder, name := path.Split(h.Name)
	plain := h.Typeflag == tar.TypeReg && path.Clean(h.Name) == h.Name && name != "" && !strings.ContainsAny(name, `\:`)
	return plain && (folder == "records/" || h.Name == "acknowledged")
}

func extractFile(r io.Reader, to string) (digest string, err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(f, sum), r); err != nil {
		if noSpace(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return "", err
		}
		return "", notBackup(err)
	}
	return hex.EncodeToString(sum.Sum(nil)), f.Sync()
}

func checkManifest(r io.Reader, found map[string]string) error {
	b, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err != nil {
		return notBackup(err)
	}
	var m manifest
	if err := json.Unmarshal(b, &m); err != nil {
		return braid.Errorf(braid.Corrupt, "the backup's manifest cannot be read: %w", err)
	}
	if m.Format != manifestFormat {
		return braid.Errorf(braid.Conflict, "the backup has format %d, this version reads %d: use the version that wrote it", m.Format, manifestFormat)
	}
	for name, digest := range found {
		if m.Files[name] != digest {
			return braid.Errorf(braid.Corrupt, "the backup's %s is not as it was written", name)
		}
	}
	for name := range m.Files {
		if _, ok := found[name]; !ok {
			return braid.Errorf(braid.Corrupt, "the backup lacks %s", name)
		}
	}
	if _, ok := found["acknowledged"]; !ok || len(found) < 2 {
		return braid.Errorf(braid.Corrupt, "the backup holds no data folder")
	}
	return nil
}

// notBackup is for bytes that are not what Backup writes; reading them may have
// failed for another reason.
func notBackup(err error) error {
	var path *os.PathError
	if errors.As(err, &path) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return braid.Errorf(braid.Corrupt, "not a backup, or a damaged one: %w", err)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder %q: %w", dir, err)
	}
	return errors.Join(f.Sync(), f.Close())
}
