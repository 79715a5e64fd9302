package embedded_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/store"
)

// Fixtures are data folders and backups as earlier versions wrote them; what
// they hold follows from fixtures. A version reads those of all versions
// before it.
//
// Who changes a form on disk leaves the folders there are alone, adds a version
// to fixtures, and runs
//
//	go test ./index/embedded -run TestFixtures -update
const newestFixture = "v4"

// fixtures are what was written by each version.
var fixtures = map[string]fixture{
	"v1": {documents: map[string]int{"notes": 1100, "graph": 1650, "words": 5}},
	// Documents are split.
	"v2": {documents: map[string]int{"notes": 480, "graph": 720, "words": 5}, split: true},
	// Graphs of vectors have their codes.
	"v3": {documents: map[string]int{"notes": 480, "graph": 720, "words": 5}, split: true},
	// So have other vectors; a change of a payload alone is told from others.
	"v4": {documents: map[string]int{"notes": 480, "graph": 720, "words": 5}, split: true, patched: true},
}

// fixture says what a version's collections hold.
type fixture struct {
	documents map[string]int
	split     bool // most documents are, into up to five passages
	patched   bool // some documents got other payloads
}

var update = flag.Bool("update", false, "write the fixtures of today's forms anew")

const fixtureDimensions = 16

// fixtureGraphFrom puts one of the collections into a graph.
const fixtureGraphFrom = 1500

var fixtureSchema = index.Schema{
	Dense:      index.ModelRef{Name: "dense", Digest: "d1"},
	Dimensions: fixtureDimensions,
	Sparse:     index.ModelRef{Name: "sparse", Digest: "s1"},
	Pair:       index.ModelRef{Name: "pair", Digest: "p1"},
}

// fixtureSchemas are the collections. The last has no models.
func fixtureSchemas() map[string]index.Schema {
	return map[string]index.Schema{"notes": fixtureSchema, "graph": fixtureSchema, "words": {}}
}

// entry is the document with number i, written for the time'th time.
func (f fixture) entry(schema index.Schema, i, time int) index.Entry {
	e := fixtureEntry(schema, i, time)
	if !f.split || i%5 == 0 {
		return e
	}
	e.Document.Format = []braid.Format{"", braid.FormatText, braid.FormatMarkdown, braid.FormatHTML}[i%4]
	e.Document.Text, e.Passages = "", nil
	for n := range i % 6 {
		whole := fixtureEntry(schema, i+10_000*n, time)
		p := whole.Passages[0]
		p.Text, p.Start, p.End = whole.Read(0), len(e.Document.Text), len(e.Document.Text)+len(whole.Document.Text)
		p.Section = whole.Document.Title
		e.Document.Text += whole.Document.Text + "\n"
		e.Passages = append(e.Passages, p)
	}
	if len(e.Passages) == 0 {
		return fixtureEntry(schema, i, time)
	}
	return e
}

// fixtureEntry is a document that is not split.
func fixtureEntry(schema index.Schema, i, time int) index.Entry {
	random := rand.New(rand.NewPCG(uint64(i), uint64(time)))
	nouns := []string{"pump", "seal", "valve", "tank", "pressure", "E-1042", "überdruck", "flange", "gasket", "motor"}
	text := make([]string, 4+random.IntN(8))
	for w := range text {
		text[w] = nouns[random.IntN(len(nouns))]
	}
	e := index.Whole(braid.Document{ID: fmt.Sprintf("d%04d", i), Text: fmt.Sprintf("%s number%d", strings.Join(text, " "), i)}, [32]byte{})
	p := &e.Passages[0]
	if i%3 > 0 {
		e.Document.Title = fmt.Sprintf("title %d", i%7)
	}
	if i%5 > 0 {
		e.Document.Payload = fmt.Appendf(nil, `{"group":%d,"tags":["t%d","all"],"open":%t,"nested":{"x":%d.5}}`, i%10, i%4, i%2 == 0, time)
	}
	copy(e.Fingerprint[:], fmt.Sprintf("print %d %d", i, time))
	if schema.Dimensions == 0 {
		return e
	}
	var norm float64
	for range schema.Dimensions {
		x := random.NormFloat64()
		norm += x * x
		p.Dense = append(p.Dense, float32(x))
	}
	for x := range p.Dense {
		p.Dense[x] /= float32(math.Sqrt(norm))
	}
	for _, x := range random.Perm(500)[:i%9] {
		p.Sparse.Indices = append(p.Sparse.Indices, uint32(x))
		p.Sparse.Values = append(p.Sparse.Values, random.Float32()+0.01)
	}
	slices.Sort(p.Sparse.Indices)
	if i%4 > 0 {
		p.Tokens = []uint32{uint32(i), 101, 30_521}
	}
	return e
}

