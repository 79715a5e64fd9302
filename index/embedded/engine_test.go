package embedded_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/contract"
	"github.com/braid-search/braid/index/embedded"
)

func TestContract(t *testing.T) {
	contract.Run(t, func(t *testing.T, dir string) index.Engine { return open(t, dir) })
}

// TestContractWithGraph has dense vectors in a graph from the first on.
func TestContractWithGraph(t *testing.T) {
	contract.Run(t, func(t *testing.T, dir string) index.Engine {
		e, err := embedded.Open(context.Background(), dir, embedded.Options{GraphFrom: 1})
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "braid")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	engine, err := embedded.Open(ctx, dir, embedded.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	notes, err := engine.Create(ctx, "notes", index.Schema{}) // words only
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = notes.Write(ctx, index.Batch{Upserts: []index.Entry{
		index.Whole(braid.Document{ID: "1", Text: "replace the pump seal"}, [32]byte{}),
		index.Whole(braid.Document{ID: "2", Text: "drain the tank"}, [32]byte{}),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	hits, err := notes.SearchLexical(ctx, "pump seals", index.Query{K: 10})
	fmt.Println(len(hits), hits[0].ID, err)
	// Output: 1 1 <nil>
}

func open(t testing.TB, dir string) *embedded.Engine {
	t.Helper()
	e, err := embedded.Open(context.Background(), dir, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const dimensions = 384

var schema = index.Schema{
	Dense:      index.ModelRef{Name: "d", Digest: "1"},
	Dimensions: dimensions,
	Sparse:     index.ModelRef{Name: "s", Digest: "1"},
	Pair:       index.ModelRef{Name: "p", Digest: "1"},
}

// entryOf makes an entry of real size whose encodings follow from its text: 384
// dimensions, 120 sparse weights, a token for every four letters.
func entryOf(id, text string) index.Entry {
	sum := sha256.Sum256([]byte(text))
	random := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
	e := index.Whole(braid.Document{ID: id, Text: text, Payload: fmt.Appendf(nil, `{"id":%q}`, id)}, sum)
	p := &e.Passages[0]
	var norm float64
	for range dimensions {
		x := random.NormFloat64()
		norm += x * x
		p.Dense = append(p.Dense, float32(x))
	}
	for i := range p.Dense {
		p.Dense[i] /= float32(math.Sqrt(norm))
	}
	for _, i := range random.Perm(30_522)[:120] {
		p.Sparse.Indices = append(p.Sparse.Indices, uint32(i))
		p.Sparse.Values = append(p.Sparse.Values, random.Float32()+0.01)
	}
	slices.Sort(p.Sparse.Indices)
	for range len(text)/4 + 1 {
		p.Tokens = append(p.Tokens, random.Uint32N(30_522))
	}
	return e
}

// splitOf makes an entry of n passages, each of which holds text.
func splitOf(id, text string, n int) index.Entry {
	whole := entryOf(id, text)
	e := index.Entry{Document: whole.Document, Fingerprint: whole.Fingerprint}
	e.Document.Format = braid.FormatMarkdown
	for i := range n {
		p := entryOf(id, fmt.Sprintf("%s part%d", text, i)).Passages[0]
		p.Section = fmt.Sprintf("part%d", i)
		p.Text, p.Start, p.End = p.Section+" "+text, 0, len(text)
		e.Passages = append(e.Passages, p)
	}
	return e
}

// TestMemoryFollowsSize replaces all documents by others many times. Every now
// and then the branches are built anew meanwhile.
func TestMemoryFollowsSize(t *testing.T) {
	ctx := context.Background()
	e := open(t, t.TempDir())
	defer e.Close()
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		t.Fatal(err)
	}
	var least, most int64
	var old []string
	for round := range 60 {
		b := index.Batch{Deletes: old}
		old = nil
		for i := range 50 {
			id := fmt.Sprintf("%d-%d", round, i)
			b.Upserts = append(b.Upserts, entryOf(id, "text "+id))
			old = append(old, id)
		}
		if _, err := c.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
		for i, entry := range b.Upserts {
			hits, err := c.SearchDense(ctx, entry.Passages[0].Dense, index.Query{K: 100})
			if err != nil || len(hits) != 50 || hits[0].ID != old[i] {
				t.Fatalf("round %d: found %d documents, first %v, error %v", round, len(hits), hits[0], err)
			}
		}
		var total int64
		for _, bytes := range c.Info().MemoryBytes {
			total += bytes
		}
		if round == 2 {
			least = total
		}
		most = max(most, total)
	}
	// 3,000 documents were written; at most some hundred should be held.
	if most > 4*least {
		t.Errorf("50 documents take up to %d bytes in 60 rounds, %d after 3", most, least)
	}
}

// TestLossIsReported cuts the newest log of an engine that was not closed.
func TestLossIsReported(t *testing.T) {
	ctx := context.Background()
	live, dir := t.TempDir(), t.TempDir()
	e := open(t, live)
	defer e.Close()
	c, err := e.Create(ctx, "notes", schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2"} {
		if _, err := c.Write(ctx, index.Batch{Upserts: []index.Entry{entryOf(id, id)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "records", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v, error %v", logs, err)
	}
	info, err := os.Stat(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(logs[0], info.Size()-1); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cut, err := embedded.Open(ctx, dir, embedded.Options{Log: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	loss := cut.Loss()
	if loss == nil || loss.Commits != 1 || loss.Collection != "notes" || loss.Upserts != 1 || !strings.Contains(said.String(), filepath.Base(logs[0])) {
		t.Errorf("loss %+v, log %q", loss, said.String())
	}
}

// TestOpenReportsProgress reads more documents than go to the branches at once.
func TestOpenReportsProgress(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	e := open(t, dir)
	fillCollection(t, e, "t", 300)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	var seen []embedded.Progress
	e, err := embedded.Open(ctx, dir, embedded.Options{Progress: func(p embedded.Progress) { seen = append(seen, p) }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	want := []embedded.Progress{{Collection: "t", Done: 128, Total: 300}, {Collection: "t", Done: 256, Total: 300}, {Collection: "t", Done: 300, Total: 300}}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("progress %+v, want %+v", seen, want)
	}
}

func TestOpenStopsWithContext(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir)
	fillCollection(t, e, "t", 10)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := embedded.Open(ctx, dir, embedded.Options{}); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("error %v, want %s", err, braid.Canceled)
	}
	if err := open(t, dir).Close(); err != nil { // the folder was let go
		t.Fatal(err)
	}
}

// TestCallsDuringDropAndClose runs every kind of call while collections come
// and go and the engine closes: each succeeds or says why not.
func TestCallsDuringDropAndClose(t *testing.T) {
	ctx := context.Background()
	e := open(t, t.TempDir())
	var calls, ddl sync.WaitGroup
	fine := func(err error, codes ...braid.Code) {
		if err != nil && !slices.Contains(codes, braid.CodeOf(err)) {
			t.Errorf("unexpected error (%s): %v", braid.CodeOf(err), err)
		}
	}
	doc, q := entryOf("1", "alfa"), index.Query{K: 3}
	for range 4 {
		calls.Go(func() {
			for range 200 {
				c, err := e.Open(ctx, "t")
				fine(err, braid.NotFound, braid.Unavailable)
				if err != nil {
					continue
				}
				_, err = c.Write(ctx, index.Batch{Upserts: []index.Entry{doc}})
				fine(err, braid.NotFound, braid.Unavailable)
				_, err = c.SearchDense(ctx, doc.Passages[0].Dense, q)
				fine(err, braid.NotFound, braid.Unavailable)
				_, err = c.SearchLexical(ctx, "alfa", q)
				fine(err, braid.NotFound, braid.Unavailable)
				_, err = c.Get(ctx, []string{"1"})
				fine(err, braid.NotFound, braid.Unavailable)
				c.Info()
			}
		})
	}
	for range 2 {
		ddl.Go(func() {
			for range 20 {
				_, err := e.Create(ctx, "t", schema)
				fine(err, braid.Conflict)
				fine(e.Drop(ctx, "t"), braid.NotFound)
			}
		})
	}
	ddl.Wait()
	_, err := e.Create(ctx, "t", schema)
	fine(err, braid.Conflict)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	calls.Wait()
}

// fillCollection makes a collection of n documents of about 900 bytes of text.
func fillCollection(t testing.TB, e *embedded.Engine, name string, n int) index.Collection {
	t.Helper()
	c, err := e.Create(context.Background(), name, schema)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(51, 52))
	for first := 0; first < n; first += 250 {
		var b index.Batch
		for i := first; i < min(n, first+250); i++ {
			var text strings.Builder
			for range 150 {
				fmt.Fprintf(&text, "%c%c%c%c ", 'a'+rune(random.ExpFloat64()*4)%26, 'a'+rune(random.IntN(26)), 'a'+rune(random.ExpFloat64()*4)%26, 'a'+rune(random.IntN(5)))
			}
			b.Upserts = append(b.Upserts, entryOf(fmt.Sprintf("doc-%06d", i), text.String()))
		}
		if _, err := c.Write(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// BenchmarkOpen opens a folder of 20,000 documents.
func BenchmarkOpen(b *testing.B) {
	const n = 20_000
	dir := b.TempDir()
	e := open(b, dir)
	c := fillCollection(b, e, "t", n)
	var memory int64
	for _, bytes := range c.Info().MemoryBytes {
		memory += bytes
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := open(b, dir).Close(); err != nil {
			b.Fatal(err)
		}
	}
	var disk int64
	err := filepath.WalkDir(filepath.Join(dir, "records"), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		disk += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(disk)/n, "disk-B/doc")
	b.ReportMetric(float64(memory)/n, "mem-B/doc")
}

// BenchmarkWrite stores batches of 100 new documents, and replaces them.
func BenchmarkWrite(b *testing.B) {
	e := open(b, b.TempDir())
	defer e.Close()
	c := fillCollection(b, e, "t", 5_000)
	batch := index.Batch{}
	for i := range 100 {
		batch.Upserts = append(batch.Upserts, entryOf(fmt.Sprint("new-", i), strings.Repeat("some words of text ", 50)))
	}
	b.Run("100", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.Write(context.Background(), batch); err != nil {
				b.Fatal(err)
			}
		}
	})
}
