package embedded_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// TestPatchesAreReplayedInPlace kills a process after changes of payloads, alone
// and among others: what is opened then has them, and of what is patched only the
// filter is touched.
func TestPatchesAreReplayedInPlace(t *testing.T) {
	const documents = 600 // of two passages
	ctx, random := context.Background(), rand.New(rand.NewPCG(101, 102))
	e, c, dir := patchedCollection(t, documents)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e, said := opened(t, dir)
	defer func() { _ = e.Close() }()
	if _, ok := fromSaved(said); !ok {
		t.Fatalf("not opened from what is saved:\n%s", said)
	}
	c, err := e.Open(ctx, "t")
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{} // what documents have been patched or written to
	write := func(b index.Batch) {
		t.Helper()
		if _, err := c.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	written := map[string]bool{} // or deleted
	for round := range 40 {
		var b index.Batch
		for _, i := range random.Perm(documents / 4)[:5] {
			id := fmt.Sprintf("d%05d", i)
			if _, deleted := of[id]; deleted && of[id] == "" {
				continue
			}
			of[id] = []string{"b", "c"}[random.IntN(2)]
			switch payload := fmt.Sprintf(`{"of":%q,"round":%d}`, of[id], round); i % 10 {
			case 0:
				of[id], written[id] = "", true
				b.Deletes = append(b.Deletes, id)
			case 1:
				written[id] = true
				entry := foxEntry(id)
				entry.Document.Payload = []byte(payload)
				b.Upserts = append(b.Upserts, entry)
			default:
				change := patchTo(id, payload)
				prints, err := c.Fingerprints(ctx, []string{id})
				if err != nil {
					t.Fatal(err)
				}
				change.From, change.Fingerprint = prints[0].Sum, [32]byte{byte(round), 1}
				b.Payloads = append(b.Payloads, change)
			}
		}
		write(b)
	}
	// One is written and then patched, one patched and then written.
	write(index.Batch{Upserts: []index.Entry{foxEntry("d00590")}, Payloads: []index.PayloadChange{patchTo("d00591", `{"of":"b"}`)}})
	write(index.Batch{Upserts: []index.Entry{foxEntry("d00591")}, Payloads: []index.PayloadChange{patchTo("d00590", `{"of":"b"}`)}})
	written["d00590"], written["d00591"] = true, true
	of["d00590"], of["d00591"] = "b", "a"
	want := map[string]int{"a": documents - len(of)}
	for _, who := range of {
		want[who]++
	}
	check := func(when string, c index.Collection) {
		t.Helper()
		for _, who := range []string{"a", "b", "c"} {
			if n := findable(t, c, passedTo(t, c, who)); n != want[who] {
				t.Errorf("%s: %d documents pass to %s, want %d", when, n, who, want[who])
			}
		}
	}
	check("before", c)

	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	again, said := opened(t, killed)
	defer again.Close()
	if all, in := fmt.Sprintf("changed_since=%d\n", len(of)), fmt.Sprintf("patched_since=%d ", len(of)-len(written)); !strings.Contains(said, all) || !strings.Contains(said, in) {
		t.Errorf("opened without %q and %q:\n%s", in, all, said)
	}
	if c, err = again.Open(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	check("after a kill", c)
	v := braid.IntegerOf(39)
	last, err := c.Resolve(ctx, braid.Filter{Must: []braid.Clause{braid.Condition{Field: "round", Match: &v}}})
	if err != nil {
		t.Fatal(err)
	}
	if n := findable(t, c, last); n == 0 || n > 5 {
		t.Errorf("%d documents have the last round's payload, want 1 to 5", n)
	}
}

// foxEntry is a document as patchedCollection has them.
func foxEntry(id string) index.Entry {
	p := index.Passage{Text: "quick fox", Start: 0, End: 9, Dense: make([]float32, churnDimensions), Sparse: braid.SparseVector{Indices: []uint32{7}, Values: []float32{1}}}
	p.Dense[0] = 1
	return index.Entry{Document: braid.Document{ID: id, Text: "quick fox", Payload: []byte(`{"of":"a"}`)}, Passages: []index.Passage{p, p}}
}
