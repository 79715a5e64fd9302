package querylog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// records reads the lines of a file.
func records(t *testing.T, path string) []Record {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		t.Errorf("%s ends in the middle of a line", path)
	}
	var list []Record
	for line := range bytes.Lines(data) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v in %s", path, err, line)
		}
		list = append(list, r)
	}
	return list
}

func open(t *testing.T, opts Options) *Log {
	t.Helper()
	if opts.MaxBytes == 0 {
		opts.MaxBytes = 1 << 20
	}
	l, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func shut(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRotation(t *testing.T) {
	const n, most, keep = 400, 4000, 3
	path := filepath.Join(t.TempDir(), "queries.jsonl")
	for part := range 2 { // a second process goes on where the first ended
		l := open(t, Options{Path: path, MaxBytes: most, Keep: keep})
		for i := range n / 2 {
			l.Add(Record{Query: fmt.Sprintf("query <%d>", part*n/2+i)})
		}
		shut(t, l)
		if l.Written() != n/2 || l.Dropped() != 0 {
			t.Fatalf("%d written, %d dropped", l.Written(), l.Dropped())
		}
	}
	next := n - 1 // newest first
	for i := range keep + 1 {
		name := path
		if i > 0 {
			name = fmt.Sprintf("%s.%d", path, i)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, mode %v", name, info.Size(), info.Mode())
		}
		list := records(t, name)
		for j := len(list) - 1; j >= 0; j-- {
			if want := fmt.Sprintf("query <%d>", next); list[j].Query != want {
				t.Fatalf("%s, line %d: %q, want %q", name, j+1, list[j].Query, want)
			}
			next--
		}
	}
	if _, err := os.Stat(path + fmt.Sprintf(".%d", keep+1)); err == nil {
		t.Error("more files are kept than asked for")
	}
}

func TestNoOlderFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	l := open(t, Options{Path: path, MaxBytes: 300})
	for range 20 {
		l.Add(Record{Query: "x"})
	}
	shut(t, l)
	if n := len(records(t, path)); n == 0 || n > 5 {
		t.Errorf("%d lines are left", n)
	}
	if found, _ := filepath.Glob(path + "*"); len(found) != 1 {
		t.Errorf("files: %v", found)
	}
}

func TestText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	for range 2 {
		l := open(t, Options{Path: path, Text: TextHash})
		for _, q := range []string{"secret one", "secret two", "secret one"} {
			l.Add(Record{Query: q})
		}
		shut(t, l)
	}
	l := open(t, Options{Path: path, Text: TextNone})
	l.Add(Record{Query: "secret three"})
	shut(t, l)
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("the log tells the text: %s, %v", data, err)
	}
	list := records(t, path)
	if len(list) != 7 || list[6].QueryHash != "" || len(list[0].QueryHash) != 32 {
		t.Fatalf("%+v", list)
	}
	for i, same := range []int{0, 1, 0, 0, 1, 0} {
		if list[i].QueryHash != list[same].QueryHash {
			t.Errorf("line %d: another hash than line %d's, whose query it is", i, same)
		}
	}
	if list[0].QueryHash == list[1].QueryHash {
		t.Error("two queries have one hash")
	}
	other := filepath.Join(t.TempDir(), "q")
	l = open(t, Options{Path: other, Text: TextHash})
	l.Add(Record{Query: "secret one"})
	shut(t, l)
	if records(t, other)[0].QueryHash == list[0].QueryHash {
		t.Error("another log has the same hashes: they can be guessed without its key")
	}
	if info, err := os.Stat(path + ".key"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", info, err)
	}
}

// disk holds so many bytes; what does not fit is written in part, as a full disk
// does it.
type disk struct {
	mu       sync.Mutex
	free     int
	stubborn bool          // files cannot be shortened either
	wait     chan struct{} // writes wait for it; nil: they do not
}

func (d *disk) open(path string) (file, error) {
	f, err := openFile(path)
	return onDisk{f, d}, err
}

type onDisk struct {
	file
	d *disk
}

func (f onDisk) Write(p []byte) (int, error) {
	if f.d.wait != nil {
		<-f.d.wait
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	n, err := f.file.Write(p[:min(len(p), f.d.free)])
	f.d.free -= n
	if err == nil && n < len(p) {
		err = &fs.PathError{Op: "write", Path: "q", Err: syscall.ENOSPC}
	}
	return n, err
}

func (f onDisk) Truncate(size int64) error {
	if f.d.stubborn {
		return syscall.EIO
	}
	return f.file.Truncate(size)
}

func (d *disk) empty(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.free = bytes
}

func TestFullDisk(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		var out bytes.Buffer
		d := &disk{free: 1000, stubborn: stubborn}
		path := filepath.Join(t.TempDir(), "q")
		l, err := openWith(Options{Path: path, MaxBytes: 1 << 20, Log: slog.New(slog.NewTextHandler(&out, nil))}, d.open)
		if err != nil {
			t.Fatal(err)
		}
		settled := func(n uint64) {
			for l.Written()+l.Dropped() < n {
				select {
				case <-t.Context().Done():
					t.Fatal("the records were neither written nor dropped")
				default:
				}
			}
		}
		for range 50 {
			l.Add(Record{Query: "x"})
		}
		settled(50)
		if l.Dropped() == 0 || l.Written() == 0 {
			t.Fatalf("%d written, %d dropped", l.Written(), l.Dropped())
		}
		d.empty(1 << 20)
		l.Add(Record{Query: "last"})
		shut(t, l)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, broken := uint64(0), 0
		for line := range bytes.Lines(data) {
			var r Record
			if json.Unmarshal(line, &r) == nil {
				whole++
			} else {
				broken++
			}
		}
		if whole != l.Written() || !stubborn && broken > 0 || broken > 1 {
			t.Errorf("%d lines are whole and %d broken, %d were said to be written", whole, broken, l.Written())
		}
		if l.Written()+l.Dropped() != 51 || !strings.Contains(string(data), `"last"`) {
			t.Errorf("%d written, %d dropped: %s", l.Written(), l.Dropped(), data)
		}
		if said := strings.Count(out.String(), "level="); said != 2 {
			t.Errorf("%d lines in the log, want one of the failure and one of its end: %s", said, &out)
		}
	}
}

