package filter_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/filter"
)

// million is an index of a million documents with a unique keyword, a tenant of
// a thousand, a kind of ten, a price and a date.
func million(b *testing.B) *filter.Index {
	b.Helper()
	x := filter.New()
	for i := range uint32(1_000_000) {
		x.Add(i, document(i))
	}
	return x
}

func document(i uint32) braid.Fields {
	mixed := i * 2_654_435_761 // scattered
	return braid.Fields{
		"id":     {braid.KeywordOf(fmt.Sprintf("document-%09d", i))},
		"tenant": {braid.KeywordOf(fmt.Sprint("tenant-", mixed%1000))},
		"kind":   {braid.KeywordOf(fmt.Sprint("kind-", mixed>>8%10))},
		"price":  {braid.IntegerOf(int64(mixed >> 4 % 1_000_000))},
		"date":   {braid.KeywordOf(time.Unix(int64(mixed), 0).UTC().Format(time.RFC3339))},
	}
}

func BenchmarkResolve(b *testing.B) {
	x := million(b)
	for _, tc := range []struct{ name, filter string }{
		{"one-id", `{"must":[{"field":"id","match":"document-000500000"}]}`},
		{"tenant", `{"must":[{"field":"tenant","match":"tenant-7"}]}`},
		{"kind", `{"must":[{"field":"kind","match":"kind-7"}]}`},
		{"in-100-tenants", `{"must":[{"field":"tenant","in":[` + tenants(100) + `]}]}`},
		{"price-0.1%", `{"must":[{"field":"price","range":{"gte":500000,"lt":501000}}]}`},
		{"price-50%", `{"must":[{"field":"price","range":{"lt":500000}}]}`},
		{"date-10%", `{"must":[{"field":"date","range":{"lt":"1983-08-12T00:00:00Z"}}]}`},
		{"nested", `{"must":[{"field":"tenant","match":"tenant-7"},{"should":[{"field":"kind","match":"kind-1"},{"field":"price","range":{"gte":900000}}]}],"must_not":[{"field":"date","exists":false}]}`},
	} {
		f := parse(b, tc.filter)
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Resolve(f)
			}
			b.ReportMetric(float64(x.Resolve(f).Len()), "documents")
		})
	}
}

func tenants(n int) string {
	list := `"tenant-0"`
	for i := 1; i < n; i++ {
		list += fmt.Sprintf(`,"tenant-%d"`, i)
	}
	return list
}

func BenchmarkAdd(b *testing.B) {
	for b.Loop() {
		x := filter.New()
		for i := range uint32(100_000) {
			x.Add(i, document(i))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/doc")
}

// BenchmarkMemory reports what a document of a million takes, by field.
func BenchmarkMemory(b *testing.B) {
	const n = 1_000_000
	for _, field := range []string{"id", "tenant", "kind", "price", "date"} {
		b.Run(field, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				x := filter.New()
				for i := range uint32(n) {
					x.Add(i, braid.Fields{field: document(i)[field]})
				}
				b.ReportMetric(float64(heap()-before)/n, "B/doc")
				b.ReportMetric(float64(x.MemoryBytes())/n, "B/doc-said")
				runtime.KeepAlive(x)
			}
		})
	}
}
