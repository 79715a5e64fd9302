package embedded_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
)

// A graph that was made in the background is saved, also when nothing is written
// afterwards: a collection whose saved form lacks it would make it at each start.
func TestGraphMadeInTheBackgroundIsSaved(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	use := func(graphFrom int, do func(index.Collection)) {
		e, err := embedded.Open(ctx, dir, embedded.Options{GraphFrom: graphFrom})
		if err != nil {
			t.Fatal(err)
		}
		c, err := e.Open(ctx, "t")
		if err != nil {
			if c, err = e.Create(ctx, "t", schema); err != nil {
				t.Fatal(err)
			}
		}
		do(c)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	const documents = 3000
	query := entryOf("d0", "text").Passages[0].Dense
	use(-1, func(c index.Collection) {
		var b index.Batch
		for i := range documents {
			id := fmt.Sprint("d", i)
			b.Upserts = append(b.Upserts, entryOf(id, id+" text"))
		}
		if _, err := c.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	})
	use(documents, func(c index.Collection) {
		awaitGraph(t, c, query)
	})
	use(documents, func(c index.Collection) {
		if m := methodOf(t, c, query); m != index.MethodGraph {
			t.Errorf("opened again, the collection is searched by %q, want %q", m, index.MethodGraph)
		}
	})
}

// methodOf is how c is searched for the vectors nearest to query.
func methodOf(t *testing.T, c index.Collection, query []float32) (m index.Method) {
	t.Helper()
	if _, err := c.SearchDense(context.Background(), query, index.Query{K: 1, Method: &m}); err != nil {
		t.Fatal(err)
	}
	return m
}

// awaitGraph returns when c, for which a graph is made in the background, has it.
func awaitGraph(t *testing.T, c index.Collection, query []float32) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); methodOf(t, c, query) != index.MethodGraph; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no graph was made in the background")
		}
	}
}
