package eval_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

// small is a dataset that is right; tests replace files of it.
func small() map[string]string {
	return map[string]string{
		"corpus.jsonl": `{"_id":"d1","title":"One","text":"first","metadata":{"url":"x"}}` + "\n" +
			`{"id":"d2","text":"second","format":"markdown","payload":{"kind":"howto"}}` + "\n",
		"queries.jsonl":  `{"_id":"q2","text":"two"}` + "\n" + `{"_id":"q1","text":"one"}` + "\n" + `{"_id":"q9","text":"not judged"}` + "\n",
		"qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\nq2\td1\t0\n",
		"qrels/dev.tsv":  "query-id\tcorpus-id\tscore\nq9\td1\t1\n",
	}
}

func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "small")
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, files map[string]string, qrels string) *eval.Dataset {
	t.Helper()
	d, err := eval.Open(write(t, files), qrels)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// documents reads the corpus up to its end or first fault.
func documents(d *eval.Dataset) ([]braid.Document, error) {
	var docs []braid.Document
	for doc, err := range d.Corpus() {
		if err != nil {
			return docs, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

func TestOpen(t *testing.T) {
	d := open(t, small(), "")
	if d.Name != "small" || d.Qrels != "test" || len(d.Queries) != 2 {
		t.Fatalf("dataset %+v, want small/test with 2 judged queries", d)
	}
	if q := d.Queries[0]; q.ID != "q2" || q.Text != "two" || !maps.Equal(q.Judgments, eval.Judgments{"d2": 2, "d1": 0}) {
		t.Errorf("first query %+v, want q2 as in the order of the file", q)
	}
	docs, err := documents(d)
	if err != nil || len(docs) != 2 {
		t.Fatalf("documents %+v, %v", docs, err)
	}
	if d := docs[0]; d.ID != "d1" || d.Title != "One" || d.Text != "first" || d.Payload != nil {
		t.Errorf("first document %+v", d)
	}
	if d := docs[1]; d.ID != "d2" || d.Format != braid.FormatMarkdown || string(d.Payload) != `{"kind":"howto"}` {
		t.Errorf("second document %+v", d)
	}
	if d := open(t, small(), "dev"); len(d.Queries) != 1 || d.Queries[0].ID != "q9" {
		t.Errorf("queries by other judgments: %+v, want q9", d.Queries)
	}
}

func TestFilesFromOtherSystems(t *testing.T) {
	const bom = "\ufeff"
	files := small()
	for name, content := range files {
		files[name] = bom + "\r\n" + strings.ReplaceAll(content, "\n", "\r\n\r\n")
	}
	files["qrels/test.tsv"] = bom + strings.ReplaceAll(small()["qrels/test.tsv"], "\n", "\r\n")
	d := open(t, files, "")
	if !maps.Equal(d.Queries[0].Judgments, eval.Judgments{"d2": 2, "d1": 0}) {
		t.Errorf("judgments %v", d.Queries[0].Judgments)
	}
	if docs, err := documents(d); err != nil || len(docs) != 2 || docs[0].ID != "d1" {
		t.Errorf("documents %+v, %v", docs, err)
	}
}

func TestQrelsWithoutHeaderLoseNothing(t *testing.T) {
	files := small()
	files["qrels/test.tsv"] = "q1\td1\t1\nq2\td2\t1"
	if d := open(t, files, ""); len(d.Queries) != 2 {
		t.Errorf("queries %+v, want q1 and q2", d.Queries)
	}
}

func TestCorpusKeepsDocumentsWithoutText(t *testing.T) {
	files := small()
	files["corpus.jsonl"] = `{"_id":"d1","title":"","text":""}` + "\n" + `{"_id":"d2","text":null}`
	if docs, err := documents(open(t, files, "")); err != nil || len(docs) != 2 {
		t.Errorf("documents %+v, %v, want both", docs, err)
	}
}

func TestCorpusCanStopEarlyAndStartAgain(t *testing.T) {
	d := open(t, small(), "")
	for range 2 {
		for doc, err := range d.Corpus() {
			if err != nil || doc.ID != "d1" {
				t.Fatalf("first document %+v, %v", doc, err)
			}
			break
		}
	}
}

func TestLongLines(t *testing.T) {
	line := func(length int) string {
		const frame = `{"_id":"d1","text":""}`
		return strings.Replace(frame, `""`, `"`+strings.Repeat("x", length-len(frame))+`"`, 1)
	}
	for _, end := range []string{"", "\n", "\r\n"} {
		files := small()
		files["corpus.jsonl"] = line(eval.MaxLineBytes) + end
		if docs, err := documents(open(t, files, "")); err != nil || len(docs) != 1 {
			t.Errorf("a line of the largest size ending in %q: %d documents, %v", end, len(docs), err)
		}
		files["corpus.jsonl"] = `{"_id":"d0","text":"x"}` + "\n" + line(eval.MaxLineBytes+10) + end
		if _, err := documents(open(t, files, "")); braid.CodeOf(err) != braid.TooLarge || !strings.Contains(err.Error(), "corpus.jsonl line 2") {
			t.Errorf("a longer line: %v, want %s naming line 2", err, braid.TooLarge)
		}
	}
}

func TestFaultsAreNamedWithFileAndLine(t *testing.T) {
	tests := []struct {
		name, file, content string
		code                braid.Code
		want                string
	}{
		{"cut off JSON", "corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"x\"}\n\n{\"_id\":", braid.InvalidArgument, "corpus.jsonl line 3: malformed JSON: unexpected end"},
		{"two objects on a line", "corpus.jsonl", `{"_id":"d1","text":"x"} {"_id":"d2","text":"x"}`, braid.InvalidArgument, "line 1: malformed JSON"},
		{"array", "corpus.jsonl", `["d1"]`, braid.InvalidArgument, "line 1: a JSON array, want an object"},
		{"number as id", "corpus.jsonl", `{"_id":7,"text":"x"}`, braid.InvalidArgument, "line 1: _id is a JSON number, want a string"},
		{"null", "corpus.jsonl", `null`, braid.InvalidArgument, "line 1: document id is empty"},
		{"no id", "corpus.jsonl", `{"text":"x"}`, braid.InvalidArgument, "line 1: document id is empty"},
		{"two ids", "corpus.jsonl", `{"_id":"a","id":"b","text":"x"}`, braid.InvalidArgument, `line 1: _id "a" and id "b" differ`},
		{"id twice", "corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"x\"}\n{\"_id\":\"d1\",\"text\":\"y\"}", braid.InvalidArgument, `line 2: id "d1" was on line 1 already`},
		{"not UTF-8", "corpus.jsonl", "{\"_id\":\"d1\",\"text\":\"\xff\"}", braid.InvalidArgument, "line 1: not valid UTF-8"},
		{"query twice", "queries.jsonl", "{\"_id\":\"q1\",\"text\":\"x\"}\n{\"_id\":\"q1\",\"text\":\"y\"}", braid.InvalidArgument, `queries.jsonl line 2: id "q1"`},
		{"judged query is not there", "queries.jsonl", `{"_id":"q1","text":"x"}`, braid.InvalidArgument, `1 queries that are not in`},
		{"judged query without text", "queries.jsonl", "{\"_id\":\"q1\",\"text\":\" \"}\n{\"_id\":\"q2\",\"text\":\"x\"}", braid.InvalidArgument, `judged query "q1" has no text`},
		{"four columns", "qrels/test.tsv", "q1\t0\td1\t1\n", braid.InvalidArgument, "test.tsv line 1: 4 columns"},
		{"spaces for tabs", "qrels/test.tsv", "h\th\th\nq1 d1 1\n", braid.InvalidArgument, "test.tsv line 2: 1 columns"},
		{"grade", "qrels/test.tsv", "h\th\th\nq1\td1\thigh\n", braid.InvalidArgument, `line 2: score "high" is not a whole number`},
		{"judged twice", "qrels/test.tsv", "q1\td1\t1\nq1\td1\t0\n", braid.InvalidArgument, `line 2: query "q1" judges "d1" again, 0 and before 1`},
		{"empty id", "qrels/test.tsv", "h\th\th\nq1\t\t1\n", braid.InvalidArgument, "line 2: query-id or corpus-id is empty"},
		{"header only", "qrels/test.tsv", "query-id\tcorpus-id\tscore\n", braid.InvalidArgument, "holds no judgments"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := small()
			files[tt.file] = tt.content
			d, err := eval.Open(write(t, files), "")
			if err == nil {
				_, err = documents(d)
			}
			var typed *braid.Error
			if !errors.As(err, &typed) || typed.Code != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s with %q", err, tt.code, tt.want)
			}
		})
	}
}

func TestMissingFiles(t *testing.T) {
	for _, file := range []string{"corpus.jsonl", "queries.jsonl"} {
		files := small()
		delete(files, file)
		if _, err := eval.Open(write(t, files), ""); braid.CodeOf(err) != braid.NotFound || !strings.Contains(err.Error(), file) {
			t.Errorf("without %s: %v, want %s naming it", file, err, braid.NotFound)
		}
	}
	if _, err := eval.Open(write(t, small()), "train"); braid.CodeOf(err) != braid.NotFound || !strings.Contains(err.Error(), "there is: dev, test") {
		t.Errorf("unknown judgments: %v, want %s with those there are", err, braid.NotFound)
	}
	if _, err := eval.Open(filepath.Join(t.TempDir(), "nowhere"), ""); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no folder: %v, want %s", err, braid.NotFound)
	}
}

func TestScoreCountsEveryJudgedQuery(t *testing.T) {
	d := open(t, small(), "")
	r := d.Results()
	// q2 has no hits, q9 is not judged.
	if err := d.Score(r, "m", eval.Run{"q1": {"d1"}, "q9": {"d1"}}, eval.DefaultMetrics()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Queries, []string{"q2", "q1"}) || !slices.Equal(r.Modes["m"]["nDCG@10"], []float64{0, 1}) || r.Mean("m", "nDCG@10") != 0.5 {
		t.Errorf("results %+v: a query without hits counts as 0", r)
	}
	if err := d.Score(r, "m", eval.Run{"q1": {"d1", "d1"}}, eval.DefaultMetrics()); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), `query "q1"`) {
		t.Errorf("an id twice: %v, want %s naming the query", err, braid.InvalidArgument)
	}
}

