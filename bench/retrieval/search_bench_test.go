package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/snapshot"
	"github.com/braid-search/braid/index/sparse"
	"github.com/braid-search/braid/index/topk"
)

// BenchmarkSearch answers the queries of each collection over the indexes that
// were kept, one query an iteration; p50-ns is the median of them. Without the
// indexes it measures nothing.
func BenchmarkSearch(b *testing.B) {
	root := filepath.Join("..", "..")
	bench := &bench{root: root, data: filepath.Join(root, "..", "shared", "data"), stderr: os.Stderr}
	if _, err := os.Stat(bench.snapshotFile(partLexical, 1000)); err != nil {
		b.Skip("no indexes were kept: go run ./bench/retrieval prepare")
	}
	if err := bench.read(context.Background()); err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("%s/%d", partLexical, n), func(b *testing.B) {
			x := kept(b, bench, partLexical, n, func(r *snapshot.Reader, end uint64) (*lexical.Index, error) {
				return lexical.Load(r, end, lexical.Options{})
			})
			analyzer := lexical.NewAnalyzer()
			for _, set := range bench.mixer.Sets {
				var queries [][]lexical.QueryTerm
				for _, q := range set.Data.Queries {
					queries = append(queries, analyzer.QueryTerms(q.Text))
				}
				eachQuery(b, set.Name, len(queries), func(q int) error {
					_, err := x.SearchTerms(b.Context(), queries[q], topk.Scan{K: best})
					return err
				})
			}
		})
		b.Run(fmt.Sprintf("%s/%d", partSparse, n), func(b *testing.B) {
			x := kept(b, bench, partSparse, n, sparse.Load)
			for _, set := range bench.mixer.Sets {
				eachQuery(b, set.Name, len(set.Queries), func(q int) error {
					_, err := x.Search(b.Context(), set.Queries[q], topk.Scan{K: best})
					return err
				})
			}
		})
	}
}

// kept loads an index.
func kept[I any](b *testing.B, of *bench, part string, n int, read func(*snapshot.Reader, uint64) (I, error)) I {
	b.Helper()
	x, err := load(of.snapshotFile(part, n), n, read)
	if err != nil {
		b.Skip(err)
	}
	return x
}

// eachQuery measures one query after another.
func eachQuery(b *testing.B, name string, count int, search func(query int) error) {
	b.Run(name, func(b *testing.B) {
		defer oneCore()()
		b.ReportAllocs()
		var took []time.Duration
		for query := 0; b.Loop(); query++ {
			start := time.Now()
			if err := search(query % count); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	})
}
