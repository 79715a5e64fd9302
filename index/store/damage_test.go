package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// killed returns a copy of a folder with n acknowledged documents as a killed
// process leaves it: the log has no end mark.
func killed(t *testing.T, n int) (dir string, ids []string) {
	t.Helper()
	live := t.TempDir()
	s := openStore(t, live, Options{ReserveBytes: 1})
	c := create(t, s, "a")
	for i := range n {
		ids = append(ids, fmt.Sprintf("%03d", i))
		if err := commit(s, c, ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	return dir, ids
}

// reopened opens a folder and returns what its collection holds, and the log.
func reopened(t *testing.T, dir string) (s *Store, ids []string, log string) {
	t.Helper()
	var said bytes.Buffer
	s = openStore(t, dir, Options{ReserveBytes: 1, Log: slog.New(slog.NewTextHandler(&said, nil))})
	collections, err := s.Collections()
	if err != nil || len(collections) != 1 {
		t.Fatalf("collections %+v, error %v", collections, err)
	}
	ids = contents(t, s, collections[0])
	if collections[0].Documents != len(ids) {
		t.Errorf("count is %d, documents are %d", collections[0].Documents, len(ids))
	}
	return s, ids, said.String()
}

func logOf(t *testing.T, dir string) string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "records", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("logs %v, error %v", logs, err)
	}
	return logs[len(logs)-1]
}

func TestKilled(t *testing.T) {
	dir, want := killed(t, 30)
	s, ids, said := reopened(t, dir)
	if !slices.Equal(ids, want) || s.Loss() != nil || said != "" {
		t.Errorf("holds %v, loss %+v, says %q", ids, s.Loss(), said)
	}
}

// TestLogCutShort cuts bytes off the newest log. What was acknowledged is there
// or reported as missing; the report comes once, and writing goes on.
func TestLogCutShort(t *testing.T) {
	for _, cut := range []int64{1, 2, 7, 40, 200, 1000} {
		t.Run(fmt.Sprint(cut), func(t *testing.T) {
			dir, acknowledged := killed(t, 30)
			log := logOf(t, dir)
			info, err := os.Stat(log)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(log, info.Size()-cut); err != nil {
				t.Fatal(err)
			}
			s, ids, said := reopened(t, dir)
			missing := len(acknowledged) - len(ids)
			if missing < 1 || !slices.Equal(ids, acknowledged[:len(ids)]) {
				t.Fatalf("holds %v", ids)
			}
			want := Loss{Commits: uint64(missing), File: s.Loss().File, Collection: "a", Upserts: 1}
			if *s.Loss() != want || filepath.Base(s.Loss().File) != filepath.Base(log) {
				t.Errorf("loss %+v, want %+v in %s", *s.Loss(), want, log)
			}
			if !strings.Contains(said, "acknowledged writes are missing") || !strings.Contains(said, filepath.Base(log)) {
				t.Errorf("log says %q", said)
			}
			collections, err := s.Collections()
			if err != nil {
				t.Fatal(err)
			}
			if err := commit(s, collections[0], "new"); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, again, said := reopened(t, dir)
			if !slices.Equal(again, append(ids, "new")) || s.Loss() != nil || said != "" {
				t.Errorf("opened again: holds %v, loss %+v, says %q", again, s.Loss(), said)
			}
		})
	}
}

// TestClosedLogCutShort cuts a byte off the log of a folder that was closed.
func TestClosedLogCutShort(t *testing.T) {
	dir, want := killed(t, 3)
	s, _, _ := reopened(t, dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log := logOf(t, dir)
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, max(0, info.Size()-1)); err != nil {
		t.Fatal(err)
	}
	s, ids, said := reopened(t, dir)
	if !slices.Equal(ids, want) || s.Loss() != nil {
		t.Errorf("holds %v, loss %+v, says %q", ids, s.Loss(), said)
	}
}

// TestNoSilentDamage damages each file of a folder in turn, in several ways,
// and asserts that opening or reading fails with an error that names the
// folder, or that the loss is reported, or that everything is there.
func TestNoSilentDamage(t *testing.T) {
	pristine, want := aged(t)
	files, err := filepath.Glob(filepath.Join(pristine, "records", "*"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]int{}
	for _, file := range append(files, filepath.Join(pristine, "acknowledged")) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(pristine, file)
		if err != nil {
			t.Fatal(err)
		}
		for what, damaged := range damages(content) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(pristine)); err != nil {
				t.Fatal(err)
			}
			err := os.Remove(filepath.Join(dir, name))
			if damaged != nil {
				err = os.WriteFile(filepath.Join(dir, name), damaged, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			outcomes[outcome(t, dir, name+" "+what, want)]++
		}
	}
	for _, expected := range []string{"whole", "loss", "open"} {
		if outcomes[expected] == 0 {
			t.Errorf("no damage led to %q, all: %v", expected, outcomes)
		}
	}
	t.Log(outcomes)
}

