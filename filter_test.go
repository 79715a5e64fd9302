package braid_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
)

func parseFilter(t testing.TB, text string) braid.Filter {
	t.Helper()
	var f braid.Filter
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// passing returns the ids of the payloads that pass the filter, ascending.
func passing(t testing.TB, payloads map[string]string, f braid.Filter) string {
	t.Helper()
	var passed []string
	for _, id := range slices.Sorted(maps.Keys(payloads)) {
		fields, err := braid.FieldsOf(json.RawMessage(payloads[id]))
		if err != nil {
			t.Fatal(err)
		}
		if f.Passes(fields) {
			passed = append(passed, id)
		}
	}
	return strings.Join(passed, " ")
}

// truth is what filters mean. Every index has to agree with it; TestDocumentedTable
// holds docs/filters.md to it, too.
var truth = []struct {
	payloads map[string]string
	passed   map[string]string // by filter
}{
	{
		map[string]string{"1": `{"n":1}`, "2": `{"n":5}`, "3": `{"n":null}`, "4": `{"n":[1,null]}`, "5": `{}`, "6": `{"n":[]}`},
		map[string]string{
			`{"must":[{"field":"n","match":1}]}`:        "1 4",
			`{"must_not":[{"field":"n","match":1}]}`:    "2 3 5 6",
			`{"must":[{"field":"n","in":[]}]}`:          "",
			`{"must_not":[{"field":"n","in":[]}]}`:      "1 2 3 4 5 6",
			`{"must":[{"field":"n","in":[5,1]}]}`:       "1 2 4",
			`{"should":[]}`:                             "1 2 3 4 5 6",
			`{"must":[]}`:                               "1 2 3 4 5 6",
			`{"must_not":[]}`:                           "1 2 3 4 5 6",
			`{"must":null,"should":[],"must_not":null}`: "1 2 3 4 5 6",
			`{}`:                                     "1 2 3 4 5 6",
			`null`:                                   "1 2 3 4 5 6",
			`{"must":[{"field":"n","exists":true}]}`: "1 2 4",
			`{"must":[{"field":"n","exists":false}]}`:    "3 5 6",
			`{"must_not":[{"field":"n","exists":true}]}`: "3 5 6",
			`{"must":[{"should":[{"field":"n","match":5},{"field":"n","exists":true}]},{"must_not":[{"field":"n","match":1}]}]}`: "2",
			`{"should":[{"field":"n","match":1},{"field":"n","match":5}]}`:                                                       "1 2 4",
			`{"must":[{"field":"n","exists":true}],"should":[{"field":"n","match":5}]}`:                                          "2",
			`{"must":[{}]}`:                             "1 2 3 4 5 6", // a filter that asks nothing, inside
			`{"must_not":[{}]}`:                         "",
			`{"should":[{"field":"n","match":9},{}]}`:   "1 2 3 4 5 6",
			`{"must":[{"field":"n","range":{"gt":1}}]}`: "2",
			`{"must":[{"field":"n","match":1.0}]}`:      "1 4",
			`{"must":[{"field":"n","match":"1"}]}`:      "",
			`{"must":[{"field":"n","match":true}]}`:     "",
		},
	},
	{ // kinds
		map[string]string{
			"big":   `{"v":9007199254740993}`,
			"big-1": `{"v":9007199254740992}`,
			"day":   `{"v":"2031-05-02"}`,
			"half":  `{"v":0.5}`,
			"huge":  `{"v":12345678901234567890}`,
			"late":  `{"v":"2031-05-02T14:30:00.5+02:00"}`,
			"list":  `{"v":[1,10]}`,
			"mixed": `{"v":["x",7,false]}`,
			"noon":  `{"v":"2031-05-02T12:00:00Z"}`,
			"text":  `{"v":"7"}`,
			"true":  `{"v":true}`,
			"deep":  `{"v":[[["x"]]]}`,
		},
		map[string]string{
			`{"must":[{"field":"v","match":9007199254740993}]}`:                                        "big",
			`{"must":[{"field":"v","range":{"gt":9007199254740992}}]}`:                                 "big huge",
			`{"must":[{"field":"v","range":{"gt":9.1e15}}]}`:                                           "huge",
			`{"must":[{"field":"v","range":{"lte":9007199254740992.0,"gt":10}}]}`:                      "big-1",
			`{"must":[{"field":"v","range":{"gte":0.5,"lt":1}}]}`:                                      "half",
			`{"must":[{"field":"v","range":{"gt":0.5,"lt":7.5}}]}`:                                     "list mixed",
			`{"must":[{"field":"v","range":{"gt":2,"lt":5}}]}`:                                         "", // no one value of the list
			`{"must":[{"field":"v","match":"7"}]}`:                                                     "text",
			`{"must":[{"field":"v","match":7}]}`:                                                       "mixed",
			`{"must":[{"field":"v","match":"x"}]}`:                                                     "deep mixed",
			`{"must":[{"field":"v","match":"X"}]}`:                                                     "",
			`{"must":[{"field":"v","in":[false,"x",0.5]}]}`:                                            "deep half mixed",
			`{"must":[{"field":"v","match":true}]}`:                                                    "true",
			`{"must":[{"field":"v","range":{"gte":"2031-05-02T12:00:00Z"}}]}`:                          "late noon",
			`{"must":[{"field":"v","range":{"gt":"2031-05-02T14:00:00+02:00"}}]}`:                      "late",
			`{"must":[{"field":"v","range":{"lte":"2031-05-02T12:30:00.5Z"}}]}`:                        "day late noon",
			`{"must":[{"field":"v","range":{"lt":"2031-05-02T12:30:00.5Z","gt":"2031-05-02"}}]}`:       "noon",
			`{"must":[{"field":"v","range":{"gte":"2031-05-02","lte":"2031-05-02"}}]}`:                 "day",
			`{"must":[{"field":"v","match":"2031-05-02T14:30:00.5+02:00"}]}`:                           "late",
			`{"must":[{"field":"v","match":"2031-05-02T12:30:00.5Z"}]}`:                                "", // a match is by the letter
			`{"must":[{"field":"v","range":{"gte":-1e300}},{"field":"v","range":{"lt":0.75}}]}`:        "half",
			`{"must":[{"field":"v","exists":true}],"must_not":[{"field":"v","range":{"gte":-1e300}}]}`: "day deep late noon text true",
		},
	},
	{ // paths
		map[string]string{
			"attrs":  `{"attrs":[{"k":"color","v":"red"},{"k":"size","v":"M"}]}`,
			"dotted": `{"a.b":1}`,
			"empty":  `{"a":{}}`,
			"keys":   `{"":1,"a":{"":2},"ä ö":"x"}`,
			"nested": `{"a":{"b":1,"c":{"d":[2,3]}}}`,
			"null":   `{"a":{"b":null}}`,
			"nulls":  `{"a":[null,[]]}`,
		},
		map[string]string{
			`{"must":[{"field":"a.b","match":1}]}`:                                           "dotted nested",
			`{"must":[{"field":"a.c.d","match":3}]}`:                                         "nested",
			`{"must":[{"field":"a.c","match":3}]}`:                                           "",
			`{"must":[{"field":"a.b","exists":true}]}`:                                       "dotted nested",
			`{"must":[{"field":"a","exists":true}]}`:                                         "empty keys nested null",
			`{"must":[{"field":"a.c","exists":true}]}`:                                       "nested",
			`{"must":[{"field":"a.","match":2}]}`:                                            "keys",
			`{"must":[{"field":"ä ö","match":"x"}]}`:                                         "keys",
			`{"must":[{"field":"attrs","exists":true}]}`:                                     "attrs",
			`{"must":[{"field":"attrs.k","match":"color"}]}`:                                 "", // an object in a list has no fields
			`{"must":[{"field":"attrs.k","exists":true}]}`:                                   "",
			`{"must":[{"field":"attrs.k","match":"color"},{"field":"attrs.v","match":"M"}]}`: "",
		},
	},
}

func TestTruthTable(t *testing.T) {
	for _, table := range truth {
		for text, want := range table.passed {
			f := parseFilter(t, text)
			if got := passing(t, table.payloads, f); got != want {
				t.Errorf("%s passes %q, want %q", text, got, want)
			}
			// F and NOT F split the collection.
			var rest []string
			for _, id := range slices.Sorted(maps.Keys(table.payloads)) {
				if !slices.Contains(strings.Fields(want), id) {
					rest = append(rest, id)
				}
			}
			not := braid.Filter{MustNot: []braid.Clause{f}}
			if got, want := passing(t, table.payloads, not), strings.Join(rest, " "); got != want {
				t.Errorf("not %s passes %q, want %q", text, got, want)
			}
		}
	}
}

// TestDocumentedTable reads the truth table of docs/filters.md and holds filters
// to it.
func TestDocumentedTable(t *testing.T) {
	text, err := os.ReadFile("docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## Truth table")
	table, _, _ = strings.Cut(table, "\n## ")
	payloads, checked := map[string]string{}, 0
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 2 {
			continue
		}
		if len(cells[0]) == 1 {
			payloads[cells[0]] = strings.Trim(cells[1], "`")
			continue
		}
		for _, part := range strings.Split(cells[0], "`, `") {
			filter := strings.Trim(part, "`")
			if !json.Valid([]byte(filter)) {
				continue // a heading
			}
			want := strings.NewReplacer("none", "", "all", "1 2 3 4 5 6").Replace(cells[1])
			if got := passing(t, payloads, parseFilter(t, filter)); got != want {
				t.Errorf("%s passes %q, the document says %q", filter, got, want)
			}
			checked++
		}
	}
	if len(payloads) != 6 || checked < 12 {
		t.Errorf("read %d payloads and %d filters", len(payloads), checked)
	}
}

