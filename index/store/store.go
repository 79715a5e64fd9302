package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/braid-search/braid"
)

// folderFormat is the format of the data folder as a whole: its files and the
// keys of the database.
const folderFormat = 1

// Options configure a Store. The zero value works.
type Options struct {
	// Log receives what the store has to say, and at debug level what pebble
	// has; nil discards it.
	Log *slog.Logger
	// ReserveBytes is the size of the space reserve, and what must be free on
	// the disk besides for a commit to start. 0 is 16 MiB.
	ReserveBytes int64

	fs vfs.FS // the disk, replaced in tests
}

// DefaultReserveBytes is used for Options.ReserveBytes 0.
const DefaultReserveBytes = 16 << 20

// Validate reports what is wrong with the options, or nil.
func (o Options) Validate() error {
	if o.ReserveBytes < 0 {
		return braid.Errorf(braid.InvalidArgument, "reserve of %d bytes: want 0 (for %d) or more", o.ReserveBytes, DefaultReserveBytes)
	}
	return nil
}

// Store is an open data folder. Its methods are safe for concurrent use, except
// that Close must not run while another call does.
type Store struct {
	dir     string
	log     *slog.Logger
	db      *pebble.DB
	cache   *pebble.Cache
	lock    *pebble.Lock
	mark    *markFile
	reserve *reserve
	loss    *Loss

	// failure is the first thing that went wrong with the log or the manifest.
	// From then on commits are refused.
	failure atomic.Pointer[braid.Error]
	// frozen is the database before the commit that failed: what is read from
	// then on, since pebble goes on showing that commit.
	frozen atomic.Pointer[pebble.Snapshot]

	backup   sync.Mutex // held while a backup is made
	mu       sync.Mutex // held during a commit
	sequence uint64     // of the newest commit
	root     tally      // of all collections and their tallies
	closed   bool
}

// Loss is what Open found missing: commits that were acknowledged before and
// are not in the database.
type Loss struct {
	// Commits is how many are missing, the newest ones.
	Commits uint64
	// File is the log they were in, as far as can be told.
	File string
	// Collection is the collection that the newest of them went to, "" when it
	// is not there (any more), and Upserts and Deletes are how many documents
	// that commit stored and deleted.
	Collection       string
	Upserts, Deletes int
}

// Open opens the data folder dir, which is made if it does not exist. It fails
// with braid.Conflict when another process has it open, with braid.Corrupt when
// a file in it is damaged.
func Open(dir string, opts Options) (*Store, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.fs == nil {
		var err error
		if dir, err = resolve(dir); err != nil {
			return nil, wrap(err, "data folder %q", dir)
		}
		opts.fs = vfs.Default
	}
	s := &Store{dir: dir, log: opts.Log}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	size := opts.ReserveBytes
	if size == 0 {
		size = DefaultReserveBytes
	}
	s.reserve = &reserve{fs: opts.fs, dir: dir, path: filepath.Join(dir, "reserve"), size: size}
	if err := s.open(opts.fs); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// open takes the folder's parts in order. What it took is in s when it fails.
func (s *Store) open(fs vfs.FS) (err error) {
	records := filepath.Join(s.dir, "records")
	if s.lock, err = lockFolder(records, fs); err != nil {
		return wrap(err, "data folder %q", s.dir)
	}
	_ = fs.RemoveAll(filepath.Join(s.dir, checkpointFolder)) // of a backup that was killed
	s.reserve.recall()
	if s.mark, err = openMark(fs, filepath.Join(s.dir, "acknowledged")); err != nil {
		return wrap(err, "data folder %q", s.dir)
	}
	newestLog := newestLog(fs, records)
	if err := s.openDatabase(records, fs); err != nil {
		return wrap(openError(err), "data folder %q: open its database (newest log %s)", s.dir, newestLog)
	}
	if err := s.checkFormat(); err != nil {
		return err
	}
	return s.checkMark(newestLog)
}

// openDatabase opens pebble. What it holds in memory is meant for a machine
// with few cores and better uses for its memory: the engine reads a record only
// to return it.
func (s *Store) openDatabase(records string, fs vfs.FS) (err error) {
	// pebble answers some kinds of damage with a panic.
	defer func() {
		if r := recover(); r != nil {
			err = braid.Errorf(braid.Corrupt, "pebble cannot read it: %v", r)
		}
	}()
	s.cache = pebble.NewCache(16 << 20)
	opts := &pebble.Options{
		FS: &guardedFS{
			FS:     vfs.OnDiskFull(fs, s.onDiskFull),
			fail:   s.fail,
			failed: func() bool { return s.failure.Load() != nil },
			void:   vfs.NewMem(),
		},
		Lock:               s.lock,
		Cache:              s.cache,
		FormatMajorVersion: pebble.FormatTableFormatV6,
		Logger:             pebbleLog{s},
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) {
				s.log.Warn("store: background work failed, it is tried again", "folder", s.dir, "error", err)
			},
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				s.log.Error("store: file is damaged", "folder", s.dir, "file", info.Path, "error", info.Details)
			},
		},
		MemTableSize:                16 << 20,
		MemTableStopWritesThreshold: 3,
		MaxOpenFiles:                500,
		CompactionConcurrencyRange:  func() (lower, upper int) { return 1, 1 },
	}
	// Deeper levels take these over.
	opts.Levels[0].BlockSize = 16 << 10
	opts.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
	s.db, err = pebble.Open(records, opts)
	return err
}