// batches are all writes to a collection: the first makes it, the second
// is in what is saved, the third came after that.
func (f fixture) batches(name string) []index.Batch {
	schema, n := fixtureSchemas()[name], f.documents[name]
	b := make([]index.Batch, 3)
	for i := range n {
		b[0].Upserts = append(b[0].Upserts, f.entry(schema, i, 0))
		switch {
		case i%29 == 3:
			b[1].Deletes = append(b[1].Deletes, fmt.Sprintf("d%04d", i))
		case i%23 == 2:
			b[1].Upserts = append(b[1].Upserts, f.entry(schema, i, 1))
		case i%301 == 4:
			b[2].Deletes = append(b[2].Deletes, fmt.Sprintf("d%04d", i))
		case i%307 == 1:
			b[2].Upserts = append(b[2].Upserts, f.entry(schema, i, 2))
		case f.patched && i%101 == 6:
			was, e := f.entry(schema, i, 0), f.entry(schema, i, 2)
			b[2].Payloads = append(b[2].Payloads, index.PayloadChange{ID: was.Document.ID, From: was.Fingerprint, Payload: e.Document.Payload, Fingerprint: e.Fingerprint})
		}
	}
	return b
}

// model is what a collection holds after its first writes.
func (f fixture) model(name string, writes int) map[string]index.Entry {
	m := map[string]index.Entry{}
	for _, b := range f.batches(name)[:writes] {
		for _, id := range b.Deletes {
			delete(m, id)
		}
		for _, e := range b.Upserts {
			m[e.Document.ID] = e
		}
		for _, p := range b.Payloads {
			e := m[p.ID]
			e.Document.Payload, e.Fingerprint = p.Payload, p.Fingerprint
			m[p.ID] = e
		}
	}
	return m
}

