package eval_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

func openLabels(t *testing.T, name, text string) (*eval.Dataset, error) {
	t.Helper()
	return eval.OpenLabels(filepath.Join(write(t, map[string]string{name: text}), name))
}

func TestLabelsInBothForms(t *testing.T) {
	for name, text := range map[string]string{
		"mine.jsonl": `{"text":"reset the pump","relevant":["a","b"],"shows":"x"}` + "\n\n" +
			`{"text":"nobody knows","relevant":[]}` + "\n" + `{"text":"ERR-104","relevant":{"e":2,"f":0}}` + "\n" + `{"text":"wrong only","relevant":{"a":0}}`,
		"mine.tsv": "\ufeffreset the pump\ta\nERR-104\te\t2\r\nnobody knows\nreset the pump\tb\t1\nERR-104\tf\t0\nwrong only\ta\t0\n",
	} {
		d, err := openLabels(t, name, text)
		if err != nil {
			t.Fatal(name, err)
		}
		if d.Name != "mine" || d.HasCorpus() || len(d.Queries) != 2 || len(d.Unanswerable) != 2 {
			t.Fatalf("%s: %+v", name, d)
		}
		for i, want := range []eval.Query{
			{ID: "reset the pump", Text: "reset the pump", Judgments: eval.Judgments{"a": 1, "b": 1}},
			{ID: "ERR-104", Text: "ERR-104", Judgments: eval.Judgments{"e": 2, "f": 0}},
		} {
			if got := d.Queries[i]; got.ID != want.ID || got.Text != want.Text || !maps.Equal(got.Judgments, want.Judgments) {
				t.Errorf("%s: query %d is %+v, want %+v", name, i, got, want)
			}
		}
		if d.Unanswerable[0].Text != "nobody knows" || d.Unanswerable[1].Text != "wrong only" {
			t.Errorf("%s: unanswerable %+v", name, d.Unanswerable)
		}
	}
	if d, err := openLabels(t, "ids.jsonl", `{"id":"q1","text":"x","relevant":["a"]}`+"\n"+`{"_id":"q2","text":"x","relevant":["a"]}`); err != nil || d.Queries[0].ID != "q1" || d.Queries[1].ID != "q2" {
		t.Errorf("ids of their own: %+v, %v", d, err)
	}
}

func TestLabelsRefuse(t *testing.T) {
	for says, file := range map[string]struct{ name, text string }{
		`line 1: the query has no "text"`:                 {"a.jsonl", `{"relevant":["a"]}`},
		`line 2: the query has no "relevant"`:             {"a.jsonl", "\n" + `{"text":"x"}`},
		`no "relevant": write []`:                         {"a.jsonl", `{"text":"x","relevant":null}`},
		"relevant is neither a list":                      {"a.jsonl", `{"text":"x","relevant":"a"}`},
		"nor an object of ids and whole":                  {"a.jsonl", `{"text":"x","relevant":{"a":1.5}}`},
		"an id in relevant is empty":                      {"a.jsonl", `{"text":"x","relevant":[""]}`},
		`line 2: query "x" was on line 1`:                 {"a.jsonl", `{"text":"x","relevant":[]}` + "\n" + `{"text":"x","relevant":[]}`},
		"line 1: malformed JSON":                          {"a.jsonl", "x\ta\t1\n"},
		"line 1: want query, document and grade":          {"a.tsv", "x\ta\t1\t2\n"},
		`line 2: grade "high"`:                            {"a.tsv", "x\ta\t1\nx\tb\thigh\n"},
		"line 1: the document is empty":                   {"a.tsv", "x\t\t1\n"},
		`line 2: query "x" judges "a" again, 0 and befor`: {"a.tsv", "x\ta\nx\ta\t0\n"},
		"holds no queries":                                {"a.tsv", "\n"},
	} {
		if d, err := openLabels(t, file.name, file.text); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v, want %s saying %q", file.text, d, err, braid.InvalidArgument, says)
		}
	}
	if _, err := eval.OpenLabels(filepath.Join(t.TempDir(), "absent.tsv")); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no file: %v", err)
	}
}
