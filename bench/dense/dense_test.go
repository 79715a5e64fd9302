package main

import (
	"context"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
)

// random are n vectors of length 1.
func random(n int) corpus.Matrix {
	source := rand.New(rand.NewPCG(1, 2))
	vectors := make(corpus.Matrix, n*corpus.Dim)
	for i := range n {
		var norm float64
		row := vectors.Row(i)
		for j := range row {
			x := source.NormFloat64()
			row[j], norm = float32(x), norm+x*x
		}
		for j := range row {
			row[j] /= float32(math.Sqrt(norm))
		}
	}
	return vectors
}

func testBench() *bench {
	all := random(2200)
	return &bench{
		rounds: 1, log: func(string, ...any) {},
		vectors: &corpus.Dense{Queries: all.Part(0, 20), Passages: all.Part(20, 200), Sentences: all.Part(200, 2200)},
	}
}

func TestExactFindsAll(t *testing.T) {
	b := testBench()
	base := b.base("sentences", b.vectors.Sentences)
	f, err := newExact(base.vectors, b.vectors.Queries).search(context.Background(), 0)
	if err != nil || recall(f.IDs, base.want) != 1 || len(f.Seconds) != b.vectors.Queries.Rows() {
		t.Errorf("recall %v of %d queries, error %v", recall(f.IDs, base.want), len(f.Seconds), err)
	}
}

func TestRecall(t *testing.T) {
	if got := recall([][]uint32{{1, 2}, {}}, [][]uint32{{2, 3}, {4, 5}}); got != 0.25 {
		t.Errorf("%v, want 0.25", got)
	}
}

// TestPartsWithoutPeers: filters that leave few are answered by comparing all of
// them, without a miss; what was replaced is not found, nor does what replaced it
// get lost.
func TestPartsWithoutPeers(t *testing.T) {
	b, r := testBench(), results{}
	if err := b.filters(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Filter) != len(shares())+1 {
		t.Errorf("%d filters", len(r.Filter))
	}
	for _, f := range r.Filter {
		if f.Scanned == 1 && f.Recall != 1 {
			t.Errorf("%+v: not all was found by comparing all", f)
		}
	}
	if err := b.churn(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Churn {
		if c.Recall < 0.8 || c.Vectors != 1000 {
			t.Errorf("%+v", c)
		}
	}
}

func TestReport(t *testing.T) {
	at := func(recall, us float64) point {
		return point{Ef: 20, Recall: recall, Micros: report.Figure{Median: us, Min: us, Max: us}}
	}
	r := results{
		Graph:  []curve{{Base: "passages", Vectors: 100, Name: ourName, Points: []point{at(0.95, 50)}}, {Base: "passages", Vectors: 100, Name: "hnswlib", Points: []point{at(0.5, 60)}}},
		Exact:  []curve{{Base: "passages", Vectors: 100, Threads: 2, Name: ourName, Points: []point{at(1, 10)}}, {Base: "passages", Vectors: 100, Threads: 2, Name: "numpy", Points: []point{at(1, 20)}}},
		Filter: []filterRow{{Allowed: 1, Micros: report.Figure{Median: 10}}, {Allowed: 0.1, Micros: report.Figure{Median: 5}, Scanned: 1}},
	}
	r.Charts = r.charts()
	if lines := r.Charts[0].Lines; len(lines) != 1 || lines[0].Points[0] != [2]float64{0.95, 20000} {
		t.Errorf("lines %+v: want braid's alone", lines)
	}
	text := r.markdown("base")
	for _, want := range []string{"| 20 | 0.9500 | 50 (50–50) | 0.5000 | 60 (60–60) |", "| 100 | passages | 2 | numpy | 20 (20–20) | 0.50 | 1.0000 |", "| 0.50 | 100 % |", "(base-passages.svg)"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"-out", "x", "-parts", "graph,none"}, {"-out", "x", "-rounds", "0"}, {"-out", "x", "more"}} {
		if err := run(context.Background(), args, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
