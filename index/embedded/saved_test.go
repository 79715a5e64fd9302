package embedded_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// opened opens dir and returns what was said.
func opened(t *testing.T, dir string) (*embedded.Engine, string) {
	t.Helper()
	var said bytes.Buffer
	e, err := embedded.Open(context.Background(), dir, embedded.Options{Log: debugLog(&said)})
	if err != nil {
		t.Fatal(err)
	}
	return e, said.String()
}

func debugLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// fromSaved reports whether a collection was opened from what is saved, and
// with how many changes.
func fromSaved(said string) (changes string, ok bool) {
	_, rest, ok := strings.Cut(said, "opened from what is saved")
	_, rest, _ = strings.Cut(rest, "changed_since=")
	return strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]), ok
}

// savedModel is a collection as a map of texts, for comparing.
type savedModel map[string]string

// savedEntry is a document of as many passages as savedPassages says.
func savedEntry(id, text string) index.Entry {
	if n := savedPassages(id); n > 1 {
		return splitOf(id, text, n)
	}
	return entryOf(id, text)
}

func savedPassages(id string) int { return 1 + max(0, int(id[len(id)-1])-'7') }

func (m savedModel) write(t *testing.T, c index.Collection, random *rand.Rand, n int) {
	t.Helper()
	var b index.Batch
	for _, i := range random.Perm(3 * n)[:n] {
		id := fmt.Sprint("d", i)
		if _, ok := m[id]; ok && random.IntN(3) == 0 {
			b.Deletes = append(b.Deletes, id)
			delete(m, id)
			continue
		}
		m[id] = fmt.Sprintf("%s text %d", id, random.IntN(5))
		b.Upserts = append(b.Upserts, savedEntry(id, m[id]))
	}
	if _, err := c.Write(context.Background(), b); err != nil {
		t.Fatal(err)
	}
}