// aged returns a folder as a killed process leaves it that was killed twice
// before: the first table holds collection a with some documents, the second
// one collection b and more of a, the log still more of a.
func aged(t *testing.T) (dir string, documents map[string][]string) {
	t.Helper()
	dir, ids := killed(t, 10)
	var b []string
	for life := range 2 {
		s := openStore(t, dir, Options{ReserveBytes: 1})
		collections, err := s.Collections()
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			ids = append(ids, fmt.Sprintf("%03d", 100*(life+1)+i))
			if err := commit(s, collections[0], ids[len(ids)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if life == 0 {
			if err := commit(s, create(t, s, "b"), "only"); err != nil {
				t.Fatal(err)
			}
			b = append(b, "only")
		}
		live := dir
		dir = t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
			t.Fatal(err)
		}
	}
	return dir, map[string][]string{"a": ids, "b": b}
}

// damages returns content with a byte flipped at each eighth, cut, and, as nil,
// removed.
func damages(content []byte) map[string][]byte {
	damaged := map[string][]byte{"removed": nil}
	if len(content) == 0 {
		return damaged
	}
	for place := range 9 {
		flipped := bytes.Clone(content)
		flipped[(len(content)-1)*place/8] ^= 0xff
		damaged[fmt.Sprintf("flipped at %d/8", place)] = flipped
	}
	for _, keep := range []int{0, len(content) / 2, len(content) - 1} {
		damaged[fmt.Sprintf("cut to %d of %d", keep, len(content))] = content[:keep]
	}
	return damaged
}

// outcome opens a damaged folder and says how its damage showed.
func outcome(t *testing.T, dir, what string, want map[string][]string) string {
	t.Helper()
	s, err := Open(dir, Options{ReserveBytes: 1})
	if err != nil {
		wantCorrupt(t, what, dir, err)
		return "open"
	}
	defer s.Close()
	collections, err := s.Collections()
	if err != nil {
		wantCorrupt(t, what, dir, err)
		return "open"
	}
	found := map[string][]string{}
	for _, c := range collections {
		err := scanAll(s, c, func(e index.Entry) error {
			found[c.Name] = append(found[c.Name], e.Document.ID)
			return nil
		})
		if err != nil {
			wantCorrupt(t, what, dir, err)
			return "open"
		}
	}
	switch {
	case s.Loss() != nil:
		return "loss"
	case !reflect.DeepEqual(found, want):
		t.Errorf("%s: holds %v without a word", what, found)
	}
	return "whole"
}

func wantCorrupt(t *testing.T, what, dir string, err error) {
	t.Helper()
	if braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), dir) {
		t.Errorf("%s: error %v (%s)", what, err, braid.CodeOf(err))
	}
}

// TestLostMiddle takes single pairs out of the database or puts older ones in,
// as a lost table does that newer writes hide.
func TestLostMiddle(t *testing.T) {
	for what, lose := range map[string]func(s *Store, a, b Collection) error{
		"document": func(s *Store, a, _ Collection) error {
			return s.db.Delete(documentKey(a.Number, "1"), nil)
		},
		"newest version of a document": func(s *Store, a, _ Collection) error {
			older := document("1")
			older.Document.Text = "older"
			return s.db.Set(documentKey(a.Number, "1"), appendRecord(nil, older), nil)
		},
		"deletion of a document": func(s *Store, a, _ Collection) error {
			return s.db.Set(documentKey(a.Number, "0"), appendRecord(nil, document("0")), nil)
		},
		"two documents swapped": func(s *Store, a, _ Collection) error {
			return errors.Join(
				s.db.Set(documentKey(a.Number, "1"), appendRecord(nil, document("2")), nil),
				s.db.Set(documentKey(a.Number, "2"), appendRecord(nil, document("1")), nil))
		},
		"collection": func(s *Store, _, b Collection) error {
			return errors.Join(s.db.Delete(collectionKey("b"), nil), s.db.Delete(tallyKey(b.Number), nil))
		},
		"all of the writes to a collection": func(s *Store, _, b Collection) error {
			return errors.Join(
				s.db.Delete(documentKey(b.Number, "only"), nil),
				s.db.Set(tallyKey(b.Number), tally{}.encode(), nil))
		},
		"tally":  func(s *Store, a, _ Collection) error { return s.db.Delete(tallyKey(a.Number), nil) },
		"state":  func(s *Store, _, _ Collection) error { return s.db.Delete([]byte(keyState), nil) },
		"format": func(s *Store, _, _ Collection) error { return s.db.Delete([]byte(keyFormat), nil) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			s := openStore(t, dir, Options{ReserveBytes: 1})
			a, b := create(t, s, "a"), create(t, s, "b")
			for _, id := range []string{"0", "1", "2"} {
				if err := commit(s, a, id); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(commit(s, b, "only"), s.Commit(a.Number, nil, []string{"0"}), lose(s, a, b), s.Close()); err != nil {
				t.Fatal(err)
			}
			if got := outcome(t, dir, what, nil); got != "open" {
				t.Errorf("outcome is %q", got)
			}
		})
	}
}

func TestStrayFiles(t *testing.T) {
	dir, want := killed(t, 5)
	for _, name := range []string{"x.tmp", "empty", "records/x.tmp", "records/empty", "records/000900.sst", "records/000900.log", "records/OPTIONS-000901", "records/temporary.000902.dbtmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "records", "lost+found.tmp"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s, ids, said := reopened(t, dir)
		if !slices.Equal(ids, want) || s.Loss() != nil {
			t.Fatalf("holds %v, loss %+v, says %q", ids, s.Loss(), said)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMarkUnreadable asserts that a folder opens without its mark and says that
// it cannot check.
func TestMarkUnreadable(t *testing.T) {
	for what, content := range map[string][]byte{"gone": nil, "short": []byte("x"), "wrong checksum": make([]byte, markBytes-1)} {
		dir, want := killed(t, 3)
		if content != nil {
			content = append(content, 1)
		}
		if err := os.WriteFile(filepath.Join(dir, "acknowledged"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, ids, said := reopened(t, dir)
		if !slices.Equal(ids, want) || s.Loss() != nil || !strings.Contains(said, "cannot tell") {
			t.Errorf("%s: holds %v, loss %+v, says %q", what, ids, s.Loss(), said)
		}
	}
}
