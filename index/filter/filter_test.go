package filter_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/filter"
)

func fieldsOf(t testing.TB, payload string) braid.Fields {
	t.Helper()
	fields, err := braid.FieldsOf(json.RawMessage(payload))
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func parse(t testing.TB, text string) braid.Filter {
	t.Helper()
	var f braid.Filter
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// model is an index as a plain list; nil is a document that was removed.
type model []braid.Fields

// check compares what f resolves to with the reference semantics.
func (m model) check(t *testing.T, x *filter.Index, f braid.Filter) {
	t.Helper()
	set := x.Resolve(f)
	var want []uint32
	for ord, fields := range m {
		if fields != nil && f.Passes(fields) {
			want = append(want, uint32(ord))
		}
	}
	if got := slices.Collect(set.All()); !slices.Equal(got, want) || set.Len() != len(want) {
		text, _ := json.Marshal(f)
		t.Fatalf("%s resolves to %d ordinals %v, want %d: %v", text, set.Len(), got, len(want), want)
	}
}

// scalars are values that meet in documents and filters, of every kind and at
// the borders between them.
func scalars() []string {
	list := []string{
		`"a"`, `"b"`, `""`, `"1"`, `"true"`, `true`, `false`,
		`0`, `-0.0`, `1`, `1.0`, `2`, `-1`, `0.5`, `-0.5`, `1e300`, `-1e300`, `5e-324`,
		`9007199254740992`, `9007199254740993`, `-9007199254740993`, `9223372036854775807`, `-9223372036854775808`, `9223372036854775295`, `9.3e18`,
		`"2031-05-02"`, `"2031-05-02T00:00:00Z"`, `"2031-05-02T02:00:00+02:00"`, `"2031-05-02T00:00:00.000000001Z"`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59Z"`, `"2031-02-30"`,
	}
	for i := range 20 {
		list = append(list, fmt.Sprint(i*7-50), fmt.Sprintf("%q", time.Unix(int64(i)*1e8, 0).UTC().Format(time.RFC3339)))
	}
	return list
}

type generator struct {
	*rand.Rand
	scalars []string
	fields  []string
}

func newGenerator(seed uint64) generator {
	return generator{rand.New(rand.NewPCG(seed, 1)), scalars(), []string{"n", "a.b", "a", "tags", "attrs.k"}}
}

func (g generator) scalar() string { return g.scalars[g.IntN(len(g.scalars))] }

// value is a part of a payload: mostly a scalar, now and then a list or object.
func (g generator) value(depth int) string {
	switch g.IntN(10) {
	case 0:
		return "null"
	case 1, 2:
		if depth == 0 {
			return "[]"
		}
		parts := make([]string, g.IntN(4))
		for i := range parts {
			parts[i] = g.value(depth - 1)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 3:
		if depth == 0 {
			return "{}"
		}
		return `{"b":` + g.value(depth-1) + `,"k":` + g.value(depth-1) + `}`
	}
	return g.scalar()
}

func (g generator) payload() string {
	var members []string
	for _, name := range []string{"n", "a", "a.b", "tags", "attrs"} {
		if g.IntN(3) > 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, g.value(2)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (g generator) filter(depth int) string {
	var lists []string
	for _, name := range []string{"must", "should", "must_not"} {
		if g.IntN(2) == 0 {
			continue
		}
		clauses := make([]string, g.IntN(3))
		for i := range clauses {
			if depth > 0 && g.IntN(3) == 0 {
				clauses[i] = g.filter(depth - 1)
			} else {
				clauses[i] = g.condition()
			}
		}
		lists = append(lists, fmt.Sprintf("%q:[%s]", name, strings.Join(clauses, ",")))
	}
	return "{" + strings.Join(lists, ",") + "}"
}

func (g generator) condition() string {
	operator := `"exists":true`
	switch g.IntN(5) {
	case 0:
		operator = `"match":` + g.scalar()
	case 1:
		values := make([]string, g.IntN(5))
		for i := range values {
			values[i] = g.scalar()
		}
		operator = `"in":[` + strings.Join(values, ",") + `]`
	case 2:
		operator = `"exists":false`
	case 3:
		operator = `"range":` + g.interval()
	}
	return fmt.Sprintf(`{"field":%q,%s}`, g.fields[g.IntN(len(g.fields))], operator)
}

func (g generator) interval() string {
	times := g.IntN(2) == 0
	bound := func() string {
		for {
			s := g.scalar()
			var v any
			if json.Unmarshal([]byte(s), &v) != nil {
				continue
			}
			text, isText := v.(string)
			_, isTime := braid.KeywordOf(text).Time()
			if _, isNumber := v.(float64); times && isText && isTime || !times && isNumber {
				return s
			}
		}
	}
	var bounds []string
	for _, side := range [][]string{{"gt", "gte"}, {"lt", "lte"}} {
		if len(bounds) == 0 && side[0] == "lt" || g.IntN(3) > 0 {
			bounds = append(bounds, fmt.Sprintf("%q:%s", side[g.IntN(2)], bound()))
		}
	}
	return "{" + strings.Join(bounds, ",") + "}"
}

// TestResolveEqualsReference compares random filters over random payloads with
// the reference semantics, while documents come and go and the index is now and
// then saved and loaded.
func TestResolveEqualsReference(t *testing.T) {
	for seed := range uint64(20) {
		g := newGenerator(seed)
		x, m := filter.New(), model{}
		for range 6 {
			for range g.IntN(400) {
				for g.IntN(20) == 0 {
					m = append(m, nil) // an ordinal that is never used
				}
				fields := fieldsOf(t, g.payload())
				x.Add(uint32(len(m)), fields)
				m = append(m, fields)
			}
			for range g.IntN(200) {
				if len(m) > 0 {
					ord := g.IntN(len(m))
					x.Remove(uint32(ord))
					m[ord] = nil
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

// TestFrequentValues has values of every frequency from one document to all, so
// that each part of the dictionary is used, alone and together.
func TestFrequentValues(t *testing.T) {
	const n = 70_000 // over one container of a bitmap
	x, m := filter.New(), model{}
	for i := range n {
		payload := fmt.Sprintf(`{"all":true,"id":"doc-%d","mod":[%s]}`, i, strings.Join([]string{
			fmt.Sprintf(`"2-%d"`, i%2), fmt.Sprintf(`"60-%d"`, i%60), fmt.Sprintf(`"300-%d"`, i%300), fmt.Sprintf(`"20000-%d"`, i%20_000), fmt.Sprint(i % 100),
		}, ","))
		fields := fieldsOf(t, payload)
		x.Add(uint32(i), fields)
		m = append(m, fields)
	}
	for ord := 3; ord < n; ord += 7 {
		x.Remove(uint32(ord))
		m[ord] = nil
	}
	x = reloaded(t, x, n)
	for _, text := range []string{
		`{"must":[{"field":"all","match":true}]}`,
		`{"must":[{"field":"all","match":false}]}`,
		`{"must":[{"field":"id","match":"doc-69999"}]}`,
		`{"must":[{"field":"id","match":"doc-70000"}]}`,
		`{"must":[{"field":"id","in":["doc-1","doc-2","doc-3","doc-68000"]}]}`,
		`{"must":[{"field":"mod","match":"2-1"},{"field":"mod","match":"60-59"}]}`,
		`{"must":[{"field":"mod","in":["2-1","60-58","300-298","20000-7","20000-19999",3]}]}`,
		`{"must":[{"field":"mod","match":"300-7"}],"must_not":[{"field":"mod","match":"60-7"}]}`,
		`{"must":[{"field":"mod","match":"20000-5"}]}`,
		`{"must_not":[{"field":"mod","match":"2-0"}]}`,
		`{"must":[{"field":"mod","range":{"gte":98}}]}`,
		`{"must":[{"field":"mod","range":{"gt":10,"lt":12}},{"field":"mod","match":"2-1"}]}`,
		`{"must":[{"field":"mod","exists":false}]}`,
		`{}`,
	} {
		m.check(t, x, parse(t, text))
	}
}

// TestOrderIsExact ranks numbers that are next to each other as float64 and as
// int64.
func TestOrderIsExact(t *testing.T) {
	var values []braid.Value
	for _, near := range []float64{0, 1, 1 << 52, 1 << 53, 1 << 62, 1 << 63, -1 << 63, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		for _, f := range []float64{near, math.Nextafter(near, math.Inf(1)), math.Nextafter(near, math.Inf(-1)), -near} {
			values = append(values, braid.FloatOf(f))
			if near <= 1<<62 {
				for d := range int64(3) {
					values = append(values, braid.IntegerOf(int64(f)+d), braid.IntegerOf(int64(f)-d))
				}
			}
		}
	}
	for d := range int64(600) {
		values = append(values, braid.IntegerOf(math.MaxInt64-d), braid.IntegerOf(math.MinInt64+d))
	}
	x, m := filter.New(), model{}
	for i, v := range values {
		fields := braid.Fields{"n": {v}}
		x.Add(uint32(i), fields)
		m = append(m, fields)
	}
	for _, v := range values {
		for _, c := range []braid.Condition{
			{Match: &v}, {Range: &braid.Range{GT: &v}}, {Range: &braid.Range{GTE: &v}}, {Range: &braid.Range{LT: &v}}, {Range: &braid.Range{LTE: &v}},
		} {
			c.Field = "n"
			m.check(t, x, braid.Filter{Must: []braid.Clause{c}})
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	x := filter.New()
	x.Remove(7)
	for _, text := range []string{`{}`, `{"must_not":[{"field":"n","match":1}]}`, `{"must":[{"field":"n","range":{"gt":1}}]}`} {
		model{}.check(t, x, parse(t, text))
	}
}

// TestMemoryIsWhatItSays compares the estimate with the heap, for a field of
// unique values, of numbers, of dates and of frequent ones.
func TestMemoryIsWhatItSays(t *testing.T) {
	const n = 200_000
	for name, payload := range map[string]func(i int) braid.Fields{
		"unique keywords": func(i int) braid.Fields {
			return braid.Fields{"id": {braid.KeywordOf(fmt.Sprintf("document-%09d", i))}}
		},
		"pairs": func(i int) braid.Fields {
			return braid.Fields{"id": {braid.KeywordOf(fmt.Sprintf("document-%09d", i%(n/2)))}}
		},
		"unique numbers": func(i int) braid.Fields { return braid.Fields{"n": {braid.IntegerOf(int64(i) * 7919 % n)}} },
		"few keywords":   func(i int) braid.Fields { return braid.Fields{"kind": {braid.KeywordOf(fmt.Sprint(i % 20))}} },
		"many fields":    func(i int) braid.Fields { return braid.Fields{fmt.Sprint("f", i%2000): {braid.IntegerOf(int64(i))}} },
	} {
		before := heap()
		x := filter.New()
		for i := range n {
			x.Add(uint32(i), payload(i))
		}
		used, said := float64(heap()-before), float64(x.MemoryBytes())
		runtime.KeepAlive(x)
		t.Logf("%s: %.1f bytes a document, said to be %.1f", name, used/n, said/n)
		if said < used*0.7 || said > used*1.4 {
			t.Errorf("%s: %.0f bytes in use, said to be %.0f", name, used, said)
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
