package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/braid-search/braid"
)

// Whatever the bytes are, reading ends with documents that have distinct valid
// ids or with a typed error, after which nothing comes.
func FuzzReadDocuments(f *testing.F) {
	for _, seed := range []string{
		`{"_id":"a","title":"t","text":"x"}` + "\n" + `{"id":"b","text":"y","payload":{"k":1}}`,
		"\ufeff{\"_id\":\"a\"}\r\n\r\n", `{"_id":"a"}{`, "null", "[]", "{\"_id\":\"\xff\"}", `{"_id":"a","id":"b"}`, "{\"_id\":\"a\\u0000\"}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		seen := map[string]bool{}
		failed := false
		for doc, err := range readDocuments(source{strings.NewReader(input), "fuzz"}) {
			if failed {
				t.Fatal("something came after an error")
			}
			if err != nil {
				failed = true
				checkTyped(t, err)
				continue
			}
			if seen[doc.ID] || braid.ValidateID(doc.ID) != nil {
				t.Fatalf("id %q is not valid or came before", doc.ID)
			}
			seen[doc.ID] = true
		}
	})
}

func FuzzReadQrels(f *testing.F) {
	for _, seed := range []string{
		"query-id\tcorpus-id\tscore\nq\td\t1\n", "q\td\t1", "\ufeffq\td\t-1\r\n", "a\tb", "\t\t1", "q\td\t1\nq\td\t2", "q\td\t99999999999999999999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		judged, err := readQrels(source{strings.NewReader(input), "fuzz"})
		if err != nil {
			checkTyped(t, err)
			return
		}
		if len(judged) == 0 {
			t.Fatal("no judgments and no error")
		}
		for query, judgments := range judged {
			if query == "" || len(judgments) == 0 {
				t.Fatalf("query %q has judgments %v", query, judgments)
			}
		}
	})
}

func checkTyped(t *testing.T, err error) {
	t.Helper()
	var typed *braid.Error
	if !errors.As(err, &typed) || !strings.Contains(err.Error(), "fuzz") {
		t.Fatalf("error %v does not name the file or has no code", err)
	}
}
