package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/querylog"
)

func TestQueryLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.jsonl")
	queries, err := querylog.Open(querylog.Options{Path: path, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	keys := withKeys(t)
	base, _ := start(t, func(o *httpapi.Options) { keys(o); o.Queries = queries })
	c := base + "/v1/collections/docs"
	for _, step := range []struct{ name, method, path, body string }{
		{"operator", "PUT", "", ""},
		{"a", "POST", "/documents", `{"id":"a1","text":"The inlet pressure is too low.","payload":{"tenant":"a"}}`},
		{"a", "POST", "/search", `{"query":"inlet <pressure>","filter":{"must_not":[{"field":"hidden","match":"filtered value"}]},"variants":["other words"]}`},
		{"a", "POST", "/search", `{"query":"x","mode":"none"}`},
		{"a", "POST", "/search/batch", `{"searches":[{"query":"low"},{"query":""}]}`},
		{"a", "POST", "/count", `{}`},
	} {
		as(t, step.name, step.method, c+step.path, step.body)
	}
	if err := queries.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"key-of", "filtered value", "other words", "too low"} {
		if strings.Contains(string(data), secret) {
			t.Errorf("the log tells %q: %s", secret, data)
		}
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 4 {
		t.Fatalf("%d lines, want one a search: %s", len(lines), data)
	}
	var records [4]querylog.Record
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &records[i]); err != nil {
			t.Fatal(err)
		}
		if r := records[i]; r.Caller != "a" || r.Collection != "docs" || r.RequestID == "" || r.Time.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if r := records[0]; r.Query != "inlet <pressure>" || !r.Filtered || r.Variants != 1 || *r.Allowed != 1 || r.Found != 1 || len(r.Hits) != 1 ||
		r.Hits[0].ID != "a1" || r.Hits[0].Branches[braid.Lexical] != 1 || r.Hits[0].Fused != 1 || r.Timings.Total <= 0 || r.Kind == "" {
		t.Errorf("%s", lines[0])
	}
	if r := records[1]; r.Code != braid.InvalidArgument || r.Hits != nil {
		t.Errorf("%s", lines[1])
	}
	if records[2].Query != "low" || records[2].Found != 1 || records[3].Code != braid.InvalidArgument {
		t.Errorf("%s\n%s", lines[2], lines[3])
	}
}
