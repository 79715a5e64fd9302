package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/testvec"
)

// TestVacuumAfterCompaction deletes half of a collection while its first graph is
// made, and writes no more: the graph is mended all the same.
func TestVacuumAfterCompaction(t *testing.T) {
	const documents = 3000
	ctx, random := context.Background(), rand.New(rand.NewPCG(97, 98))
	vacuumed := &heard{[]byte("index: vacuumed"), make(chan struct{}, 1)}
	e, err := embedded.Open(ctx, t.TempDir(), embedded.Options{GraphFrom: documents, Log: debugLog(vacuumed)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	c, err := e.Create(ctx, "t", index.Schema{Dense: index.ModelRef{Name: "d", Digest: "1"}, Dimensions: vacuumDimensions})
	if err != nil {
		t.Fatal(err)
	}
	var all, half index.Batch
	for i := range documents {
		e := index.Whole(braid.Document{ID: fmt.Sprint("d", i), Text: "a"}, [32]byte{})
		e.Passages[0].Dense = testvec.Unit(random, vacuumDimensions)
		all.Upserts = append(all.Upserts, e)
		if i%2 > 0 {
			half.Deletes = append(half.Deletes, e.Document.ID)
		}
	}
	for _, b := range []index.Batch{all, half} {
		if _, err := c.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	<-vacuumed.got
}
