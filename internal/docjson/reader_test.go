package docjson_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/docjson"
)

func readAll(in string) ([]braid.Document, error) {
	r := docjson.NewReader(strings.NewReader(in))
	var docs []braid.Document
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
}

func TestReaderForms(t *testing.T) {
	for name, in := range map[string]string{
		"array":           `[{"id":"a","text":"x"},{"id":"b","text":"y","title":null,"payload":null}]`,
		"array, spaced":   "\n\t [ {\"id\":\"a\",\"text\":\"x\"} ,\n{\"id\":\"b\",\"text\":\"y\"} ]\n",
		"lines":           "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n",
		"no last newline": "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}",
		"CRLF and blank":  "\r\n{\"id\":\"a\",\"text\":\"x\"}\r\n\r\n{\"id\":\"b\",\"text\":\"y\"}\r\n",
		"byte order mark": "\ufeff{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}",
		"BEIR":            "{\"_id\":\"a\",\"text\":\"x\"}\n{\"_id\":\"b\",\"text\":\"y\"}",
	} {
		docs, err := readAll(in)
		if err != nil || len(docs) != 2 || docs[0].ID != "a" || docs[1].Text != "y" || docs[1].Payload != nil {
			t.Errorf("%s: got %+v, %v", name, docs, err)
		}
	}
	docs, err := readAll(`{"_id":"a","text":"x","metadata":{"year":2031}}`)
	if err != nil || string(docs[0].Payload) != `{"year":2031}` {
		t.Errorf("BEIR metadata: got %+v, %v", docs, err)
	}
	for _, in := range []string{"", "  \n\n", "[]", " [ ] "} {
		if docs, err := readAll(in); err != nil || len(docs) != 0 {
			t.Errorf("%q: got %v, %v", in, docs, err)
		}
	}
}

func TestReaderNamesThePlace(t *testing.T) {
	var lines []string
	for i := 1; i <= 20; i++ {
		lines = append(lines, fmt.Sprintf(`{"id":"d%d","text":"x"}`, i))
	}
	spoil := func(i int, with string) string {
		c := append([]string(nil), lines...)
		c[i-1] = with
		return strings.Join(c, "\n")
	}
	for name, tc := range map[string]struct {
		in    string
		code  braid.Code
		says  []string
		reads int
	}{
		"bad JSON in line 17":  {spoil(17, `{"id":"d17","text":x}`), braid.InvalidArgument, []string{"line 17:", "malformed JSON"}, 16},
		"a vertical tab":       {spoil(5, `{"id":"d5","text":"x"}`+"\v"), braid.InvalidArgument, []string{"line 5:", "more data"}, 4},
		"line cut":             {spoil(17, `{"id":"d17","te`), braid.InvalidArgument, []string{"line 17:", "middle"}, 16},
		"number as id":         {spoil(3, `{"id":3,"text":"x"}`), braid.InvalidArgument, []string{"line 3:", "id must be a string, got number"}, 2},
		"unknown field":        {spoil(3, `{"id":"d3","txt":"x"}`), braid.InvalidArgument, []string{"line 3:", `unknown field "txt"`, "known are id"}, 2},
		"no id":                {spoil(4, `{"text":"x"}`), braid.InvalidArgument, []string{"line 4:", "id is empty"}, 3},
		"twice":                {spoil(9, `{"id":"d2","text":"x"}`), braid.InvalidArgument, []string{"line 9:", `"d2"`, "line 2"}, 8},
		"not UTF-8":            {spoil(5, "{\"id\":\"d5\",\"text\":\"caf\xe9\"}"), braid.InvalidArgument, []string{"line 5:", "UTF-8"}, 4},
		"10 MB text":           {spoil(2, `{"id":"d2","text":"`+strings.Repeat("x", 10<<20)+`"}`), braid.TooLarge, []string{"line 2:", "the limit is 1048576"}, 1},
		"endless line":         {spoil(2, `{"id":"d2","text":"`+strings.Repeat("x", 20<<20)), braid.TooLarge, []string{"line 2:"}, 1},
		"array, bad element":   {`[{"id":"a","text":"x"},{"id":"b"}]`, braid.InvalidArgument, []string{"documents[1]:", "text is empty"}, 1},
		"array, syntax":        {`[{"id":"a","text":"x"},{"id":b}]`, braid.InvalidArgument, []string{"documents[1]:", "malformed"}, 1},
		"array, cut":           {`[{"id":"a","text":"x"},`, braid.InvalidArgument, []string{"documents[1]:", "middle"}, 1},
		"array, then more":     {`[{"id":"a","text":"x"}] []`, braid.InvalidArgument, []string{"more data"}, 1},
		"array of strings":     {`["a"]`, braid.InvalidArgument, []string{"documents[0]:", "must be an object"}, 0},
		"both ids":             {`{"id":"a","_id":"b","text":"x"}`, braid.InvalidArgument, []string{"line 1:", "both"}, 0},
		"both payloads":        {`{"id":"a","text":"x","payload":{},"metadata":{}}`, braid.InvalidArgument, []string{"line 1:", "metadata"}, 0},
		"neither form":         {`"hello"`, braid.InvalidArgument, []string{"line 1:", "must be an object"}, 0},
		"blank lines do count": {"\n\n{\"id\":1}", braid.InvalidArgument, []string{"line 3:"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			docs, err := readAll(tc.in)
			if braid.CodeOf(err) != tc.code || len(docs) != tc.reads {
				t.Fatalf("read %d documents, then %v", len(docs), err)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{`[{"id":"a","text":"x"}]`, "{\"id\":\"a\",\"text\":\"x\"}\n", "[", "\ufeff", `{"id":"a","text":"\ud800"}`, "[[]]", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		docs, err := readAll(in)
		if err != nil && braid.CodeOf(err) == braid.Internal {
			t.Fatalf("untyped error: %v", err)
		}
		for _, d := range docs {
			if err := d.Validate(); err != nil {
				t.Fatalf("accepted %+v: %v", d, err)
			}
		}
	})
}