// check looks for some of the documents in every branch, and through a filter.
func (m savedModel) check(t *testing.T, e *embedded.Engine, random *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	c, err := e.Open(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	passages := 0
	for id := range m {
		passages += savedPassages(id)
	}
	if got := c.Info(); got.Documents != len(m) || got.Passages != passages {
		t.Fatalf("%d documents with %d passages, want %d with %d", got.Documents, got.Passages, len(m), passages)
	}
	var filter braid.Filter
	if err := filter.UnmarshalJSON([]byte(`{"must":[{"field":"id","exists":true}]}`)); err != nil {
		t.Fatal(err)
	}
	set, err := c.Resolve(ctx, filter)
	if err != nil || set.Len() != len(m) {
		t.Fatalf("%d documents pass the filter, want %d, error %v", set.Len(), len(m), err)
	}
	for range 30 {
		id := fmt.Sprint("d", random.IntN(4*len(m)))
		text, there := m[id]
		want := savedEntry(id, text)
		passage := random.IntN(len(want.Passages))
		q := index.Query{K: 1, Allowed: set}
		lexical, err := c.SearchLexical(ctx, id, q)
		if err != nil {
			t.Fatal(err)
		}
		if there != (len(lexical) == 1 && lexical[0].ID == id) {
			t.Fatalf("lexical search for %s finds %v, there %v", id, lexical, there)
		}
		if !there {
			continue
		}
		dense, err := c.SearchDense(ctx, want.Passages[passage].Dense, q)
		if err != nil || dense[0].ID != id || dense[0].Passage != passage || dense[0].Score < 0.999 {
			t.Fatalf("dense search for %s finds %v, error %v", id, dense, err)
		}
		sparse, err := c.SearchSparse(ctx, want.Passages[passage].Sparse, q)
		if err != nil || sparse[0].ID != id || sparse[0].Passage != passage {
			t.Fatalf("sparse search for %s finds %v, error %v", id, sparse, err)
		}
		prints, err := c.Fingerprints(ctx, []string{id})
		if err != nil || prints[0].Sum != want.Fingerprint {
			t.Fatalf("%s has another fingerprint, error %v", id, err)
		}
	}
}

func TestOpenedFromSaved(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(81, 82))
	dir := t.TempDir()
	e := open(t, dir)
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	m := savedModel{}
	m.write(t, c, random, 1500)
	for round, writes := range []int{0, 100, 700} {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		var said string
		e, said = opened(t, dir)
		if _, ok := fromSaved(said); !ok {
			t.Fatalf("round %d: not opened from what is saved:\n%s", round, said)
		}
		m.check(t, e, random)
		if c, err = e.Open(ctx, "t"); err != nil {
			t.Fatal(err)
		}
		for range writes / 50 {
			m.write(t, c, random, 50)
		}
		m.check(t, e, random)

		// A process that is killed now leaves the folder like this.
		killed := t.TempDir()
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		again, said := opened(t, killed)
		if changes, ok := fromSaved(said); !ok || (changes == "0") != (writes == 0) {
			t.Errorf("round %d: after a kill: %s changes, from saved %v", round, changes, ok)
		}
		m.check(t, again, random)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Drop(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "indexes")); err != nil || len(left) > 0 {
		t.Errorf("a dropped collection leaves %v, error %v", left, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedSavedForm flips and cuts bytes of what is saved, takes files away
// and puts others there. The collection is whole each time.
func TestDamagedSavedForm(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(83, 84))
	dir := t.TempDir()
	e := open(t, dir)
	small := schema
	c, err := e.Create(ctx, "t", small)
	if err != nil {
		t.Fatal(err)
	}
	m := savedModel{}
	m.write(t, c, random, 1000)
	m.write(t, c, random, 900)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "indexes", "*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("saved: %v, error %v", folders, err)
	}
	parts, err := filepath.Glob(filepath.Join(folders[0], "*"))
	if err != nil || len(parts) != 5 {
		t.Fatalf("parts: %v, error %v", parts, err)
	}
	whole := map[string][]byte{}
	for _, path := range parts {
		if whole[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	for try := range *damages {
		path := parts[try%len(parts)]
		damaged := bytes.Clone(whole[path])
		switch random.IntN(4) {
		case 0:
			damaged = damaged[:random.IntN(len(damaged))]
		case 1:
			damaged = append(damaged, 0)
		case 2:
			damaged = whole[parts[(try+1)%len(parts)]]
		default:
			damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		e, said := opened(t, dir)
		if _, ok := fromSaved(said); ok || !strings.Contains(said, filepath.Base(path)) {
			t.Fatalf("damage of %s is not named:\n%s", path, said)
		}
		m.check(t, e, random)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		// It was built from the records and saved anew.
		if fresh, err := os.ReadFile(path); err != nil || bytes.Equal(fresh, damaged) {
			t.Fatalf("%s was not saved again, error %v", path, err)
		}
		for path, b := range whole {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Remove(parts[2]); err != nil {
		t.Fatal(err)
	}
	e, said := opened(t, dir)
	if _, ok := fromSaved(said); ok {
		t.Error("opened from what is saved without one of its parts")
	}
	m.check(t, e, random)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestStrayFiles puts into the folder what a killed process or a person may
// leave there.
func TestStrayFiles(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(85, 86))
	dir := t.TempDir()
	e := open(t, dir)
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	m := savedModel{}
	m.write(t, c, random, 1200)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "indexes", "*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("saved: %v, error %v", folders, err)
	}
	for _, name := range []string{"x.tmp", "indexes/x.tmp", "indexes/1-x", "indexes/1-99999", "checkpoint.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(folders[0]+".new", os.DirFS(folders[0])); err != nil {
		t.Fatal(err)
	}
	e, said := opened(t, dir)
	if _, ok := fromSaved(said); !ok {
		t.Errorf("not opened from what is saved:\n%s", said)
	}
	m.check(t, e, random)
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	m.write(t, c, random, 600)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "indexes", "1-*"))
	if err != nil || len(left) != 1 || slices.Contains(left, folders[0]) {
		t.Errorf("after saving again there are %v, error %v", left, err)
	}
}

// TestRecordsLostBehindTheSavedForm takes a record away where nothing else shows
// it: a collection that was opened without reading its records finds out.
func TestRecordsLostBehindTheSavedForm(t *testing.T) {
	ctx, random := context.Background(), rand.New(rand.NewPCG(87, 88))
	dir := t.TempDir()
	e := open(t, dir)
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	m := savedModel{}
	m.write(t, c, random, 1200)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := pebble.Open(filepath.Join(dir, "records"), &pebble.Options{FormatMajorVersion: pebble.FormatTableFormatV6, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	var lost string
	for lost = range m {
		break
	}
	if err := errors.Join(db.Delete(append([]byte{'d', 0, 0, 0, 1}, lost...), pebble.Sync), db.Close()); err != nil {
		t.Fatal(err)
	}
	e, said := opened(t, dir)
	defer e.Close()
	if _, ok := fromSaved(said); !ok {
		t.Fatalf("not opened from what is saved:\n%s", said)
	}
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		_, err := c.SearchLexical(ctx, "text", index.Query{K: 1})
		if braid.CodeOf(err) == braid.Corrupt {
			return
		}
		if err != nil || time.Since(begun) > time.Minute {
			t.Fatalf("a lost record is not noticed: error %v", err)
		}
	}
}

// quiet drops what pebble says.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}
