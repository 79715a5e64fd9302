package embedded_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/testvec"
)

// heard is a log that tells of lines with a text.
type heard struct {
	text []byte
	got  chan struct{} // takes one
}

func (h *heard) Write(line []byte) (int, error) {
	if bytes.Contains(line, h.text) {
		select {
		case h.got <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

const vacuumDimensions = 32

// TestVacuum replaces half of the documents of a collection with a graph, while
// others search, until the graph was mended in the background, and compares
// searches with brute force, also after opening again.
func TestVacuum(t *testing.T) {
	const documents, step = 4000, 100
	ctx, dir, random := context.Background(), t.TempDir(), rand.New(rand.NewPCG(95, 96))
	vacuumed := &heard{[]byte("index: vacuumed"), make(chan struct{}, 1)}
	opts := embedded.Options{GraphFrom: 1, Log: debugLog(vacuumed)}
	e, err := embedded.Open(ctx, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Create(ctx, "t", index.Schema{Dense: index.ModelRef{Name: "d", Digest: "1"}, Dimensions: vacuumDimensions})
	if err != nil {
		t.Fatal(err)
	}
	vectors := map[string][]float32{}
	write := func(from, to int) {
		t.Helper()
		for first := from; first < to; first += step {
			var b index.Batch
			for i := range step {
				e := index.Whole(braid.Document{ID: fmt.Sprint("d", first+i), Text: "a"}, [32]byte{})
				e.Passages[0].Dense = testvec.Unit(random, vacuumDimensions)
				vectors[e.Document.ID] = e.Passages[0].Dense
				b.Upserts = append(b.Upserts, e)
			}
			if _, err := c.Write(ctx, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(0, documents)
	// Else the graph may be made of what is written later, with nothing to mend.
	awaitGraph(t, c, vectors["d0"])
	select {
	case <-vacuumed.got:
		t.Fatal("a graph was vacuumed that nothing was removed from")
	default:
	}

	searching, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	queries := [][]float32{testvec.Unit(random, vacuumDimensions), testvec.Unit(random, vacuumDimensions)}
	for _, query := range queries {
		others.Go(func() {
			for searching.Err() == nil {
				if hits, err := c.SearchDense(ctx, query, index.Query{K: 10}); err != nil || len(hits) != 10 {
					t.Errorf("search beside a vacuum: %d hits, want 10, error %v", len(hits), err)
					return
				}
			}
		})
	}
	write(0, documents/2)
	<-vacuumed.got
	stop()
	others.Wait()
	recallOfGraph(t, c, vectors, random)

	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = embedded.Open(ctx, dir, opts); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	recallOfGraph(t, c, vectors, random)
}

// recallOfGraph asserts that searches through the graph find 0.97 of the ten
// best.
func recallOfGraph(t *testing.T, c index.Collection, vectors map[string][]float32, random *rand.Rand) {
	t.Helper()
	const queries, k = 100, 10
	ids := slices.Sorted(maps.Keys(vectors))
	found := 0
	for range queries {
		query := testvec.Unit(random, vacuumDimensions)
		score := map[string]float64{}
		for id, v := range vectors {
			for i := range v {
				score[id] += float64(v[i]) * float64(query[i])
			}
		}
		slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
		var method index.Method
		hits, err := c.SearchDense(context.Background(), query, index.Query{K: k, Method: &method})
		if err != nil || len(hits) != k || method != index.MethodGraph {
			t.Fatalf("%d hits, want %d, by %s, error %v", len(hits), k, method, err)
		}
		for _, hit := range hits {
			if math.Abs(hit.Score-score[hit.ID]) > 1e-6 {
				t.Fatalf("%s has score %v, want %v", hit.ID, hit.Score, score[hit.ID])
			}
			if slices.Contains(ids[:k], hit.ID) {
				found++
			}
		}
	}
	t.Logf("recall %.4f", float64(found)/(queries*k))
	if recall := float64(found) / (queries * k); recall < 0.97 {
		t.Errorf("recall %.4f, want 0.97", recall)
	}
}

// TestClosedDuringVacuum closes an engine right after the write that a vacuum
// follows. Nothing may be left running, and nothing may be lost.
func TestClosedDuringVacuum(t *testing.T) {
	const documents = 4500 // or all would be compared
	ctx, dir, random := context.Background(), t.TempDir(), rand.New(rand.NewPCG(97, 98))
	compacted := &heard{[]byte("index: compacted"), make(chan struct{}, 1)}
	opts := embedded.Options{GraphFrom: 1, Log: debugLog(compacted)}
	e, err := embedded.Open(ctx, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := e.Create(ctx, "t", index.Schema{Dense: index.ModelRef{Name: "d", Digest: "1"}, Dimensions: vacuumDimensions})
	if err != nil {
		t.Fatal(err)
	}
	var b, removal index.Batch
	vectors := map[string][]float32{}
	for i := range documents {
		e := index.Whole(braid.Document{ID: fmt.Sprint("d", i), Text: "a"}, [32]byte{})
		e.Passages[0].Dense = testvec.Unit(random, vacuumDimensions)
		b.Upserts = append(b.Upserts, e)
		if i%3 == 0 {
			removal.Deletes = append(removal.Deletes, e.Document.ID)
		} else {
			vectors[e.Document.ID] = e.Passages[0].Dense
		}
	}
	first := index.Batch{Upserts: b.Upserts[:1]} // which a compaction follows: to a graph
	for i, b := range []index.Batch{first, b, removal} {
		if _, err := c.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-compacted.got
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if e, err = embedded.Open(ctx, dir, opts); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if got := c.Info().Documents; got != len(vectors) {
		t.Errorf("%d documents, want %d", got, len(vectors))
	}
	recallOfGraph(t, c, vectors, random)
}
