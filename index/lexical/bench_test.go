package lexical_test

import (
	"strings"
	"testing"

	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/topk"
)

func BenchmarkTerms(b *testing.B) {
	c := loadCollection(b, "scifact", "test")
	text := strings.Join(c.texts[:500], "\n")
	analyzer := lexical.NewAnalyzer()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		analyzer.Terms(text)
	}
}

func BenchmarkAdd(b *testing.B) {
	c := loadCollection(b, "scifact", "test")
	bytes := 0
	for _, text := range c.texts {
		bytes += len(text)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	var x *lexical.Index
	for b.Loop() {
		x = lexical.New(lexical.Options{})
		for i, text := range c.texts {
			x.Add(uint32(i), text)
		}
	}
	b.ReportMetric(float64(x.MemoryBytes())/float64(bytes), "index-B/text-B")
}

// BenchmarkSearch answers the queries of SciFact in turn, over its documents
// and over ten copies of them.
func BenchmarkSearch(b *testing.B) {
	c := loadCollection(b, "scifact", "test")
	for _, copies := range []int{1, 10} {
		for i := len(c.texts); i < copies*len(c.texts); i++ {
			c.index.Add(uint32(i), c.texts[i%len(c.texts)])
		}
		b.Run(map[int]string{1: "5k", 10: "50k"}[copies], func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				best(c.index, c.data.Queries[i%len(c.data.Queries)].Text, topk.Scan{K: 100})
			}
		})
	}
}