// The counts are those the collections are documented with.
func TestCollectionsAtHand(t *testing.T) {
	for _, want := range []struct {
		name, qrels     string
		docs, queries   int
		judgments, best int
	}{
		{"scifact", "", 5183, 300, 339, 1},
		{"cppdocs-errors", "", 2539, 300, 300, 1},
		{"cppdocs-errors", "messages", 2539, 300, 300, 1},
		{"rustsec-ids", "", 1205, 350, 0, 1},
		{"nq-utd", "", 800, 80, 800, 2},
	} {
		t.Run(want.name+" "+want.qrels, func(t *testing.T) {
			dir := filepath.Join("..", "..", "..", "shared", "data", want.name)
			if _, err := os.Stat(dir); err != nil {
				t.Skip("skipped: no data: ", err)
			}
			d, err := eval.Open(dir, want.qrels)
			if err != nil {
				t.Fatal(err)
			}
			docs, err := documents(d)
			if err != nil || len(docs) != want.docs || len(d.Queries) != want.queries {
				t.Errorf("%d documents, %d queries, error %v, want %d and %d", len(docs), len(d.Queries), err, want.docs, want.queries)
			}
			judgments, best := 0, 0
			for _, q := range d.Queries {
				judgments += len(q.Judgments)
				for _, grade := range q.Judgments {
					best = max(best, grade)
				}
			}
			if want.judgments > 0 && judgments != want.judgments || best != want.best {
				t.Errorf("%d judgments up to grade %d, want %d up to %d", judgments, best, want.judgments, want.best)
			}
		})
	}
}
