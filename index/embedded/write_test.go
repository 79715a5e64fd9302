package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// TestWritesSideBySide has many writers, each with documents of its own and one
// that all write and delete. What a writer was told is what is there, also
// after opening again.
func TestWritesSideBySide(t *testing.T) {
	const writers, rounds = 12, 30
	ctx, dir := context.Background(), t.TempDir()
	e := open(t, dir)
	c, err := e.Create(ctx, "t", index.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	words := func(id, text string) index.Entry {
		return index.Whole(braid.Document{ID: id, Text: text}, [32]byte{})
	}
	texts := make([]map[string]string, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			random, own := rand.New(rand.NewPCG(uint64(w), 0)), map[string]string{}
			texts[w] = own
			for round := range rounds {
				id := fmt.Sprintf("w%d-%d", w, random.IntN(8))
				_, there := own[id]
				var b index.Batch
				switch {
				case there && random.IntN(3) == 0:
					b.Deletes = []string{id, "shared"}
				default:
					b.Upserts = []index.Entry{words(id, fmt.Sprintf("round%d", round)), words("shared", fmt.Sprintf("writer%d", w))}
				}
				got, err := c.Write(ctx, b)
				if err != nil {
					t.Error(err)
					return
				}
				if len(b.Deletes) > 0 {
					delete(own, id)
					if got.Deleted < 1 || got.Created+got.Replaced > 0 {
						t.Errorf("deleting %s comes to %+v", id, got)
					}
					continue
				}
				own[id] = b.Upserts[0].Document.Text
				if got.Created+got.Replaced != 2 || got.Deleted > 0 || there && got.Replaced < 1 {
					t.Errorf("writing %s, there %v, comes to %+v", id, there, got)
				}
			}
		})
	}
	wg.Wait()
	check := func() {
		t.Helper()
		shared, err := c.Get(ctx, []string{"shared"})
		if err != nil {
			t.Fatal(err)
		}
		want := len(shared)
		for w, own := range texts {
			want += len(own)
			for i := range 8 {
				id := fmt.Sprintf("w%d-%d", w, i)
				text, there := own[id]
				got, err := c.Get(ctx, []string{id})
				if err != nil || there != (len(got) == 1) || there && got[0].Document.Text != text {
					t.Errorf("%s is %v, want %q, there %v; error %v", id, got, text, there, err)
				}
			}
		}
		if got := c.Info().Documents; got != want {
			t.Errorf("%d documents, want %d", got, want)
		}
	}
	check()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	defer e.Close()
	if c, err = e.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	check()
}

// TestOneFaultyWriteAmongMany gives up some writes and makes some impossible;
// the others, which wait with them, are done.
func TestOneFaultyWriteAmongMany(t *testing.T) {
	ctx := context.Background()
	e := open(t, t.TempDir())
	defer e.Close()
	c, err := e.Create(ctx, "t", index.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			entry := index.Whole(braid.Document{ID: fmt.Sprint(i), Text: "text", Payload: []byte(`{"tenant":1}`)}, [32]byte{})
			b, in, want := index.Batch{Upserts: []index.Entry{entry}}, ctx, braid.Code("")
			switch i % 6 {
			case 0:
				in, want = ended, braid.Canceled
			case 1:
				entry.Document.ID = ""
				b.Upserts[0] = entry
				want = braid.InvalidArgument
			case 2:
				b = index.Batch{Payloads: []index.PayloadChange{{ID: "none", Payload: []byte(`{}`)}}}
				want = braid.Conflict
			}
			if _, err := c.Write(in, b); (err == nil) != (want == "") || err != nil && braid.CodeOf(err) != want {
				t.Errorf("write %d: error %v, want %s", i, err, want)
			}
		})
	}
	wg.Wait()
	if got := c.Info().Documents; got != 30 {
		t.Errorf("%d documents, want 30", got)
	}
}

// BenchmarkWrites stores one document a write, by one writer and by sixteen.
func BenchmarkWrites(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			ctx := context.Background()
			e := open(b, b.TempDir())
			defer e.Close()
			c, err := e.Create(ctx, "t", schema)
			if err != nil {
				b.Fatal(err)
			}
			entries := make([]index.Entry, 512)
			for i := range entries {
				entries[i] = entryOf(fmt.Sprint(i), fmt.Sprint("text ", i))
			}
			var next int
			var mu sync.Mutex
			var wg sync.WaitGroup
			begun := time.Now()
			b.ResetTimer()
			for range writers {
				wg.Go(func() {
					for {
						mu.Lock()
						i := next
						next++
						mu.Unlock()
						if i >= b.N {
							return
						}
						if _, err := c.Write(ctx, index.Batch{Upserts: entries[i%len(entries):][:1:1]}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/time.Since(begun).Seconds(), "writes/s")
		})
	}
}
