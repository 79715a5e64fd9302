package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// Every row differs from the defaults for some query, and no two rows of a stage ask
// alike: a row that does not is a wrong line of the table.
func TestRowsAskInDifferentWays(t *testing.T) {
	queries := []string{"how is a pump reset?", "RUSTSEC-2021-0145", "zinc deficiency in adults", "which pump has E1234 to do with"}
	for _, s := range stages() {
		asked := map[string]string{}
		for _, w := range s.rows {
			var all []string
			for _, q := range queries {
				r := s.request(w, q)
				if r.Query != q || r.Rerank == nil {
					t.Errorf("%s, %s: asks %+v", s.name, w.name, r)
				}
				data, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(data))
			}
			text := strings.Join(all, "\n")
			if other, twice := asked[text]; twice {
				t.Errorf("%s: %q asks as %q does", s.name, w.name, other)
			}
			asked[text] = w.name
		}
	}
}

func TestRowsChangeOnlyTheirKind(t *testing.T) {
	first := stages()[0]
	same := func(name, query string) bool {
		i := slices.IndexFunc(first.rows, func(w row) bool { return w.name == name })
		if i < 0 {
			t.Fatalf("no row %q", name)
		}
		a, _ := json.Marshal(first.request(first.rows[i], query))
		b, _ := json.Marshal(first.request(first.rows[0], query))
		return string(a) == string(b)
	}
	for _, c := range []struct {
		row, query string
		same       bool
	}{
		{"no agreement", "how is a pump reset?", false},
		{"no agreement", "how is RUSTSEC-2021-0145 fixed in the newest version", true}, // a question with an identifier
		{"no agreement", "zinc deficiency", true},
		{"no identifiers", "RUSTSEC-2021-0145", false},
		{"no identifiers", "how is a pump reset?", true},
		{"identifiers not looked up", "RUSTSEC-2021-0145", false},
		{"identifiers not looked up", "zinc deficiency", true},
	} {
		if got := same(c.row, c.query); got != c.same {
			t.Errorf("%s, %q: the same request is %v, want %v", c.row, c.query, got, c.same)
		}
	}
}

// The mean of values put together evenly is the mean of the sets' means.
func TestEvenly(t *testing.T) {
	all := evenly([][]float64{{1, 1, 1, 1}, {4}, {}})
	if len(all) != 5 || math.Abs(mean(all)-2.5) > 1e-12 {
		t.Errorf("%v, whose mean is %v, want 2.5", all, mean(all))
	}
}

// fixture is a set of two queries, asked in every way of both stages.
func fixture() ([]set, []observation) {
	s := set{"s", &eval.Dataset{Name: "s", Queries: []eval.Query{
		{ID: "1", Text: "one", Judgments: eval.Judgments{"a": 1}},
		{ID: "2", Text: "two", Judgments: eval.Judgments{"b": 1}},
		{ID: "3", Text: "not asked", Judgments: eval.Judgments{"b": 1}},
	}}}
	var all []observation
	for _, st := range stages() {
		for i, w := range st.rows {
			for _, q := range s.Queries[:2] {
				o := observation{key: key{st.name, w.name, "s", q.ID}, IDs: []string{"a", "b"}, MS: float64(10 * (1 + i))}
				if st.name == reranked {
					o.Reranked, o.Tokens = 20, 3000
				}
				if w.name == "no routing" && q.ID == "1" { // a falls to rank 2
					o.IDs = []string{"b", "a"}
				}
				if w.name == "defaults" && q.ID == "2" {
					n := 7
					o.Syntax = search.QueryUsage{Phrases: []string{"two"}, Matching: &n}
				}
				all = append(all, o)
			}
		}
	}
	return []set{s}, all
}

func TestSum(t *testing.T) {
	from, all := fixture()
	var r results
	r.sum(from, all)
	r.retime(report.Circumstances{}, from, all)
	defaults, other := r.Stages[0].Rows[0], r.Stages[0].Rows[1]
	second := 1 / math.Log2(3) // the gain at rank 2
	if got := defaults.Sets[0]; got.Queries != 2 || math.Abs(got.NDCG-(1+second)/2) > 1e-12 || got.Difference != 0 || got.Changed != 0 {
		t.Errorf("the defaults have %+v", got)
	}
	if got := other.Sets[0]; got.Changed != 1 || math.Abs(got.Difference-(second-1)/2) > 1e-12 {
		t.Errorf("no routing has %+v, want a difference of %v", got, (second-1)/2)
	}
	if got := other.Ratio; got != 2 {
		t.Errorf("it takes %v times as long, want 2", got)
	}
	if got := other.Sets[0].Time; got != (timing{2, 20, 20}) {
		t.Errorf("its times are %+v", got)
	}
	if got := r.Stages[1].Rows[0].Sets[0]; got.Reranked != 20 || got.Tokens != 3000 {
		t.Errorf("the reranked defaults have %+v", got)
	}
	if len(r.Syntax) != 1 || r.Syntax[0].Matching != 7 || r.Syntax[0].Query != "two" {
		t.Errorf("syntax is in %+v", r.Syntax)
	}
}

