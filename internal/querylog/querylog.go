package querylog

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/braid-search/braid"
)

// Text says what is written of a query's text.
type Text string

const (
	TextFull Text = "full" // the text
	// TextHash is a hash of it that tells equal queries and nothing else to who does
	// not have the key, which is in a file beside the log.
	TextHash Text = "hash"
	TextNone Text = "none" // nothing
)

// Options say where and what to log.
type Options struct {
	Path string // of the current file; older ones have .1, .2 … after it
	Text Text   // "" is TextFull
	// MaxBytes is how large a file gets before the next is begun, and Keep how many
	// full ones are kept.
	MaxBytes int64
	Keep     int
	// Log hears when lines begin to be dropped and when they are written again; nil
	// discards it.
	Log *slog.Logger
}

// queue is how many records wait for the disk at most: a few seconds of a busy
// server's.
const queue = 4096

// keyBytes is the length of the key of TextHash.
const keyBytes = 32

// Log is a query log. It is safe for concurrent use. A nil *Log drops everything
// and counts nothing.
type Log struct {
	opts    Options
	file    rotating
	key     []byte // of TextHash
	records chan Record
	closing chan struct{}
	once    sync.Once
	done    chan struct{}
	closed  error // of the file, once done
	written atomic.Uint64
	dropped atomic.Uint64
	failing bool // the latest line was not written; the writer's
}

// Open begins to write the log. It fails with braid.InvalidArgument on options that
// are none, and with braid.Unavailable where the file cannot be written.
func Open(opts Options) (*Log, error) { return openWith(opts, openFile) }

func openWith(opts Options, open func(string) (file, error)) (*Log, error) {
	if opts.Text == "" {
		opts.Text = TextFull
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case opts.Text != TextFull && opts.Text != TextHash && opts.Text != TextNone:
		return nil, braid.Errorf(braid.InvalidArgument, "query log: text %q is unknown: use full, hash or none", opts.Text)
	case opts.MaxBytes < 1 || opts.Keep < 0:
		return nil, braid.Errorf(braid.InvalidArgument, "query log: files of %d bytes and %d older ones: want at least 1 and 0", opts.MaxBytes, opts.Keep)
	}
	l := &Log{
		opts: opts, records: make(chan Record, queue), closing: make(chan struct{}), done: make(chan struct{}),
		file: rotating{path: opts.Path, max: opts.MaxBytes, keep: opts.Keep, open: open},
	}
	if opts.Text == TextHash {
		var err error
		if l.key, err = readKey(opts.Path + ".key"); err != nil {
			return nil, braid.Errorf(braid.Unavailable, "query log: the key of the hashes: %w", err)
		}
	}
	if err := l.file.start(); err != nil {
		return nil, braid.Errorf(braid.Unavailable, "query log: %w", err)
	}
	go l.write()
	return l, nil
}

// readKey returns the key kept in the file, and makes one where there is none.
func readKey(path string) ([]byte, error) {
	key, err := os.ReadFile(path)
	switch {
	case err == nil && len(key) == keyBytes:
		return key, nil
	case err == nil:
		return nil, braid.Errorf(braid.Corrupt, "%s is %d bytes, want %d: remove it, and hashes will be others from then on", path, len(key), keyBytes)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	key = make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	return key, os.WriteFile(path, key, 0o600)
}

// Add hands a record over to be written and returns at once. The log keeps it: the
// caller changes nothing of it any more. Records after Close are dropped.
func (l *Log) Add(r Record) {
	if l == nil {
		return
	}
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	select {
	case <-l.closing:
		l.dropped.Add(1)
		return
	default:
	}
	select {
	case l.records <- r:
	default:
		l.dropped.Add(1)
	}
}

// Written is how many records were written so far.
func (l *Log) Written() uint64 { return l.written.Load() }

// Dropped is how many records were not written.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Close writes what waits and closes the file. A record that is added meanwhile may
// be dropped.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.once.Do(func() { close(l.closing) })
	<-l.done
	return l.closed
}

// write writes records until the log is closed.
func (l *Log) write() {
	defer func() {
		l.closed = l.file.close()
		close(l.done)
	}()
	for {
		select {
		case r := <-l.records:
			l.put(r)
			continue
		case <-l.closing:
		}
		for {
			select {
			case r := <-l.records:
				l.put(r)
				continue
			default:
			}
			return
		}
	}
}

// put writes one record, or drops it.
func (l *Log) put(r Record) {
	line, err := l.line(r)
	if err == nil {
		err = l.file.write(line)
	}
	switch {
	case err != nil:
		l.dropped.Add(1)
		if !l.failing {
			l.opts.Log.Warn("query log: records are dropped until it can be written again", "file", l.opts.Path, "err", err)
		}
	default:
		l.written.Add(1)
		if l.failing {
			l.opts.Log.Info("query log: written again", "file", l.opts.Path, "dropped", l.dropped.Load())
		}
	}
	l.failing = err != nil
}

// line is a record as it is written.
func (l *Log) line(r Record) ([]byte, error) {
	switch l.opts.Text {
	case TextHash:
		mac := hmac.New(sha256.New, l.key)
		mac.Write([]byte(r.Query))
		r.Query, r.QueryHash = "", hex.EncodeToString(mac.Sum(nil)[:16])
	case TextNone:
		r.Query = ""
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // queries are kept as they were asked
	err := e.Encode(r)
	return line.Bytes(), err
}