func openFixture(t *testing.T, dir string, log io.Writer) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(context.Background(), dir, embedded.Options{GraphFrom: fixtureGraphFrom, ReserveBytes: 1, Log: debugLog(log)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// write makes a folder of data that has been opened and closed a few
// times, and a backup of it.
func (f fixture) write(t *testing.T, folder string) {
	ctx, dir := context.Background(), t.TempDir()
	for step := range 3 {
		e := openFixture(t, dir, io.Discard)
		for name, schema := range fixtureSchemas() {
			if step == 0 {
				if _, err := e.Create(ctx, name, schema); err != nil {
					t.Fatal(err)
				}
			}
			c, err := e.Open(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Write(ctx, f.batches(name)[step]); err != nil {
				t.Fatal(err)
			}
		}
		if step == 2 {
			var backup bytes.Buffer
			if err := errors.Join(e.Backup(ctx, &backup), os.WriteFile(filepath.Join(folder, "backup.tar.zst"), backup.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if step == 0 {
			// What is opened from its records has the index for its size.
			if err := os.RemoveAll(filepath.Join(dir, "indexes")); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	archive := tar.NewWriter(z)
	if err := errors.Join(archive.AddFS(os.DirFS(dir)), archive.Close(), z.Close(), os.WriteFile(filepath.Join(folder, "folder.tar.gz"), b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// unpackFixture returns a copy of a data folder as a version wrote it.
func unpackFixture(t *testing.T, version string) string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", version, "folder.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			continue
		}
		b, err := io.ReadAll(archive)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFixtures opens what earlier versions wrote, looks at every document,
// searches, writes, and opens again.
func TestFixtures(t *testing.T) {
	if *update {
		folder := filepath.Join("testdata", newestFixture)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		fixtures[newestFixture].write(t, folder)
	}
	for version, f := range fixtures {
		t.Run(version, func(t *testing.T) { testFixture(t, version, f) })
	}
}

func testFixture(t *testing.T, version string, f fixture) {
	t.Run("folder", func(t *testing.T) {
		dir := unpackFixture(t, version)
		var said bytes.Buffer
		e := openFixture(t, dir, &said)
		if n := strings.Count(said.String(), "opened from what is saved"); n != 2 || strings.Contains(said.String(), "WARN") {
			t.Errorf("%d collections are opened from what is saved, want 2:\n%s", n, &said)
		}
		f.check(t, e, 3)
		f.writeTo(t, e, dir)
	})
	t.Run("folder without indexes", func(t *testing.T) {
		dir := unpackFixture(t, version)
		if err := os.RemoveAll(filepath.Join(dir, "indexes")); err != nil {
			t.Fatal(err)
		}
		e := openFixture(t, dir, io.Discard)
		f.check(t, e, 3)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("backup", func(t *testing.T) {
		backup, err := os.Open(filepath.Join("testdata", version, "backup.tar.zst"))
		if err != nil {
			t.Fatal(err)
		}
		defer backup.Close()
		dir := filepath.Join(t.TempDir(), "restored")
		if err := store.Restore(context.Background(), backup, dir, nil); err != nil {
			t.Fatal(err)
		}
		e := openFixture(t, dir, io.Discard)
		f.check(t, e, 3)
		f.writeTo(t, e, dir)
	})
}

// writeTo changes old data with today's version, and closes it.
func (f fixture) writeTo(t *testing.T, e *embedded.Engine, dir string) {
	t.Helper()
	ctx := context.Background()
	c, err := e.Open(ctx, "notes")
	if err != nil {
		t.Fatal(err)
	}
	changed := f.entry(fixtureSchema, 7, 9)
	if got, err := c.Write(ctx, index.Batch{Upserts: []index.Entry{changed}, Deletes: []string{"d0008"}}); err != nil || got != (index.WriteResult{Replaced: 1, Deleted: 1}) {
		t.Fatalf("a write comes to %+v, error %v", got, err)
	}
	for range 2 {
		hits, err := c.SearchDense(ctx, changed.Passages[0].Dense, index.Query{K: 1})
		if err != nil || len(hits) != 1 || hits[0].ID != changed.Document.ID || hits[0].Score < 0.999 {
			t.Errorf("what was written is not found: %v, error %v", hits, err)
		}
		if got, err := c.Get(ctx, []string{"d0007", "d0008"}); err != nil || len(got) != 1 || got[0].Document.Text != changed.Document.Text {
			t.Errorf("after a write there are %v, error %v", got, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openFixture(t, dir, io.Discard)
		if c, err = e.Open(ctx, "notes"); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// check compares all collections with their models, and their searches
// with those of new collections that hold the same.
func (f fixture) check(t *testing.T, e *embedded.Engine, writes int) {
	t.Helper()
	ctx := context.Background()
	fresh := open(t, t.TempDir())
	defer fresh.Close()
	infos, err := e.List(ctx)
	if err != nil || len(infos) != 3 {
		t.Fatalf("collections %v, error %v", infos, err)
	}
	for name, schema := range fixtureSchemas() {
		c, err := e.Open(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if info := c.Info(); info.Schema != schema || info.Created.IsZero() {
			t.Errorf("%s is made for %+v, at %s", name, info.Schema, info.Created)
		}
		m := f.model(name, writes)
		checkContents(t, name, c, m)
		same, err := fresh.Create(ctx, name, schema)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := same.Write(ctx, index.Batch{Upserts: slices.Collect(maps.Values(m))}); err != nil {
			t.Fatal(err)
		}
		more := enoughForWalks(name, c)
		for _, c := range []index.Collection{c, same} {
			if _, err := c.Write(ctx, index.Batch{Upserts: more}); err != nil {
				t.Fatal(err)
			}
		}
		compareSearches(t, name, c, same)
		var added index.Batch
		for _, e := range more {
			added.Deletes = append(added.Deletes, e.Document.ID)
		}
		if _, err := c.Write(ctx, added); err != nil {
			t.Fatal(err)
		}
	}
}

// enoughForWalks is what has to be written to the collection with a graph before a
// search of it goes through the graph: of fewer passages all are compared.
func enoughForWalks(name string, c index.Collection) []index.Entry {
	const passages = 2000
	var more []index.Entry
	if name == "graph" {
		for i := range passages - c.Info().Passages {
			more = append(more, fixtureEntry(fixtureSchema, 20_000+i, 0))
		}
	}
	return more
}

// checkContents looks at every document of c.
func checkContents(t *testing.T, name string, c index.Collection, m map[string]index.Entry) {
	t.Helper()
	ctx := context.Background()
	ids := slices.Sorted(maps.Keys(m))
	if got := c.Info().Documents; got != len(ids) {
		t.Errorf("%s has %d documents, want %d", name, got, len(ids))
	}
	got, err := c.Encoded(ctx, ids)
	if err != nil || len(got) != len(ids) {
		t.Fatalf("%s: %d documents, want %d, error %v", name, len(got), len(ids), err)
	}
	prints, err := c.Fingerprints(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		want := m[id]
		if !reflect.DeepEqual(got[i], want) {
			t.Fatalf("%s: document %+v, want %+v", name, got[i], want)
		}
		if !prints[i].OK || prints[i].Sum != want.Fingerprint {
			t.Fatalf("%s: fingerprint of %s is %v", name, id, prints[i])
		}
	}
	if listed, err := c.IDs(ctx, "", len(ids)+1, nil); err != nil || !slices.Equal(listed, ids) {
		t.Errorf("%s lists %d ids, want %d, error %v", name, len(listed), len(ids), err)
	}
}

// compareSearches asks two collections the same in every branch, in all
// documents and within filters. A graph may miss a few.
func compareSearches(t *testing.T, name string, c, want index.Collection) {
	t.Helper()
	ctx := context.Background()
	filters := []string{``, `{"must":[{"field":"group","in":[1,3]}]}`, `{"must":[{"field":"tags","in":["t2"]}],"must_not":[{"field":"open","in":[true]}]}`}
	missed, all := 0, 0
	for n := range 30 {
		probe := fixtureEntry(fixtureSchema, 5000+n, 0)
		for _, filter := range filters {
			method := index.Method("")
			q, wantQ := index.Query{K: 10, Method: &method}, index.Query{K: 10}
			if filter != "" {
				q.Allowed, wantQ.Allowed = resolveJSON(t, c, filter), resolveJSON(t, want, filter)
				if q.Allowed.Len() != wantQ.Allowed.Len() {
					t.Fatalf("%s: filter %s passes %d, want %d", name, filter, q.Allowed.Len(), wantQ.Allowed.Len())
				}
			}
			compare := func(branch braid.Branch, search func(index.Collection, index.Query) ([]braid.Hit, error)) {
				got, err := search(c, q)
				expected, wantErr := search(want, wantQ)
				if err := cmp.Or(err, wantErr); err != nil {
					t.Fatal(err)
				}
				if method == index.MethodGraph && branch == braid.Dense {
					all += len(expected)
					for _, h := range expected {
						if !slices.ContainsFunc(got, func(g braid.Hit) bool { return g.ID == h.ID && g.Passage == h.Passage }) {
							missed++
						}
					}
				} else if !slices.EqualFunc(got, expected, sameHit) {
					t.Fatalf("%s: %s search within %q finds\n%v, want\n%v", name, branch, filter, got, expected)
				}
			}
			compare(braid.Lexical, func(c index.Collection, q index.Query) ([]braid.Hit, error) {
				return c.SearchLexical(ctx, probe.Document.Text, q)
			})
			if name != "words" {
				compare(braid.Dense, func(c index.Collection, q index.Query) ([]braid.Hit, error) {
					return c.SearchDense(ctx, probe.Passages[0].Dense, q)
				})
				compare(braid.Sparse, func(c index.Collection, q index.Query) ([]braid.Hit, error) {
					return c.SearchSparse(ctx, probe.Passages[0].Sparse, q)
				})
			}
		}
	}
	if (name == "graph") != (all > 0) || missed*100 > all {
		t.Errorf("%s: a graph misses %d of %d", name, missed, all)
	}
}

// sameHit allows for the last bits of a sum, which depend on how an index adds.
func sameHit(a, b braid.Hit) bool {
	return a.ID == b.ID && a.Passage == b.Passage && math.Abs(a.Score-b.Score) < 1e-5
}

func resolveJSON(t *testing.T, c index.Collection, filter string) index.Set {
	t.Helper()
	var f braid.Filter
	if err := f.UnmarshalJSON([]byte(filter)); err != nil {
		t.Fatal(err)
	}
	set, err := c.Resolve(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestLaterVersions meets forms of versions that are not there yet. What has to
// be read is refused with both versions, what has not is named and built anew.
func TestLaterVersions(t *testing.T) {
	ctx := context.Background()
	refused := func(t *testing.T, dir string, want ...string) {
		t.Helper()
		e, err := embedded.Open(ctx, dir, embedded.Options{ReserveBytes: 1})
		if err == nil {
			_ = e.Close()
		}
		if braid.CodeOf(err) != braid.Conflict {
			t.Fatalf("error %v, want %s", err, braid.Conflict)
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not say %q", err, w)
			}
		}
	}
	change := func(t *testing.T, dir string, with func(*pebble.DB) error) {
		t.Helper()
		db, err := pebble.Open(filepath.Join(dir, "records"), &pebble.Options{FormatMajorVersion: pebble.FormatTableFormatV6, Logger: quiet{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(with(db), db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("folder", func(t *testing.T) {
		dir := unpackFixture(t, "v1")
		change(t, dir, func(db *pebble.DB) error { return db.Set([]byte("f"), []byte{200}, pebble.Sync) })
		refused(t, dir, "format 200", "reads 1")
	})
	t.Run("record", func(t *testing.T) {
		dir := unpackFixture(t, "v1")
		if err := os.RemoveAll(filepath.Join(dir, "indexes")); err != nil {
			t.Fatal(err)
		}
		change(t, dir, func(db *pebble.DB) error {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("d")})
			if err != nil || !it.First() {
				return errors.Join(err, errors.New("no record"))
			}
			key, record := bytes.Clone(it.Key()), bytes.Clone(it.Value())
			record[0] = 200
			return errors.Join(it.Close(), db.Set(key, record, pebble.Sync))
		})
		refused(t, dir, "format 200", "reads 1 to 2")
	})
	t.Run("saved", func(t *testing.T) {
		dir := unpackFixture(t, "v1")
		parts, err := filepath.Glob(filepath.Join(dir, "indexes", "*", "*"))
		if err != nil || len(parts) != 10 {
			t.Fatalf("parts %v, error %v", parts, err)
		}
		for _, path := range parts {
			var later bytes.Buffer
			w := snapshot.NewWriter(&later, filepath.Base(path), 200)
			if err := errors.Join(w.Close(), os.WriteFile(path, later.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		var said bytes.Buffer
		e := openFixture(t, dir, &said)
		defer e.Close()
		if n := strings.Count(said.String(), "in version 200, this program reads 1 to 2"); n != 2 {
			t.Errorf("%d of 2 collections name the versions:\n%s", n, &said)
		}
		fixtures["v1"].check(t, e, 3)
	})
}
