package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// TestMain lets the test binary stand in for a second process: with a folder
// as its argument it says what opening that gives.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "open" {
		_, err := Open(os.Args[2], Options{})
		fmt.Printf("%s: %v\n", braid.CodeOf(err), err)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func openStore(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func create(t testing.TB, s *Store, name string) Collection {
	t.Helper()
	c, err := s.Create(name, index.Schema{Sparse: index.ModelRef{Name: "s", Digest: "1"}}, time.Unix(1, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// document makes an entry whose content tells its id.
func document(id string) index.Entry {
	e := index.Whole(braid.Document{ID: id, Text: "text of " + id}, [32]byte{})
	e.Passages[0].Sparse = braid.SparseVector{Indices: []uint32{uint32(len(id))}, Values: []float32{1}}
	e.Passages[0].Tokens = []uint32{1, 2}
	return e
}

// commit stores one document.
func commit(s *Store, c Collection, id string) error {
	return s.Commit(c.Number, []index.Entry{document(id)}, nil)
}

// commitLarge stores a document of 100 kB that does not compress.
func commitLarge(s *Store, c Collection, i int) error {
	e := document(fmt.Sprint(i))
	dense := make([]float32, 25_000)
	random := rand.New(rand.NewPCG(uint64(i), 0))
	for j := range dense {
		dense[j] = random.Float32()
	}
	e.Passages[0].Dense = dense
	return s.Commit(c.Number, []index.Entry{e}, nil)
}

// scanAll calls yield with every document of a collection.
func scanAll(s *Store, c Collection, yield func(index.Entry) error) error {
	v, err := s.View(c)
	if err != nil {
		return err
	}
	return errors.Join(v.Scan(context.Background(), yield), v.Close())
}

// contents reads all documents of a collection and checks what they hold.
func contents(t testing.TB, s *Store, c Collection) []string {
	t.Helper()
	var ids []string
	err := scanAll(s, c, func(e index.Entry) error {
		if want := document(e.Document.ID); !reflect.DeepEqual(e, want) {
			t.Errorf("read %+v, want %+v", e, want)
		}
		ids = append(ids, e.Document.ID)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestPassagesAreCounted writes documents of one passage and of several, again and
// with other numbers, deletes them, and opens the folder again in between.
func TestPassagesAreCounted(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	c := create(t, s, "a")
	want := map[string]int{}
	for step, w := range []struct {
		id       string
		passages int // 0 is to delete it
	}{{"x", 1}, {"x", 3}, {"y", 1}, {"y", 5}, {"x", 1}, {"z", 2}, {"y", 0}, {"none", 0}, {"z", 1}, {"z", 4}, {"x", 0}, {"z", 0}} {
		e := document(w.id)
		for range w.passages - 1 {
			e.Passages = append(e.Passages, index.Passage{Text: "more"})
		}
		upserts, deletes := []index.Entry{e}, []string(nil)
		want[w.id] = w.passages
		if w.passages == 0 {
			upserts, deletes = nil, []string{w.id}
			delete(want, w.id)
		}
		if err := s.Commit(c.Number, upserts, deletes); err != nil {
			t.Fatal(err)
		}
		if step%3 == 2 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openStore(t, dir, Options{})
		}
		all, err := s.Collections()
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.View(c)
		if err != nil {
			t.Fatal(err)
		}
		passages := 0
		for _, n := range want {
			passages += n
		}
		for _, got := range []Collection{all[0], v.Collection()} {
			if got.Documents != len(want) || got.Passages != passages {
				t.Errorf("step %d: %d documents with %d passages, want %d with %d", step, got.Documents, got.Passages, len(want), passages)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok, err := s.read(passagesKey(c.Number)); ok || err != nil {
		t.Errorf("a number is kept of no documents, error %v", err)
	}
}

func TestCollectionsAndDocuments(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	a, b := create(t, s, "a"), create(t, s, "b")
	for i := range 3 {
		if err := commit(s, a, fmt.Sprint("a", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := commit(s, b, "b0"); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(a.Number, nil, []string{"a1"}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		collections, err := s.Collections()
		a.Documents, b.Documents = 2, 1
		a.Passages, b.Passages = 2, 1
		if want := []Collection{a, b}; err != nil || !reflect.DeepEqual(collections, want) {
			t.Fatalf("collections are %+v, want %+v, error %v", collections, want, err)
		}
		if got := contents(t, s, a); !slices.Equal(got, []string{"a0", "a2"}) {
			t.Errorf("a holds %v", got)
		}
		if got := contents(t, s, b); !slices.Equal(got, []string{"b0"}) {
			t.Errorf("b holds %v", got)
		}
		if got, ok, err := s.Get(a.Number, "a2"); err != nil || !ok || !reflect.DeepEqual(got, document("a2")) {
			t.Errorf("get: %+v, %v, error %v", got, ok, err)
		}
		if _, ok, err := s.Get(a.Number, "a1"); err != nil || ok {
			t.Errorf("get what is deleted: %v, error %v", ok, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openStore(t, dir, Options{})
		if s.Loss() != nil {
			t.Errorf("a loss is reported: %+v", s.Loss())
		}
	}
	if err := s.Drop(a); err != nil {
		t.Fatal(err)
	}
	err := s.scan(context.Background(), documentKey(a.Number, ""), documentKey(a.Number+1, ""), func(key, _ []byte) error {
		return fmt.Errorf("%q is still there", key)
	})
	if err != nil {
		t.Error(err)
	}
	if again := create(t, s, "a"); again.Number <= b.Number {
		t.Errorf("number %d is used again", again.Number)
	} else if got := contents(t, s, again); len(got) != 0 {
		t.Errorf("a new collection holds %v", got)
	}
}

// TestDropFreesDisk fills a collection with some MB and drops it.
func TestDropFreesDisk(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{ReserveBytes: 1})
	c := create(t, s, "a")
	for i := range 100 {
		if err := commitLarge(s, c, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	before := tableBytes(t, dir)
	if err := s.Drop(c); err != nil {
		t.Fatal(err)
	}
	s.Reclaim(context.Background(), c)
	if err := s.Close(); err != nil { // waits until obsolete files are removed
		t.Fatal(err)
	}
	if after := tableBytes(t, dir); before < 8<<20 || after > before/20 {
		t.Errorf("tables take %d bytes after the drop, %d before", after, before)
	}
}

func tableBytes(t *testing.T, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && isTable(path) {
			info, err := d.Info()
			if err != nil {
				return err
			}
			total += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}

func TestTooLargeCommit(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{ReserveBytes: 1})
	c := create(t, s, "a")
	e := document("x")
	e.Document.Text = strings.Repeat("x", 1<<20)
	err := s.Commit(c.Number, slices.Repeat([]index.Entry{e}, 257), nil)
	if braid.CodeOf(err) != braid.TooLarge {
		t.Errorf("error %v, want %s", err, braid.TooLarge)
	}
	if got := contents(t, s, c); len(got) != 0 {
		t.Errorf("holds %v", got)
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, filepath.Join(dir, "data"), Options{})
	link := filepath.Join(dir, "link")
	if err := os.Symlink("data", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{filepath.Join(dir, "data"), link, filepath.Join(dir, "data", "..", "data")} {
		_, err := Open(name, Options{})
		if braid.CodeOf(err) != braid.Conflict || !strings.Contains(err.Error(), filepath.Join(dir, "data")) {
			t.Errorf("same process, %s: error %v", name, err)
		}
		out, err := exec.Command(os.Args[0], "open", name).Output()
		if err != nil || !strings.HasPrefix(string(out), string(braid.Conflict)+": data folder") {
			t.Errorf("other process, %s: says %q, error %v", name, out, err)
		}
	}
	c := create(t, s, "a") // the folder is unharmed
	if err := commit(s, c, "x"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(os.Args[0], "open", dir+"/data").Output()
	if err != nil || !strings.Contains(string(out), "<nil>") {
		t.Errorf("other process after close: says %q, error %v", out, err)
	}
}

func TestFolderIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, Options{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name %s", err, file)
	}
	if _, err := Open(t.TempDir(), Options{ReserveBytes: -1}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("negative reserve: error %v", err)
	}
}

func TestFormatOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	if err := s.db.Set([]byte(keyFormat), []byte{folderFormat + 1}, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // refusing leaves the folder as it is
		if _, err := Open(dir, Options{}); braid.CodeOf(err) != braid.Conflict {
			t.Errorf("error %v, want %s", err, braid.Conflict)
		}
	}
}

func TestCloseTwice(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
