package filter_test

import (
	"fmt"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/filter"
)

// TestReplaceEqualsReference is TestResolveEqualsReference with payloads that are
// replaced, of documents of any age.
func TestReplaceEqualsReference(t *testing.T) {
	for seed := range uint64(20) {
		g := newGenerator(seed)
		x, m := filter.New(), model{}
		for range 8 {
			for range 1 + g.IntN(200) {
				fields := fieldsOf(t, g.payload())
				x.Add(uint32(len(m)), fields)
				m = append(m, fields)
			}
			for range g.IntN(400) {
				ord := g.IntN(len(m))
				switch {
				case m[ord] == nil:
				case g.IntN(10) == 0:
					x.Remove(uint32(ord))
					m[ord] = nil
				default:
					now := fieldsOf(t, g.payload())
					x.Replace(uint32(ord), m[ord], now)
					m[ord] = now
				}
			}
			if g.IntN(2) == 0 {
				x = reloaded(t, x, len(m))
			}
			for range 60 {
				m.check(t, x, parse(t, g.filter(3)))
			}
		}
	}
}

// TestReplaceFrequentValues takes values from documents and gives them back, from
// all that have them to none, so that arrays and bitmaps shrink and grow.
func TestReplaceFrequentValues(t *testing.T) {
	const n = 70_000 // over one container of a bitmap
	x, m := filter.New(), model{}
	for i := range n {
		m = append(m, shared(t, i))
		x.Add(uint32(i), m[i])
	}
	queries := []string{`{"must":[{"field":"n","range":{"gte":10,"lte":11}}]}`, `{"must":[{"field":"n","match":7}]}`, `{"must":[{"field":"mod","exists":true}]}`}
	for _, value := range []string{"2-1", "300-7", "3500-8", "20000-9", "35000-5"} {
		queries = append(queries, fmt.Sprintf(`{"must":[{"field":"mod","match":%q}]}`, value))
	}
	check := func() {
		t.Helper()
		for _, text := range queries {
			m.check(t, x, parse(t, text))
		}
	}
	replace := func(ord int, now braid.Fields) {
		x.Replace(uint32(ord), m[ord], now)
		m[ord] = now
	}
	for step := range 3 {
		for ord := n - 1 - step; ord >= 0; ord -= 3 { // downwards: no ordinal is the last of its list
			replace(ord, fieldsOf(t, `{"other":"x"}`))
		}
		check()
	}
	x = reloaded(t, x, n)
	check()
	for step := range 2 {
		for ord := n - 1 - step; ord >= 0; ord -= 2 {
			replace(ord, shared(t, ord+1))
		}
		check()
	}
	x = reloaded(t, x, n)
	check()
}

// shared are fields with values of every frequency.
func shared(t testing.TB, i int) braid.Fields {
	return fieldsOf(t, fmt.Sprintf(`{"n":%d,"mod":["2-%d","300-%d","3500-%d","20000-%d","35000-%d"]}`, i%100, i%2, i%300, i%3500, i%20_000, i%35_000))
}

// TestReplaceTakesNoMore replaces payloads again and again: memory and pairs are
// those of what is there.
func TestReplaceTakesNoMore(t *testing.T) {
	x := filter.New()
	payload := func(i, round int) braid.Fields {
		return braid.Fields{"n": {braid.IntegerOf(int64(i*31 + round))}, "k": {braid.KeywordOf(fmt.Sprint(i%700 + round))}}
	}
	const n = 5000
	for i := range n {
		x.Add(uint32(i), payload(i, 0))
	}
	before := x.MemoryBytes()
	for round := range 20 {
		for i := range n {
			x.Replace(uint32(i), payload(i, round), payload(i, round+1))
		}
	}
	if after := x.MemoryBytes(); after > 2*before {
		t.Errorf("%d bytes after replacing all payloads 20 times, %d before", after, before)
	}
	if used := len(save(t, x)); used > 2*n*(16+4+16+4) {
		t.Errorf("saved, %d documents of two values take %d bytes", n, used)
	}
}