func TestBadFilters(t *testing.T) {
	deep := func(n int) string {
		return strings.Repeat(`{"must":[`, n) + `{"field":"n","match":1}` + strings.Repeat(`]}`, n)
	}
	many := func(n int) string {
		return `{"must":[` + strings.TrimSuffix(strings.Repeat(`{"field":"n","match":1},`, n), ",") + `]}`
	}
	values := func(n int) string {
		return `{"must":[{"field":"n","in":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}]}`
	}
	condition := func(text string) string { return `{"must":[` + text + `]}` }
	for _, tc := range []struct {
		text  string
		code  braid.Code // "" for one that is fine
		field string
		says  string
	}{
		{`[]`, braid.InvalidArgument, "filter", "must be an object"},
		{`"n=1"`, braid.InvalidArgument, "filter", "must be an object"},
		{`{"field":"n","match":1}`, braid.InvalidArgument, "filter.field", "must, should and must_not"},
		{`{"must":[],"exists":{"n":1}}`, braid.InvalidArgument, "filter.exists", "must, should and must_not"},
		{`{"Must":[]}`, braid.InvalidArgument, "filter.Must", "unknown key"},
		{`{"must":[],"must":[]}`, braid.InvalidArgument, "filter.must", "twice"},
		{`{"must":{"field":"n","match":1}}`, braid.InvalidArgument, "filter.must", "a list"},
		{`{"must":"n"}`, braid.InvalidArgument, "filter.must", "a list"},
		{condition(`null`), braid.InvalidArgument, "filter.must[0]", "must be an object"},
		{condition(`"n"`), braid.InvalidArgument, "filter.must[0]", "field and one of match, in, range and exists"},
		{condition(`{"key":"n","match":1}`), braid.InvalidArgument, "filter.must[0].key", "field and one of match, in, range and exists"},
		{condition(`{"field":"n","equals":1}`), braid.InvalidArgument, "filter.must[0].equals", "match, in, range and exists"},
		{condition(`{"field":"n","match":1,"must":[{}]}`), braid.InvalidArgument, "filter.must[0]", `"field" beside "must"`},
		{condition(`{"field":"n","match":1,"must":null}`), braid.InvalidArgument, "filter.must[0]", `"field" beside "must"`},
		{condition(`{"field":"n","exists":true,"exists":null}`), braid.InvalidArgument, "filter.must[0].exists", "twice"},
		{condition(`{"field":"n"}`), braid.InvalidArgument, "filter.must[0]", "0 operators"},
		{condition(`{"field":"n","match":null}`), braid.InvalidArgument, "filter.must[0]", "0 operators"},
		{condition(`{"field":"n","in":null,"range":null}`), braid.InvalidArgument, "filter.must[0]", "0 operators"},
		{condition(`{"field":"n","match":1,"exists":true}`), braid.InvalidArgument, "filter.must[0]", "2 operators"},
		{condition(`{"match":1}`), braid.InvalidArgument, "filter.must[0].field", "no field"},
		{condition(`{"field":"","match":1}`), braid.InvalidArgument, "filter.must[0].field", "no field"},
		{condition(`{"field":7,"match":1}`), braid.InvalidArgument, "filter.must[0].field", "a string, got 7"},
		{condition(`{"field":"` + strings.Repeat("x", braid.MaxFieldBytes+1) + `","match":1}`), braid.TooLarge, "filter.must[0].field", "the limit is 512"},
		{condition(`{"field":"n","match":{"value":1}}`), braid.InvalidArgument, "filter.must[0].match", `got {"value":1}`},
		{condition(`{"field":"n","match":[1]}`), braid.InvalidArgument, "filter.must[0].match", "got [1]"},
		{condition(`{"field":"n","match":12345678901234567890}`), braid.InvalidArgument, "filter.must[0].match", "64-bit"},
		{condition(`{"field":"n","match":1e999}`), braid.InvalidArgument, "filter.must[0].match", "finite"},
		{condition(`{"field":"n","in":1}`), braid.InvalidArgument, "filter.must[0].in", "a list of values"},
		{condition(`{"field":"n","in":[1,null]}`), braid.InvalidArgument, "filter.must[0].in[1]", `"exists": false`},
		{condition(`{"field":"n","in":[[1]]}`), braid.InvalidArgument, "filter.must[0].in[0]", "got [1]"},
		{condition(`{"field":"n","exists":"yes"}`), braid.InvalidArgument, "filter.must[0].exists", "true or false"},
		{condition(`{"field":"n","range":{}}`), braid.InvalidArgument, "filter.must[0].range", "no bound"},
		{condition(`{"field":"n","range":{"gt":null}}`), braid.InvalidArgument, "filter.must[0].range", "no bound"},
		{condition(`{"field":"n","range":[1,2]}`), braid.InvalidArgument, "filter.must[0].range", "gt or gte, and lt or lte"},
		{condition(`{"field":"n","range":{"from":1}}`), braid.InvalidArgument, "filter.must[0].range.from", "gt or gte, and lt or lte"},
		{condition(`{"field":"n","range":{"gt":1,"gte":1}}`), braid.InvalidArgument, "filter.must[0].range", "both gt and gte"},
		{condition(`{"field":"n","range":{"gt":1,"lt":"2031-05-02"}}`), braid.InvalidArgument, "filter.must[0].range", "one kind"},
		{condition(`{"field":"n","range":{"gt":"abc"}}`), braid.InvalidArgument, "filter.must[0].range.gt", "RFC 3339"},
		{condition(`{"field":"n","range":{"gt":"2031-05-02T14:30:00"}}`), braid.InvalidArgument, "filter.must[0].range.gt", "RFC 3339"},
		{condition(`{"field":"n","range":{"gt":"2031-13-02"}}`), braid.InvalidArgument, "filter.must[0].range.gt", "RFC 3339"},
		{condition(`{"field":"n","range":{"gt":true}}`), braid.InvalidArgument, "filter.must[0].range.gt", "a number or an RFC 3339 date"},
		{condition(`{"must":[{"should":[{"field":"n","like":"x"}]}]}`), braid.InvalidArgument, "filter.must[0].must[0].should[0].like", "unknown key"},
		{deep(braid.MaxFilterDepth), "", "", ""},
		{deep(braid.MaxFilterDepth + 1), braid.TooLarge, "filter" + strings.Repeat(".must[0]", braid.MaxFilterDepth), "the limit is 16"},
		{deep(4_000), braid.TooLarge, "filter" + strings.Repeat(".must[0]", braid.MaxFilterDepth), "the limit is 16"},
		{many(braid.MaxFilterClauses), "", "", ""},
		{many(braid.MaxFilterClauses + 1), braid.TooLarge, "filter.must", "over 1024"},
		{values(braid.MaxFilterValues), "", "", ""},
		{values(braid.MaxFilterValues + 1), braid.TooLarge, "filter.must[0].in", "the limit is 10000"},
	} {
		var f braid.Filter
		err := json.Unmarshal([]byte(tc.text), &f)
		if tc.code == "" {
			if err != nil {
				t.Errorf("%.80s: %v", tc.text, err)
			}
			continue
		}
		if err == nil || braid.CodeOf(err) != tc.code || braid.Public(err).Field != tc.field || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%.80s: %s error %q in %q, want %s in %q saying %q", tc.text, braid.CodeOf(err), err, braid.Public(err).Field, tc.code, tc.field, tc.says)
		}
	}
}