// Close releases the folder. It is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if snapshot := s.frozen.Load(); snapshot != nil {
		errs = append(errs, snapshot.Close())
	}
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.cache != nil {
		s.cache.Unref()
	}
	if s.mark != nil {
		errs = append(errs, s.mark.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return wrap(err, "data folder %q: close it", s.dir)
	}
	return nil
}

// Dir is the data folder.
func (s *Store) Dir() string { return s.dir }

// Admit reports whether there is room on the disk for a file of about so many
// bytes beside the records, or braid.StorageFull.
func (s *Store) Admit(bytes int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reserve.admit(bytes)
}

// Loss returns what Open found missing, or nil.
func (s *Store) Loss() *Loss { return s.loss }

// checkFormat writes the format of a new folder and refuses one it does not
// know, or whose parts do not fit together.
func (s *Store) checkFormat() error {
	value, ok, err := s.read([]byte(keyFormat))
	switch {
	case err != nil:
		return wrap(err, "data folder %q: read its format", s.dir)
	case !ok:
		return s.initialise()
	case len(value) != 1:
		return braid.Errorf(braid.Corrupt, "data folder %q: its format has %d bytes, want 1: restore it from a backup, or index again into a new folder", s.dir, len(value))
	case value[0] != folderFormat:
		return braid.Errorf(braid.Conflict, "data folder %q has format %d, this version reads %d: use the version that wrote it, or index again into a new folder", s.dir, value[0], folderFormat)
	}
	if err := s.readState(); err != nil {
		return wrap(err, "data folder %q", s.dir)
	}
	return nil
}

// initialise gives a new folder its format. A folder is new when it has neither
// a format nor anything that says it had one.
func (s *Store) initialise() error {
	_, written, err := s.read([]byte(keyState))
	if err != nil {
		return wrap(err, "data folder %q: read its state", s.dir)
	}
	if _, err := s.mark.read(); written || !errors.Is(err, errNoMark) {
		return braid.Errorf(braid.Corrupt, "data folder %q was in use and its database has lost its beginning: restore it from a backup, or index again into a new folder", s.dir)
	}
	return s.commit(mark{}, func(tx *transaction) error {
		return tx.batch.Set([]byte(keyFormat), []byte{folderFormat}, nil)
	})
}

// checkMark compares the database with the mark and reports what is missing,
// once: a commit of nothing brings the mark back to the database.
func (s *Store) checkMark(newestLog string) error {
	m, err := s.mark.read()
	if err != nil {
		if s.sequence > 1 || !errors.Is(err, errNoMark) {
			s.log.Warn("store: cannot tell whether the last writes are all there", "file", s.mark.path, "error", err)
		}
		return nil
	}
	if m.sequence <= s.sequence {
		return nil
	}
	collections, err := s.Collections()
	if err != nil {
		return err
	}
	s.loss = &Loss{Commits: m.sequence - s.sequence, File: newestLog, Upserts: int(m.upserts), Deletes: int(m.deletes)}
	for _, c := range collections {
		if c.Number == m.collection {
			s.loss.Collection = c.Name
		}
	}
	s.log.Error("store: acknowledged writes are missing: index their documents again", "folder", s.dir, "file", newestLog,
		"writes", s.loss.Commits, "last_stored", m.upserts, "last_deleted", m.deletes, "last_collection", s.loss.Collection)
	return s.commit(mark{}, func(*transaction) error { return nil })
}

// newestLog names the log that pebble wrote last, for messages.
func newestLog(fs vfs.FS, records string) string {
	names, _ := fs.List(records)
	newest := ""
	for _, name := range names {
		// Numbers are padded to six digits and grow longer after that.
		if isLog(name) && (len(name) > len(newest) || len(name) == len(newest) && name > newest) {
			newest = name
		}
	}
	if newest == "" {
		return "none"
	}
	return filepath.Join(records, newest)
}

// fail records the first failure of the log.
func (s *Store) fail(op, path string, err error) {
	code, fix := braid.Internal, "check the disk and restart"
	if noSpace(err) {
		code, fix = braid.StorageFull, "free some space and restart"
	}
	failure := braid.Errorf(code, "data folder %q takes no more writes since it failed to %s %s (%w): %s; reads go on", s.dir, op, path, err, fix)
	if s.failure.CompareAndSwap(nil, failure) {
		s.log.Error("store: no more writes", "folder", s.dir, "file", path, "op", op, "error", err)
	}
}

func (s *Store) onDiskFull() {
	s.log.Error("store: the disk is full, giving up the space reserve", "folder", s.dir, "bytes", s.reserve.size)
	s.reserve.giveUp()
}

// pebbleLog passes on what pebble says. Fatalf must not return in pebble's
// eyes; here it does, and no commit is acknowledged after it.
type pebbleLog struct{ s *Store }

func (l pebbleLog) Infof(format string, args ...any) { l.say(slog.LevelDebug, format, args) }

func (l pebbleLog) Errorf(format string, args ...any) { l.say(slog.LevelWarn, format, args) }

func (l pebbleLog) Fatalf(format string, args ...any) {
	cause := fmt.Errorf(format, args...)
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			cause = err // keeps what kind of error it is
		}
	}
	l.s.fail("update", "its database", cause)
}

func (l pebbleLog) say(level slog.Level, format string, args []any) {
	if l.s.log.Enabled(context.Background(), level) {
		l.s.log.Log(context.Background(), level, "pebble: "+strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
}
