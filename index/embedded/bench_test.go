package embedded_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

var documents = flag.Int("documents", 20_000, "documents of the collections that are measured")

// made makes entry n of a collection of real size: 384 dimensions near one of
// some thousand subjects, 100 sparse weights and 60 words, both mostly frequent
// ones.
func made(n int) index.Entry {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	subject := rand.New(rand.NewPCG(random.Uint64N(4000), 8))
	e := index.Whole(braid.Document{ID: fmt.Sprintf("document-%d", n), Payload: fmt.Appendf(nil, `{"tenant":"t%d","year":%d}`, n%50, 1990+n%40)}, [32]byte{1})
	p := &e.Passages[0]
	var norm float64
	p.Dense = make([]float32, dimensions)
	for i := range p.Dense {
		x := subject.NormFloat64() + 0.6*random.NormFloat64()
		norm += x * x
		p.Dense[i] = float32(x)
	}
	for i := range p.Dense {
		p.Dense[i] /= float32(math.Sqrt(norm))
	}
	frequent := func(n int) int { return int(math.Pow(float64(n), random.Float64())) - 1 }
	indices := map[uint32]bool{}
	for len(indices) < 100 {
		indices[uint32(frequent(30_522))] = true
	}
	for i := range indices {
		p.Sparse.Indices = append(p.Sparse.Indices, i)
	}
	slices.Sort(p.Sparse.Indices)
	for range p.Sparse.Indices {
		p.Sparse.Values = append(p.Sparse.Values, 0.05+2*random.Float32())
	}
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprintf("w%da", frequent(200_000))
	}
	e.Document.Text = strings.Join(words, " ")
	return e
}

// BenchmarkCollection writes a collection of -documents documents, closes it,
// and opens it again, which is what is timed.
func BenchmarkCollection(b *testing.B) {
	ctx, dir := context.Background(), b.TempDir()
	e := open(b, dir)
	c, err := e.Create(ctx, "t", schema)
	if err != nil {
		b.Fatal(err)
	}
	var writing, longest time.Duration
	const batch = 1000
	for first := 0; first < *documents; first += batch {
		entries := make([]index.Entry, 0, batch)
		for n := first; n < min(first+batch, *documents); n++ {
			entries = append(entries, made(n))
		}
		begun := time.Now()
		if _, err := c.Write(ctx, index.Batch{Upserts: entries}); err != nil {
			b.Fatal(err)
		}
		took := time.Since(begun)
		writing += took
		longest = max(longest, took)
	}
	info := c.Info()
	begun := time.Now()
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	closing := time.Since(begun)
	for b.Loop() {
		e, err := embedded.Open(ctx, dir, embedded.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if c, err = e.Open(ctx, "t"); err != nil || c.Info().Documents != *documents {
			b.Fatalf("%d documents, error %v", c.Info().Documents, err)
		}
		searched(b, c)
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	each := func(bytes int64) float64 { return float64(bytes) / float64(*documents) }
	for branch, bytes := range info.MemoryBytes {
		b.ReportMetric(each(bytes), string(branch)+"-B/document")
	}
	b.ReportMetric(each(info.FilterBytes), "filter-B/document")
	b.ReportMetric(each(size(b, filepath.Join(dir, "records"))), "records-B/document")
	b.ReportMetric(each(size(b, filepath.Join(dir, "indexes"))), "indexes-B/document")
	b.ReportMetric(float64(*documents)/writing.Seconds(), "written/s")
	b.ReportMetric(longest.Seconds(), "longest-write-s")
	b.ReportMetric(closing.Seconds(), "close-s")
}

// searched reports what the branches take for some queries.
func searched(b *testing.B, c index.Collection) {
	b.Helper()
	ctx, q := context.Background(), index.Query{K: 100}
	took := map[string][]float64{}
	timed := func(name string, search func() error) {
		begun := time.Now()
		if err := search(); err != nil {
			b.Fatal(err)
		}
		took[name] = append(took[name], time.Since(begun).Seconds()*1000)
	}
	for n := range 60 {
		query := made(1_000_000_000 + n)
		timed("dense", func() error { _, err := c.SearchDense(ctx, query.Passages[0].Dense, q); return err })
		short := braid.SparseVector{Indices: query.Passages[0].Sparse.Indices[:25], Values: query.Passages[0].Sparse.Values[:25]}
		timed("sparse", func() error { _, err := c.SearchSparse(ctx, short, q); return err })
		text := strings.Join(strings.Fields(query.Document.Text)[:6], " ")
		timed("lexical", func() error { _, err := c.SearchLexical(ctx, text, q); return err })
	}
	for name, ms := range took {
		slices.Sort(ms)
		b.ReportMetric(ms[len(ms)/2], name+"-p50-ms")
	}
}

// size is how many bytes the files below dir have.
func size(b *testing.B, dir string) (total int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return total
}