// What Go code can make and JSON cannot.
func TestFiltersMadeWrong(t *testing.T) {
	one, broken := braid.IntegerOf(1), braid.KeywordOf("\xff")
	infinite := braid.FloatOf(math.Inf(1))
	for name, c := range map[string]braid.Clause{
		"nil clause":        nil,
		"no operator":       braid.Condition{Field: "n"},
		"two operators":     braid.Condition{Field: "n", Match: &one, In: []braid.Value{}},
		"zero value":        braid.Condition{Field: "n", Match: &braid.Value{}},
		"zero value in":     braid.Condition{Field: "n", In: []braid.Value{one, {}}},
		"broken text":       braid.Condition{Field: "n", Match: &broken},
		"broken field":      braid.Condition{Field: "\xff", Match: &one},
		"infinity":          braid.Condition{Field: "n", Range: &braid.Range{GT: &infinite}},
		"range of nothing":  braid.Condition{Field: "n", Range: &braid.Range{}},
		"inside, deep down": braid.Filter{Should: []braid.Clause{braid.Filter{MustNot: []braid.Clause{braid.Condition{}}}}},
	} {
		if err := (braid.Filter{Must: []braid.Clause{c}}).Validate(); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestAllOf(t *testing.T) {
	payloads := map[string]string{"1": `{"a":1}`, "2": `{"a":1,"b":2}`, "3": `{"b":2}`}
	a, b := parseFilter(t, `{"must":[{"field":"a","match":1}]}`), parseFilter(t, `{"should":[{"field":"b","match":2}]}`)
	for _, tc := range []struct {
		of   []braid.Filter
		want string
	}{
		{nil, "1 2 3"}, {[]braid.Filter{{}, {}}, "1 2 3"}, {[]braid.Filter{a}, "1 2"}, {[]braid.Filter{a, {}, b}, "2"},
	} {
		if got := passing(t, payloads, braid.AllOf(tc.of...)); got != tc.want {
			t.Errorf("all of %v pass %q, want %q", tc.of, got, tc.want)
		}
	}
	if !braid.AllOf(braid.Filter{}).Empty() || braid.AllOf(a, b).Empty() {
		t.Error("what is empty is not told from what is not")
	}
}

func TestFieldsOf(t *testing.T) {
	long := strings.Repeat("k", braid.MaxFieldBytes)
	fields, err := braid.FieldsOf(json.RawMessage(fmt.Sprintf(`{"n":1,"n":[2,1e0],%q:{"x":1},%q:3,"%s":{"b":4}}`, long, long+"k", long[1:])))
	if err != nil {
		t.Fatal(err)
	}
	want := braid.Fields{"n": {braid.IntegerOf(1), braid.IntegerOf(2), braid.IntegerOf(1)}, long: nil, long[1:]: nil}
	if !maps.EqualFunc(fields, want, slices.Equal) {
		t.Errorf("got %v", fields)
	}
	if fields, err := braid.FieldsOf(nil); err != nil || len(fields) != 0 {
		t.Errorf("no payload: %v, %v", fields, err)
	}
	for _, bad := range []string{``, `null`, `[]`, `1`, `{`, `{"a":`, `{"a":[1`, `{} {}`, `{"a" 1}`} {
		if _, err := braid.FieldsOf(json.RawMessage(bad)); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("%q: error %v", bad, err)
		}
	}
	// 64 KiB of keys in each other must not become megabytes of paths.
	nested := strings.Repeat(`{"k":`, 9_000) + "1" + strings.Repeat("}", 9_000)
	fields, err = braid.FieldsOf(json.RawMessage(nested))
	if err != nil || len(fields) != (braid.MaxFieldBytes+1)/2 {
		t.Errorf("%d fields, error %v", len(fields), err)
	}
}

// FuzzFields reads any payload that a document may have.
func FuzzFields(f *testing.F) {
	for _, table := range truth {
		for _, payload := range table.payloads {
			f.Add(payload)
		}
	}
	f.Add(`{"a":{"b":[{"c":1},[[2.5e-1]],"x"]},"":{"":0}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		fields, err := braid.FieldsOf(json.RawMessage(payload))
		allowed := (braid.Document{ID: "d", Text: "x", Payload: json.RawMessage(payload)}).Validate() == nil
		if allowed && err != nil || err != nil && braid.CodeOf(err) != braid.InvalidArgument {
			t.Fatalf("allowed: %v, error %v", allowed, err)
		}
		for field, values := range fields {
			if len(field) > braid.MaxFieldBytes || slices.Contains(values, braid.Value{}) {
				t.Fatalf("field %q has %v", field, values)
			}
		}
	})
}

func TestNumbersCompareExactly(t *testing.T) {
	ascending := []braid.Value{
		braid.FloatOf(math.Inf(-1)), braid.FloatOf(-1e300), braid.IntegerOf(math.MinInt64), braid.IntegerOf(math.MinInt64 + 1),
		braid.FloatOf(-1.5), braid.IntegerOf(-1), braid.FloatOf(-0.5), braid.IntegerOf(0), braid.FloatOf(5e-324), braid.FloatOf(0.5), braid.IntegerOf(1),
		braid.FloatOf(4503599627370495.5), braid.IntegerOf(1 << 52), braid.IntegerOf(1<<53 + 1), braid.IntegerOf(math.MaxInt64), braid.FloatOf(1 << 63), braid.FloatOf(math.Inf(1)),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := braid.CompareNumbers(a, b); got != want {
				t.Errorf("compare %v and %v: %d, want %d", a, b, got, want)
			}
			if (a == b) != (i == j) {
				t.Errorf("%v equals %v: %v", a, b, a == b)
			}
		}
	}
	for _, same := range []float64{7, math.Copysign(0, -1), -1 << 63} {
		if braid.FloatOf(same) != braid.IntegerOf(int64(same)) {
			t.Errorf("%v is no integer", same)
		}
	}
	if braid.FloatOf(math.NaN()) != (braid.Value{}) {
		t.Error("NaN is a value")
	}
}

// Values draws values that JSON can say.
func drawValue(t *rapid.T) braid.Value {
	return rapid.OneOf(
		rapid.Map(rapid.OneOf(rapid.SampledFrom([]string{"", "a", "b", "2031-05-02", "2031-05-02T10:00:00Z"}), rapid.String()), braid.KeywordOf),
		rapid.Map(rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64()), braid.IntegerOf),
		rapid.Map(rapid.OneOf(rapid.SampledFrom([]float64{0.5, -0.5, 1e300}), rapid.Float64()), braid.FloatOf),
		rapid.Map(rapid.Bool(), braid.BooleanOf),
	).Draw(t, "value")
}

func TestValuesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawValue(t)
		text, err := json.Marshal(map[string]any{"v": []braid.Value{v}})
		if err != nil {
			t.Fatal(err)
		}
		fields, err := braid.FieldsOf(text)
		if err != nil || len(fields["v"]) != 1 || fields["v"][0] != v {
			t.Fatalf("%s reads back as %v, error %v", text, fields, err)
		}
	})
}

func drawFilter(t *rapid.T, depth int) braid.Filter {
	clause := func(t *rapid.T) braid.Clause {
		if depth > 0 && rapid.IntRange(0, 3).Draw(t, "nest") == 0 {
			return drawFilter(t, depth-1)
		}
		c := braid.Condition{Field: rapid.SampledFrom([]string{"a", "b", "a.b"}).Draw(t, "field")}
		switch rapid.IntRange(0, 3).Draw(t, "operator") {
		case 0:
			v := drawValue(t)
			c.Match = &v
		case 1:
			c.In = rapid.SliceOfN(rapid.Custom(drawValue), 0, 3).Draw(t, "in")
		case 2:
			lower, upper := braid.FloatOf(rapid.Float64().Draw(t, "from")), braid.IntegerOf(rapid.Int64().Draw(t, "to"))
			c.Range = &braid.Range{GTE: &lower, LT: &upper}
		case 3:
			exists := rapid.Bool().Draw(t, "exists")
			c.Exists = &exists
		}
		return c
	}
	list := func(name string) []braid.Clause { return rapid.SliceOfN(rapid.Custom(clause), 0, 2).Draw(t, name) }
	return braid.Filter{Must: list("must"), Should: list("should"), MustNot: list("must not")}
}

// A filter sent over the wire is the same filter, and it is valid.
func TestFiltersReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFilter(t, 3)
		sent, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var got braid.Filter
		if err := json.Unmarshal(sent, &got); err != nil {
			t.Fatalf("%s: %v", sent, err)
		}
		again, err := json.Marshal(got)
		if err != nil || string(again) != string(sent) {
			t.Fatalf("%s reads back as %s, error %v", sent, again, err)
		}
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzFilter(f *testing.F) {
	for _, table := range truth {
		for text := range table.passed {
			f.Add(text)
		}
	}
	f.Add(`{"must":[{"field":"n","range":{"gt":1,"lt":"x"}}]} `)
	f.Fuzz(func(t *testing.T, text string) {
		var filter braid.Filter
		err := json.Unmarshal([]byte(text), &filter)
		if err != nil {
			if json.Valid([]byte(text)) && braid.CodeOf(err) != braid.InvalidArgument && braid.CodeOf(err) != braid.TooLarge {
				t.Fatalf("untyped error: %v", err)
			}
			return
		}
		if err := filter.Validate(); err != nil {
			t.Fatalf("accepted %s: %v", text, err)
		}
		not := braid.Filter{MustNot: []braid.Clause{filter}}
		for _, table := range truth {
			for id, payload := range table.payloads {
				fields, err := braid.FieldsOf(json.RawMessage(payload))
				if err != nil || filter.Passes(fields) == not.Passes(fields) {
					t.Fatalf("%s: document %s passes both or neither, error %v", text, id, err)
				}
			}
		}
	})
}
