package httpapi_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/apikeys"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// withKeys are the keys of the tests: an operator, two tenants of one
// collection, a reader of it, and one who has another collection.
func withKeys(t *testing.T) func(*httpapi.Options) {
	t.Helper()
	var entries []string
	for name, limits := range map[string]string{
		"operator": ``,
		"a":        `,"filter":{"must":[{"field":"tenant","match":"a"}]}`,
		"b":        `,"filter":{"must":[{"field":"tenant","match":"b"}]}`,
		"reader":   `,"read_only":true`,
		"stranger": `,"collections":["other"]`,
	} {
		sum := sha256.Sum256([]byte("key-of-" + name))
		entries = append(entries, fmt.Sprintf(`{"name":%q,"sha256":%q%s}`, name, hex.EncodeToString(sum[:]), limits))
	}
	set, err := apikeys.Parse([]byte(`{"keys":[` + strings.Join(entries, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *httpapi.Options) {
		o.Keys = set
		o.Snapshot = func(_ context.Context, w io.Writer) error { _, err := w.Write([]byte("snapshot")); return err }
	}
}

// as sends one request with the key of name, "" for none, and returns status,
// headers and body.
func as(t *testing.T, name, method, url, body string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if name != "" {
		req.Header.Set("Authorization", "Bearer key-of-"+name)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(data)
}

// secret is in everything that belongs to tenant b.
const secret = "quokka"

// twoTenants serves a collection with two documents of each tenant.
func twoTenants(t *testing.T) (base string, log *logBuffer) {
	t.Helper()
	base, log = start(t, withKeys(t))
	c := base + "/v1/collections/docs"
	for _, step := range []struct{ name, method, url, body string }{
		{"operator", "PUT", c, ""},
		{"a", "POST", c + "/documents", `[{"id":"a1","text":"The inlet pressure is too low.","payload":{"tenant":"a","n":1}},{"id":"a2","text":"The outlet pressure is too high.","payload":{"tenant":"a","n":2}}]`},
		{"b", "POST", c + "/documents", `[{"id":"quokka1","title":"quokka","text":"quokka inlet pressure","payload":{"tenant":"b","n":1,"quokka":"quokka"}},{"id":"quokka2","text":"quokka outlet","payload":{"tenant":"b","n":2}}]`},
	} {
		if status, _, body := as(t, step.name, step.method, step.url, step.body); status >= 300 {
			t.Fatalf("%s %s as %s: %d %s", step.method, step.url, step.name, status, body)
		}
	}
	return base, log
}

// TestEveryRouteAsksForTheKey goes through the document: without a key, or with
// one that is not known, only what is for everybody is answered.
func TestEveryRouteAsksForTheKey(t *testing.T) {
	base, _ := twoTenants(t)
	public := map[string]bool{"/healthz": true, "/health": true, "/readyz": true, "/openapi.yaml": true}
	fill := strings.NewReplacer("{name}", "docs", "{id}", "a1", "{model}", "m")
	for template, item := range document.doc.Paths.Map() {
		for method := range item.Operations() {
			for _, name := range []string{"", "nobody"} {
				status, header, body := as(t, name, method, base+fill.Replace(template), "")
				switch {
				case public[template] && status != 200:
					t.Errorf("%s %s as %q: %d %s", method, template, name, status, body)
				case !public[template] && (status != 401 || header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(body, "key-of")):
					t.Errorf("%s %s as %q: %d %s", method, template, name, status, body)
				}
			}
		}
	}
	for _, header := range []string{"key-of-a", "Basic key-of-a", "Bearer", "Bearer  ", "Bearer key-of-a x"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", base+"/v1/collections", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", header)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 401 {
			t.Errorf("Authorization %q: %d", header, resp.StatusCode)
		}
	}
	if status, _, _ := as(t, "a", "GET", base+"/v1/collections", ""); status != 200 {
		t.Errorf("a key that is known: %d", status)
	}
}

// TestTenantSeesNothingOfTheOther sends tenant a through every route that could
// tell of documents. b's documents hold a word that must not come back.
func TestTenantSeesNothingOfTheOther(t *testing.T) {
	base, log := twoTenants(t)
	c := base + "/v1/collections/docs"
	everything := `"filter":{"should":[{},{"must":[{"field":"tenant","match":"b"}]}]}`
	for _, tc := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/v1/collections", "", 200, `"documents":2`},
		{"GET", "/v1/collections/docs", "", 200, `"documents":2`},
		{"GET", "/v1/collections/docs", "", 200, `"memory_bytes":{}`},
		{"GET", "/info", "", 200, `"documents":2`},
		{"PUT", "/v1/collections/docs", "", 200, `"documents":2`},
		{"POST", "/v1/collections/docs/search", `{"query":"inlet pressure","rerank":true}`, 200, `"allowed":2`},
		{"POST", "/v1/collections/docs/search", `{"query":"outlet","mode":"lexical"}`, 200, `"candidates":{"lexical":1}`},
		{"POST", "/v1/collections/docs/search", `{"query":"pressure","mode":"sparse",` + everything + `}`, 200, `"allowed":2`},
		{"POST", "/v1/collections/docs/search", `{"query":"pressure","filter":{"must":[{"field":"tenant","match":"b"}]}}`, 200, `"hits":[]`},
		{"POST", "/v1/collections/docs/search/batch", `{"searches":[{"query":"inlet pressure"},{"query":"pressure",` + everything + `}]}`, 200, `"allowed":2`},
		{"POST", "/v1/collections/docs/count", `{}`, 200, `{"count":2}`},
		{"POST", "/v1/collections/docs/count", `{` + everything + `}`, 200, `{"count":2}`},
		{"POST", "/v1/collections/docs/count", `{"filter":{"must_not":[{"field":"tenant","match":"a"}]}}`, 200, `{"count":0}`},
		{"POST", "/v1/collections/docs/scroll", `{}`, 200, `"id":"a2"`},
		{"POST", "/v1/collections/docs/scroll", `{"after":"a2",` + everything + `}`, 200, `{"documents":[]}`},
		{"GET", "/v1/collections/docs/documents/quo%6Bka1", "", 404, "no document"},
		{"DELETE", "/v1/collections/docs/documents/quo%6Bka1", "", 404, "no document"},
		{"PATCH", "/v1/collections/docs/documents/quo%6Bka1", `{"payload":{"tenant":"a"}}`, 404, "no document"},
		{"PATCH", "/v1/collections/docs/documents/a1", `{"payload":{"tenant":"b"}}`, 403, `the API key \"a\"`},
		{"POST", "/v1/collections/docs/documents", `{"id":"new","text":"x","payload":{"tenant":"b"}}`, 403, `the API key \"a\"`},
		{"POST", "/v1/collections/docs/documents", `{"id":"new","text":"x"}`, 403, `the API key \"a\"`},
		{"POST", "/v1/collections/docs/documents", `[{"id":"a3","text":"x","payload":{"tenant":"a"}},{"id":"a4","text":"x","payload":{"tenant":["b"]}}]`, 403, `documents[1].payload`},
		{"POST", "/v1/collections/docs/documents", `{"id":"quo` + `\u006b` + `ka1","text":"x","payload":{"tenant":"a"}}`, 409, "in use"},
		{"POST", "/v1/collections/docs/documents/delete", `{"filter":{"must":[{"field":"tenant","match":"b"}]}}`, 200, `{"deleted":0}`},
		{"POST", "/v1/collections/docs/documents/delete", `{}`, 400, "every document"},
		{"PUT", "/v1/collections/new", "", 403, "may not make or delete"},
		{"DELETE", "/v1/collections/docs", "", 403, "may not make or delete"},
		{"GET", "/metrics", "", 403, "all of them"},
		{"GET", "/v1/snapshot", "", 403, "all of them"},
		{"POST", "/v1/rerank", `{"query":"pressure","documents":["the pressure is low"]}`, 200, "relevance_score"},
		{"POST", "/embed", `{"inputs":"pressure"}`, 200, ""},
		{"GET", "/v1/models", "", 200, ""},
		{"POST", "/v1/collections/docs/documents/delete", `{` + everything + `}`, 200, `{"deleted":2}`},
	} {
		status, _, body := as(t, "a", tc.method, base+tc.path, tc.body)
		if status != tc.status || !strings.Contains(body, tc.says) {
			t.Errorf("%s %s %s: %d %s, want %d and %s", tc.method, tc.path, tc.body, status, body, tc.status, tc.says)
		}
		// An error may name the id that was asked for, and no more of it.
		if seen := strings.ReplaceAll(body, `\"quokka1\"`, ""); strings.Contains(seen, secret) {
			t.Errorf("%s %s %s: %s", tc.method, tc.path, tc.body, body)
		}
	}
	status, _, body := as(t, "b", "POST", c+"/scroll", `{}`)
	if status != 200 || strings.Count(body, `"id"`) != 2 || !strings.Contains(body, `"title":"quokka","text":"quokka inlet pressure","payload":{"tenant":"b","n":1,"quokka":"quokka"}`) {
		t.Errorf("b has %d %s", status, body)
	}
	if log := log.String(); !strings.Contains(log, "caller=a") || strings.Contains(log, "key-of") {
		t.Errorf("the log does not name the callers, or tells their keys: %.500s", log)
	}
}

// TestMissingForTheTenantIsMissing compares what a is told of b's document with
// what a is told of one that nobody has.
func TestMissingForTheTenantIsMissing(t *testing.T) {
	base, _ := twoTenants(t)
	for _, tc := range []struct{ method, body string }{{"GET", ""}, {"DELETE", ""}, {"PATCH", `{"payload":{}}`}} {
		answer := func(id string) string {
			status, header, body := as(t, "a", tc.method, base+"/v1/collections/docs/documents/"+id, tc.body)
			return fmt.Sprint(status, strings.ReplaceAll(strings.ReplaceAll(body, header.Get("X-Request-Id"), ""), id, "ID"))
		}
		if other, absent := answer("quokka1"), answer("nothing"); other != absent || !strings.HasPrefix(other, "404") {
			t.Errorf("%s answers %s for b's document, %s for none", tc.method, other, absent)
		}
	}
	outside, header, there := as(t, "stranger", "GET", base+"/v1/collections/docs", "")
	there = strings.ReplaceAll(there, header.Get("X-Request-Id"), "")
	inside, header, absent := as(t, "operator", "GET", base+"/v1/collections/none", "")
	absent = strings.ReplaceAll(strings.ReplaceAll(absent, header.Get("X-Request-Id"), ""), "none", "docs")
	if outside != inside || there != absent {
		t.Errorf("a collection outside is %d %s, none is %d %s", outside, there, inside, absent)
	}
}

func TestReadersAndStrangers(t *testing.T) {
	base, _ := twoTenants(t)
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"reader", "POST", "/v1/collections/docs/search", `{"query":"quokka","mode":"lexical"}`, 200},
		{"reader", "POST", "/v1/collections/docs/scroll", `{}`, 200},
		{"reader", "PUT", "/v1/collections/docs", ``, 200},
		{"reader", "GET", "/v1/snapshot", ``, 200},
		{"reader", "GET", "/metrics", ``, 200},
		{"reader", "PUT", "/v1/collections/new", ``, 403},
		{"reader", "DELETE", "/v1/collections/docs", ``, 403},
		{"reader", "POST", "/v1/collections/docs/documents", strings.Repeat("not read at all", 1000), 403},
		{"reader", "POST", "/v1/collections/docs/documents/delete", `{"filter":{"must":[{}]}}`, 403},
		{"reader", "PATCH", "/v1/collections/docs/documents/a1", `{"payload":{"n":7}}`, 403},
		{"reader", "DELETE", "/v1/collections/docs/documents/a1", ``, 403},
		{"stranger", "POST", "/v1/collections/docs/search", `{"query":"quokka"}`, 404},
		{"stranger", "POST", "/v1/collections/docs/documents", `{"id":"x","text":"x"}`, 404},
		{"stranger", "DELETE", "/v1/collections/docs", ``, 404},
		{"stranger", "PUT", "/v1/collections/new", ``, 403},
		{"stranger", "PUT", "/v1/collections/other", ``, 201},
		{"stranger", "POST", "/v1/collections/other/documents", `{"id":"x","text":"x"}`, 200},
		{"stranger", "GET", "/v1/snapshot", ``, 403},
		{"stranger", "DELETE", "/v1/collections/other", ``, 200},
	} {
		if status, _, body := as(t, tc.name, tc.method, base+tc.path, tc.body); status != tc.status {
			t.Errorf("%s %s as %s: %d %s, want %d", tc.method, tc.path, tc.name, status, body, tc.status)
		}
	}
	var list struct {
		Collections []json.RawMessage `json:"collections"`
	}
	_, _, body := as(t, "stranger", "GET", base+"/v1/collections", "")
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Collections) != 0 {
		t.Errorf("the stranger lists %s, error %v", body, err)
	}
}

func TestClientBringsItsKey(t *testing.T) {
	base, _ := twoTenants(t)
	client, err := httpapi.NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Search(t.Context(), "docs", search.Request{Query: "inlet"}); braid.CodeOf(err) != braid.Unauthenticated || !strings.Contains(err.Error(), "Authorization") {
		t.Errorf("without a key: %v", err)
	}
	answer, err := client.WithKey("key-of-a").Search(t.Context(), "docs", search.Request{Query: "inlet"})
	if err != nil || len(answer.Hits) != 2 {
		t.Errorf("with one: %+v, error %v", answer, err)
	}
}

// TestHandlersAskThroughTheCaller: a handler that took the service from the
// options would show every caller everything.
func TestHandlersAskThroughTheCaller(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if uses := strings.Count(string(source), "opts.Search") - strings.Count(string(source), "opts.SearchTimeout"); uses > 0 && file != "access.go" && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s uses the service without limits", file)
		}
	}
}