// A disk that does not answer costs lines, not queries.
func TestSlowDisk(t *testing.T) {
	d := &disk{free: 1 << 30, wait: make(chan struct{})}
	l, err := openWith(Options{Path: filepath.Join(t.TempDir(), "q"), MaxBytes: 1 << 30}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	const more = 100
	for range queue + more {
		l.Add(Record{Query: "x"})
	}
	if n := l.Dropped(); n < more-1 || n > more {
		t.Errorf("%d records dropped, want %d or one less", n, more)
	}
	close(d.wait)
	shut(t, l)
	if l.Written()+l.Dropped() != queue+more {
		t.Errorf("%d written, %d dropped", l.Written(), l.Dropped())
	}
	l.Add(Record{})
	if l.Written()+l.Dropped() != queue+more+1 {
		t.Error("a record after Close is not counted")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestCutLineIsEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	if err := os.WriteFile(path, []byte(`{"query":"cut`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, Options{Path: path})
	l.Add(Record{Query: "x"})
	shut(t, l)
	data, _ := os.ReadFile(path)
	if lines := strings.Split(string(data), "\n"); len(lines) != 3 || !json.Valid([]byte(lines[1])) {
		t.Errorf("%s", data)
	}
}

func TestBadOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q")
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short+".key", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		opts Options
		code braid.Code
	}{
		{Options{Path: path, MaxBytes: 1, Text: "md5"}, braid.InvalidArgument},
		{Options{Path: path}, braid.InvalidArgument},
		{Options{Path: path, MaxBytes: 1, Keep: -1}, braid.InvalidArgument},
		{Options{Path: t.TempDir(), MaxBytes: 1}, braid.Unavailable},
		{Options{Path: filepath.Join(path, "no", "folder"), MaxBytes: 1}, braid.Unavailable},
		{Options{Path: short, MaxBytes: 1, Text: TextHash}, braid.Unavailable},
	} {
		if l, err := Open(tc.opts); braid.CodeOf(err) != tc.code {
			t.Errorf("%+v: %v, %v, want %s", tc.opts, l, err, tc.code)
		}
	}
}

func TestOf(t *testing.T) {
	contribution := 0.5
	answer := &search.Response{
		Mode: search.ModeHybrid, Reranked: 2, Routing: &search.Routing{Kind: search.KindQuestion},
		Degraded: []search.Degradation{{Stage: "sparse"}},
		Hits: []search.Hit{
			{ID: "b", Score: 1, ScoreType: search.ScoreBlended, Branches: map[braid.Branch]search.Found{braid.Dense: {Rank: 3, Contribution: &contribution}},
				Variants: []search.VariantFound{{Branch: braid.Lexical, Variant: 1, Found: search.Found{Rank: 7}}},
				Fused:    &search.Found{Rank: 2}, Rerank: &search.Reranked{Before: 2, After: 1}},
			{ID: "a", Rerank: &search.Reranked{Before: 1, After: 2}},
			{ID: "c", Rerank: &search.Reranked{Before: 3, After: 3}},
		},
	}
	for range 20 {
		answer.Hits = append(answer.Hits, search.Hit{ID: "more"})
	}
	r := Of("docs", search.Request{Query: "why", Variants: []string{"x"}, Hypothetical: "y", Filter: &braid.Filter{}}, answer, nil)
	if r.Kind != search.KindQuestion || r.Moved != 2 || r.Found != 23 || len(r.Hits) != MaxHits || r.Variants != 2 || !r.Filtered || fmt.Sprint(r.Degraded) != "[sparse]" {
		t.Errorf("%+v", r)
	}
	if h := r.Hits[0]; h.ID != "b" || h.Branches[braid.Dense] != 3 || len(h.Variants) != 1 || h.Variants[0].Rank != 7 || h.Fused != 2 || *h.Rerank != [2]int{2, 1} {
		t.Errorf("%+v", h)
	}
	failed := Of("docs", search.Request{Query: "why"}, nil, braid.Errorf(braid.NotFound, "no"))
	if failed.Code != braid.NotFound || failed.Query != "why" || failed.Hits != nil || failed.Timings != nil {
		t.Errorf("%+v", failed)
	}
}