// The times are replaced and nothing else, except for answers that depend on them; a
// row that was not asked keeps its own.
func TestRetime(t *testing.T) {
	from, all := fixture()
	var r, before results
	for _, to := range []*results{&r, &before} {
		to.sum(from, all)
		to.retime(report.Circumstances{Commit: "first"}, from, all)
	}
	var again []observation
	for _, o := range all {
		if o.Stage == reranked {
			o.MS, o.IDs, o.Reranked = o.MS+5, nil, 7
			again = append(again, o)
		}
	}
	r.retime(report.Circumstances{Commit: "later"}, from, again)
	for i, row := range r.Stages[1].Rows {
		was := before.Stages[1].Rows[i]
		if got, want := row.Sets[0].Time.Median, was.Sets[0].Time.Median+5; got != want {
			t.Errorf("%s takes %v, want %v", row.Name, got, want)
		}
		if strings.HasPrefix(row.Name, "budget") {
			if row.Sets[0].Reranked != 7 || row.Sets[0].NDCG != 0 {
				t.Errorf("%s has %+v of before", row.Name, row.Sets[0])
			}
		} else if row.All != was.All || row.Sets[0].quality != was.Sets[0].quality || row.Sets[0].Reranked != was.Sets[0].Reranked {
			t.Errorf("the quality of %s changed", row.Name)
		}
	}
	if got, was := r.Stages[0].Rows[3], before.Stages[0].Rows[3]; got.Sets[0] != was.Sets[0] || got.Ratio != was.Ratio {
		t.Errorf("%+v changed", got)
	}
	if r.Times.Commit != "later" || r.Commit == "later" {
		t.Errorf("times of %q, quality of %q", r.Times.Commit, r.Commit)
	}
}

// What a stopped run left half written is cut off, and the rest is not asked again.
func TestAnswersAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.jsonl")
	_, all := fixture()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	a := &answers{asked: map[key]bool{}, file: file}
	for range 2 { // the second time they are there already
		if err := a.add(all[:3]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := file.WriteString(`{"stage":"first`); err != nil {
		t.Fatal(err)
	}
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	b := &answers{asked: map[key]bool{}}
	if err := b.read(path); err != nil {
		t.Fatal(err)
	}
	if len(b.all) != 3 || !b.asked[all[2].key] || b.asked[all[3].key] || b.all[1].MS != all[1].MS || !slices.Equal(b.all[1].IDs, all[1].IDs) {
		t.Errorf("%d answers were read: %+v", len(b.all), b.all)
	}
	var whole int
	for range strings.Lines(read(t, path)) {
		whole++
	}
	if whole != 3 || !strings.HasSuffix(read(t, path), "}\n") {
		t.Errorf("the file has %d lines, want 3 whole ones", whole)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReport(t *testing.T) {
	from, all := fixture()
	var r results
	r.sum(from, all)
	r.retime(report.Circumstances{}, from, all)
	out := filepath.Join(t.TempDir(), "report")
	if err := r.write(out); err != nil {
		t.Fatal(err)
	}
	var again results
	if err := report.Read(out, &again); err != nil {
		t.Fatal(err)
	}
	if again.markdown() != r.markdown() {
		t.Error("what was read makes another report than what was written")
	}
	text := read(t, out+".md")
	for _, want := range []string{"## nDCG@10, first stage", "## Milliseconds, reranked", "20.0 / 3000", "the same answers", "1 of 2."} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not have %q", want)
		}
	}
	width := 0
	for line := range strings.Lines(text) { // the rows of a table have as many cells as its head
		switch n := strings.Count(line, " |"); {
		case !strings.HasPrefix(line, "|"):
			width = 0
		case width == 0:
			width = n
		case n != width:
			t.Errorf("%d cells, want %d: %s", n, width, line)
		}
	}
}

func TestVerdict(t *testing.T) {
	few := quality{Interval: eval.Interval{Low: 0.1, High: 0.2}, P: 0.1}
	up, down, open := quality{Interval: eval.Interval{Low: 0.1, High: 0.2}}, quality{Interval: eval.Interval{Low: -0.2, High: -0.1}}, quality{Interval: eval.Interval{Low: -0.1, High: 0.1}}
	for want, r := range map[string]rowResult{
		"better":                  {All: up, Sets: []cell{{quality: few}}},
		"worse":                   {All: down},
		"no difference shown":     {All: open, Sets: []cell{{quality: open}, {quality: few}}},
		"worse on 1, better on 0": {All: open, Sets: []cell{{quality: open}, {quality: down}}},
	} {
		if got := r.verdict(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := results{Stages: []stageResult{{firstStage, []rowResult{
		{Name: "a", Off: true, All: open, Sets: []cell{{quality: open}}},
		{Name: "b", Off: true, All: open, Sets: []cell{{quality: down}}},
		{Name: "c", All: open},
		{Name: "d", Off: true, All: open, Ratio: 2},
	}}}}
	if got := r.unpaid(); !slices.Equal(got, []string{"first stage, a"}) {
		t.Errorf("unpaid: %q", got)
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{nil, {"-out", "x", "-reranked", "0"}, {"-out", "x", "more"}, {"-out", "x", "-data", t.TempDir()}} {
		if err := run(context.Background(), args, &strings.Builder{}); err == nil {
			t.Errorf("%q runs", args)
		}
	}
}
