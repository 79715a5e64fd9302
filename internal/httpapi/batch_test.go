package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

func TestSearchBatch(t *testing.T) {
	base, _ := start(t, nil)
	c := base + "/v1/collections/t"
	mustCall(t, "PUT", c, "", nil)
	mustCall(t, "POST", c+"/documents", docs, nil)
	status, body := call(t, "POST", c+"/search/batch", `{"searches":[{"query":"ERR-104","limit":1},{"query":"x","topk":3},7,{"query":""},{"query":"billing","mode":"lexical"}]}`)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	at := 0
	for _, part := range []string{`{"answers":[{"answer":{"hits":[{"rank":1,"id":"err-104"`,
		`{"error":{"code":"invalid_argument","message":"unknown field \"topk\"`,
		`{"error":{"code":"invalid_argument","message":"`,
		`{"error":{"code":"invalid_argument","message":"query is empty","field":"query"}}`,
		`{"answer":{"hits":[{"rank":1,"id":"docs/a b%.md"`} {
		i := strings.Index(body[at:], part)
		if i < 0 {
			t.Fatalf("no %s after %d in %s", part, at, body)
		}
		at += i + len(part)
	}
	for body, want := range map[string]int{
		`{}`:                          400,
		`{"searches":[]}`:             400,
		`{"searches":{"query":"x"}}`:  400,
		`[{"query":"x"}]`:             400,
		`{"queries":[{"query":"x"}]}`: 400,
		`{"searches":[{"query":"x"`:   400,
		`{"searches":[` + strings.Repeat(`{"query":"x"},`, search.MaxBatch) + `{"query":"x"}]}`: 413,
	} {
		if status, answer := call(t, "POST", c+"/search/batch", body); status != want {
			t.Errorf("%.60s: %d %s, want %d", body, status, answer, want)
		}
	}
	if status, answer := call(t, "POST", base+"/v1/collections/absent/search/batch", `{"searches":[{"query":"x"}]}`); status != 404 {
		t.Errorf("no such collection: %d %s", status, answer)
	}
}

func TestClientAsksABatch(t *testing.T) {
	base, _ := start(t, nil)
	mustCall(t, "PUT", base+"/v1/collections/t", "", nil)
	mustCall(t, "POST", base+"/v1/collections/t/documents", docs, nil)
	client, err := httpapi.NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answers, err := client.SearchBatch(t.Context(), "t", []search.Request{{Query: "ERR-104"}, {Query: " "}})
	if err != nil {
		t.Fatal(err)
	}
	if a := answers[0]; a.Err != nil || a.Response.Hits[0].ID != "err-104" {
		t.Errorf("first: %+v", a)
	}
	if e := braid.Public(answers[1].Err); e.Code != braid.InvalidArgument || e.Field != "query" || answers[1].Response != nil {
		t.Errorf("second: %+v", answers[1])
	}
}
