package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/index/topk"
)

func TestOrdered(t *testing.T) {
	for _, n := range []int{0, 1, 4096, 10_000} {
		next := 0
		for i, v := range ordered(n, func(i int) int { return 3 * i }) {
			if i != next || v != 3*i {
				t.Fatalf("%d is %d", i, v)
			}
			next++
		}
		if next != n {
			t.Errorf("%d values, want %d", next, n)
		}
	}
}

func TestQuantile(t *testing.T) {
	values := []float64{4, 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.5: 2, 0.51: 3, 0.95: 4, 1: 4} {
		if got := report.Quantile(values, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := ratio([][]float64{{2}, {6}, {4}}, [][]float64{{1}, {2}, {4}}, 0.5); got != (report.Figure{Median: 2, Min: 1, Max: 3}) {
		t.Errorf("ratio %v", got)
	}
}

func TestDiffer(t *testing.T) {
	want := []topk.Match{{Ord: 1, Score: 2}, {Ord: 3, Score: 1}}
	if err := differ(want, want, 0); err != nil {
		t.Error(err)
	}
	for name, got := range map[string][]topk.Match{
		"shorter": want[:1], "other score": {{Ord: 1, Score: 2}, {Ord: 3, Score: 1.1}}, "other passage": {{Ord: 1, Score: 2}, {Ord: 4, Score: 1}},
	} {
		if differ(got, want, 0) == nil {
			t.Errorf("%s: no difference", name)
		}
	}
	if err := differ([]topk.Match{{Ord: 9, Score: 2.05}, {Ord: 3, Score: 1}}, want, 0.1); err != nil {
		t.Errorf("within tolerance: %v", err)
	}
}

func TestArrayFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	if err := writeArray(path, "<i4", []int32{7, -1}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, ok := strings.CutPrefix(string(b), "\x93NUMPY\x01\x00")
	size := int(binary.LittleEndian.Uint16([]byte(header)))
	if !ok || (10+size)%64 != 0 || !bytes.Equal(b[10+size:], []byte{7, 0, 0, 0, 255, 255, 255, 255}) || !strings.Contains(header, "'shape': (2,)") {
		t.Errorf("%q", b)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"prepare", "more"}, {"-out", "x", "-rounds", "0"}, {"-sizes", "0"}, {"-sizes", "1,x"}, {"-parts", "dense"}} {
		var stderr bytes.Buffer
		if err := run(context.Background(), args, &stderr); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func TestReportIsMadeOfBothRuns(t *testing.T) {
	r := results{
		Index:    []indexRow{{Part: partLexical, Passages: 10, built: built{Entries: 30}, MemoryBytes: 300}},
		Searches: []searchRow{{Part: partSparse, Passages: 1000, Queries: "scifact", Filter: 0.5}, {Part: partSparse, Passages: 1000, Queries: "scifact", Filter: 1, P50: report.Figure{Median: 1.5, Min: 1, Max: 2}}},
		Peers:    []peerRow{{Passages: 10, Peer: "tantivy", Queries: "nq-utd", Shared: 0.5}},
	}
	r.sort()
	text := r.markdown()
	for _, want := range []string{"| scifact | 1000 | **1.5 (1–2)** |", "| nq-utd | 10 | tantivy |", "| lexical | 10 | 3 | 30 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("report lacks %q:\n%s", want, text)
		}
	}
}

// TestBlocks has two blocks with terms of the query: the highest weights of the
// first are of two passages and reach what is needed, those of the second do not.
func TestBlocks(t *testing.T) {
	q := &bounded{size: 8, needed: 5, highest: map[uint32]float64{}}
	q.add(1, 4)
	q.add(2, 1)
	q.end()
	q.add(1, 2)
	q.add(1, 2.5)
	q.add(2, 2)
	q.end()
	q.end() // of a block without any
	if got, want := newBlockRow(9, "set", 8, []*bounded{q}), (blockRow{Passages: 9, Queries: "set", Size: 8, Blocks: 0.5, Postings: 0.4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
