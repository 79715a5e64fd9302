package embedded_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/testvec"
)

// BenchmarkPatch changes the payload of one document of 25,000, which are in a
// graph, a write: one after another and from 16 callers.
func BenchmarkPatch(b *testing.B) {
	const n, dimensions = 25_000, 384
	ctx, random := context.Background(), rand.New(rand.NewPCG(1, 2))
	dir := b.TempDir()
	e := open(b, dir)
	defer func() { _ = e.Close() }()
	c, err := e.Create(ctx, "t", index.Schema{Dense: index.ModelRef{Name: "d", Digest: "1"}, Dimensions: dimensions, Sparse: index.ModelRef{Name: "s", Digest: "1"}})
	if err != nil {
		b.Fatal(err)
	}
	for first := 0; first < n; first += 500 {
		var batch index.Batch
		for i := first; i < first+500; i++ {
			batch.Upserts = append(batch.Upserts, drawDocument(random, i, dimensions))
		}
		if _, err := c.Write(ctx, batch); err != nil {
			b.Fatal(err)
		}
	}
	// What goes on in the background comes to its end.
	for method := index.MethodExact; method != index.MethodGraph; time.Sleep(50 * time.Millisecond) {
		if _, err := c.SearchDense(ctx, drawDocument(random, 0, dimensions).Passages[0].Dense, index.Query{K: 1, Method: &method}); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	e = open(b, dir)
	if c, err = e.Open(ctx, "t"); err != nil {
		b.Fatal(err)
	}
	var next atomic.Int64
	prints := make([]atomic.Uint32, n)
	patch := func() {
		k := next.Add(1)
		i := int(k * 7919 % n)
		change := index.PayloadChange{ID: fmt.Sprint("d", i), From: [32]byte{0: byte(prints[i].Load())}}
		now := prints[i].Add(1)
		change.Fingerprint[0] = byte(now)
		change.Payload = json.RawMessage(fmt.Sprintf(`{"tenant":"t%d","price":%d}`, i%20, k))
		if _, err := c.Write(ctx, index.Batch{Payloads: []index.PayloadChange{change}}); err != nil {
			b.Error(err)
		}
	}
	for _, callers := range []int{1, 16} {
		b.Run(fmt.Sprint("callers-", callers), func(b *testing.B) {
			var wg sync.WaitGroup
			left := atomic.Int64{}
			left.Store(int64(b.N))
			for range callers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						patch()
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "patches/s")
		})
	}
}

// drawDocument returns one with 120 words, a vector of length 1 and 120 tokens.
func drawDocument(random *rand.Rand, i, dimensions int) index.Entry {
	p := index.Passage{Dense: testvec.Unit(random, dimensions)}
	var words []string
	for j := range 120 {
		words = append(words, fmt.Sprint("w", int(math.Exp(random.Float64()*10))))
		p.Sparse.Indices = append(p.Sparse.Indices, uint32(j*250+random.IntN(250)))
		p.Sparse.Values = append(p.Sparse.Values, 0.1+random.Float32())
	}
	d := braid.Document{ID: fmt.Sprint("d", i), Text: strings.Join(words, " "), Payload: fmt.Appendf(nil, `{"tenant":"t%d","price":%d}`, i%20, i)}
	return index.Entry{Document: d, Passages: []index.Passage{p}}
}
