package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/metrics"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/search"
)

// Opened once for all tests of the package.
var (
	models   *inference.Runtime
	set      *modelset.Set // the real models on it
	document contract
	observer = &switchboard{}
)

// queueTokens is small so that tests can fill the queue.
const queueTokens = 2000

func TestMain(m *testing.M) {
	runtime, opened, err := testenv.OpenWith(inference.Options{QueueTokens: queueTokens, Observer: observer})
	if err == nil {
		document, err = loadContract(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	models, set = runtime, opened
	code := m.Run()
	if err := runtime.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// switchboard lets a test hear what the runtime of all tests does.
type switchboard struct {
	to atomic.Pointer[metrics.Metrics]
}

func (s *switchboard) ObserveCall(r inference.CallReport) {
	if m := s.to.Load(); m != nil {
		m.ObserveCall(r)
	}
}

func (s *switchboard) ObserveRun(r inference.RunReport) {
	if m := s.to.Load(); m != nil {
		m.ObserveRun(r)
	}
}

// start serves, under the document's eyes, an empty data folder and returns the address and the log.
func start(t *testing.T, change func(*httpapi.Options)) (string, *logBuffer) {
	t.Helper()
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := &logBuffer{}
	opts := httpapi.Options{
		Search: search.New(engine, set.Search(), nil),
		Models: set,
		Ready:  func(context.Context) error { return nil },
		Info: func(context.Context) (httpapi.Info, error) {
			return httpapi.Info{Version: "test", Runtime: models.Info()}, nil
		},
		Snapshot: engine.Backup,
		Log:      slog.New(slog.NewTextHandler(log, nil)),
	}
	if change != nil {
		change(&opts)
	}
	server := httptest.NewServer(document.hold(t, httpapi.New(opts)))
	t.Cleanup(func() {
		server.Close()
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return server.URL, log
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// call sends one request and returns status and body.
func call(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
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
	return resp.StatusCode, string(data)
}

func mustCall(t *testing.T, method, url, body string, into any) {
	t.Helper()
	status, text := call(t, method, url, body)
	if status >= 300 {
		t.Fatalf("%s %s: %d %s", method, url, status, text)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, url, err, text)
		}
	}
}

const docs = `{"id":"err-104","text":"ERR-104 means the inlet pressure is too low.","payload":{"n":12345678901234567890,"html":"<b>"}}
{"id":"docs/a b%.md","title":"Billing","text":"Invoices are sent on the first of the month."}
`

func TestRoutes(t *testing.T) {
	base, _ := start(t, nil)
	c := base + "/v1/collections/t"
	if status, body := call(t, "PUT", c, ""); status != http.StatusCreated {
		t.Fatalf("create: %d %s", status, body)
	}
	if status, body := call(t, "PUT", c, "{}"); status != http.StatusOK {
		t.Fatalf("create again: %d %s", status, body)
	}
	var ingested search.IngestResult
	mustCall(t, "POST", c+"/documents", docs, &ingested)
	if ingested.Created != 2 || ingested.Tokens == 0 {
		t.Errorf("ingested %+v", ingested)
	}
	mustCall(t, "POST", c+"/documents", `[{"id":"x","text":"the third one"}]`, &ingested)

	var info struct {
		Documents int `json:"documents"`
	}
	mustCall(t, "GET", c, "", &info)
	if info.Documents != 3 {
		t.Errorf("%d documents", info.Documents)
	}
	var list struct {
		Collections []struct{ Name string } `json:"collections"`
	}
	mustCall(t, "GET", base+"/v1/collections", "", &list)
	if len(list.Collections) != 1 || list.Collections[0].Name != "t" {
		t.Errorf("list: %+v", list)
	}
	var d braid.Document
	mustCall(t, "GET", c+"/documents/docs%2Fa%20b%25.md", "", &d)
	if d.ID != "docs/a b%.md" || d.Title != "Billing" {
		t.Errorf("document with a slash in its id: %+v", d)
	}
	_, raw := call(t, "GET", c+"/documents/err-104", "")
	if !strings.Contains(raw, `"payload":{"n":12345678901234567890,"html":"<b>"}`) {
		t.Errorf("payload is not as it was sent: %s", raw)
	}
	var answer search.Response
	mustCall(t, "POST", c+"/search", `{"query":"ERR-104"}`, &answer)
	if len(answer.Hits) == 0 || answer.Hits[0].ID != "err-104" || answer.Timings.Total <= 0 {
		t.Errorf("answer %+v", answer)
	}
	mustCall(t, "POST", c+"/search", `{"query":"104","variants":["ERR-104","inlet"],"hypothetical":"It means low pressure."}`, &answer)
	if len(answer.Hits) == 0 || len(answer.Hits[0].Variants) == 0 || answer.VariantWeight == nil {
		t.Errorf("answer with variants %+v", answer)
	}
	mustCall(t, "POST", c+"/search", `{"query":"what does ERR-104 mean","explain":true,"highlight":{"length":50},"filter":{"must":[{}]}}`, &answer)
	if e := answer.Hits[0].Explain; e == nil || len(e.Lexical.Terms) == 0 || len(e.Sparse.Tokens) == 0 || answer.Explain.Filter == nil || len(answer.Hits[0].Highlights.Text) == 0 {
		t.Errorf("explained: %+v, %+v", e, answer.Explain)
	}
	mustCall(t, "POST", c+"/search", `{"query":"\"inlet pressure\" -quokka","syntax":true}`, &answer)
	if q := answer.Query; q.Matching == nil || q.Text != "inlet pressure" || len(q.Excluded) != 1 {
		t.Errorf("understood %+v", q)
	}
	mustCall(t, "DELETE", c+"/documents/x", "", nil)
	if status, _ := call(t, "GET", c+"/documents/x", ""); status != http.StatusNotFound {
		t.Errorf("deleted document: %d", status)
	}
	mustCall(t, "DELETE", c, "", nil)
	if status, _ := call(t, "GET", c, ""); status != http.StatusNotFound {
		t.Errorf("deleted collection: %d", status)
	}
	for _, path := range []string{"/healthz", "/readyz", "/info"} {
		mustCall(t, "GET", base+path, "", nil)
	}
}

func TestBadInputHasOneShape(t *testing.T) {
	base, _ := start(t, nil)
	c := base + "/v1/collections/t"
	mustCall(t, "PUT", c, "", nil)
	var lines strings.Builder
	for i := 1; i <= 20; i++ {
		if i == 17 {
			lines.WriteString(`{"id":"d17","text":}` + "\n")
			continue
		}
		fmt.Fprintf(&lines, `{"id":"d%d","text":"x"}`+"\n", i)
	}
	for name, tc := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"no body":                  {"POST", "/search", "", 400, "no body"},
		"no documents":             {"POST", "/documents", "", 400, "no document"},
		"empty array":              {"POST", "/documents", "[]", 400, "no document"},
		"wrong type":               {"POST", "/search", `{"query":7}`, 400, "query must be a string"},
		"not an object":            {"POST", "/search", `"x"`, 400, "must be an object"},
		"unknown field":            {"POST", "/search", `{"query":"x","topk":3}`, 400, `unknown field \"topk\"`},
		"misplaced field":          {"POST", "/search", `{"query":"x","exists":{"n":1}}`, 400, "unknown field"},
		"beside the filter":        {"POST", "/search", `{"query":"x","filter":{},"exists":{"n":1}}`, 400, "unknown field"},
		"misplaced in the filter":  {"POST", "/search", `{"query":"x","filter":{"exists":{"n":1}}}`, 400, "must, should and must_not"},
		"unknown operator":         {"POST", "/search", `{"query":"x","filter":{"must":[{"field":"n","like":"x"}]}}`, 400, "match, in, range and exists"},
		"filter too deep":          {"POST", "/search", `{"query":"x","filter":` + strings.Repeat(`{"must":[`, 17) + strings.Repeat(`]}`, 17) + `}`, 413, "the limit is 16"},
		"empty query":              {"POST", "/search", `{"query":""}`, 400, "query is empty"},
		"5,000 words":              {"POST", "/search", `{"query":"` + strings.Repeat("words ", 5000) + `"}`, 413, "the limit is 8192"},
		"query not UTF-8":          {"POST", "/search", "{\"query\":\"caf\xe9\"}", 400, "UTF-8"},
		"search body over 1 MiB":   {"POST", "/search", `{"query":"` + strings.Repeat("x", 2<<20) + `"}`, 413, "1048576"},
		"unknown mode":             {"POST", "/search", `{"query":"x","mode":"fuzzy"}`, 400, "lexical"},
		"limit 0":                  {"POST", "/search", `{"query":"x","limit":0}`, 400, "limit is 0"},
		"bad JSON in line 17":      {"POST", "/documents", lines.String(), 400, "line 17:"},
		"line 17 says what is not": {"POST", "/documents", lines.String(), 400, "nothing of this request was stored"},
		"empty text":               {"POST", "/documents", `{"id":"a","text":""}`, 400, "text is empty"},
		"text not UTF-8":           {"POST", "/documents", "{\"id\":\"a\",\"text\":\"caf\xe9\"}", 400, "UTF-8"},
		"10 MB document":           {"POST", "/documents", `{"id":"a","text":"` + strings.Repeat("x", 10<<20) + `"}`, 413, "the limit is 1048576"},
		"body over 64 MiB":         {"POST", "/documents", strings.Repeat(" ", 65<<20), 413, "67108864"},
		"id of 2 KB":               {"POST", "/documents", `{"id":"` + strings.Repeat("i", 2048) + `","text":"x"}`, 413, "id is 2048 bytes"},
		"id as a number":           {"POST", "/documents", `{"id":1,"text":"x"}`, 400, "id must be a string"},
		"same id twice":            {"POST", "/documents", `[{"id":"a","text":"x"},{"id":"a","text":"y"}]`, 400, "documents[1]"},
		"payload not an object":    {"POST", "/documents", `{"id":"a","text":"x","payload":[1]}`, 400, "payload"},
		"collection body":          {"PUT", "", `{"shards":3}`, 400, "shards"},
		"no such document":         {"GET", "/documents/nope", "", 404, "nope"},
		"no such document to drop": {"DELETE", "/documents/nope", "", 404, "nope"},
		"no such route":            {"GET", "/nope", "", 404, "no route"},
		"wrong method":             {"GET", "/search", "", 405, "POST"},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := call(t, tc.method, c+tc.path, tc.body)
			var shape struct {
				Error struct {
					Code      braid.Code `json:"code"`
					Message   string     `json:"message"`
					RequestID string     `json:"request_id"`
				} `json:"error"`
			}
			d := json.NewDecoder(strings.NewReader(body))
			d.DisallowUnknownFields()
			if err := d.Decode(&shape); err != nil && !strings.Contains(err.Error(), `"field"`) {
				t.Fatalf("%d %s: %v", status, body, err)
			}
			if status != tc.status || !strings.Contains(body, tc.says) {
				t.Errorf("got %d %s, want %d and %q", status, body, tc.status, tc.says)
			}
			if shape.Error.Code == "" || shape.Error.Message == "" {
				t.Errorf("incomplete error %s", body)
			}
		})
	}
	for _, path := range []string{"/v1/collections/absent/search", "/v1/collections/absent/documents"} {
		if status, body := call(t, "POST", base+path, `{"query":"x"}`); status != 404 || !strings.Contains(body, "absent") {
			t.Errorf("unknown collection at %s: %d %s", path, status, body)
		}
	}
	if status, body := call(t, "PUT", base+"/v1/collections/.hidden", ""); status != 400 {
		t.Errorf("collection name: %d %s", status, body)
	}
	var info struct {
		Documents int `json:"documents"`
	}
	mustCall(t, "GET", c, "", &info)
	if info.Documents != 0 {
		t.Errorf("bad input stored %d documents", info.Documents)
	}
}

func TestRequestID(t *testing.T) {
	base, log := start(t, nil)
	for sent, kept := range map[string]bool{"trace-42": true, "with\ttab": false, strings.Repeat("x", 200): false, "": false} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", base+"/v1/collections/absent", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Request-Id", sent)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		id := resp.Header.Get("X-Request-Id")
		if (id == sent) != kept || id == "" {
			t.Errorf("sent %q, got %q", sent, id)
		}
		if !strings.Contains(string(body), id) || !strings.Contains(log.String(), id) {
			t.Errorf("id %q is not in the error %s and the log", id, body)
		}
	}
}

func TestPanicIsA500AndTheServerGoesOn(t *testing.T) {
	base, log := start(t, func(o *httpapi.Options) {
		o.Info = func(context.Context) (httpapi.Info, error) { panic("secret detail") }
	})
	status, body := call(t, "GET", base+"/info", "")
	if status != 500 || strings.Contains(body, "secret") {
		t.Errorf("got %d %s", status, body)
	}
	if !strings.Contains(log.String(), "secret detail") {
		t.Error("the log does not have the panic")
	}
	mustCall(t, "GET", base+"/healthz", "", nil)
}

func TestNotReadySaysWhy(t *testing.T) {
	base, _ := start(t, func(o *httpapi.Options) {
		o.Ready = func(context.Context) error {
			return braid.Errorf(braid.Corrupt, "model %q: output is non-finite", "m")
		}
	})
	if status, body := call(t, "GET", base+"/readyz", ""); status != 503 || !strings.Contains(body, "non-finite") {
		t.Errorf("got %d %s", status, body)
	}
	mustCall(t, "GET", base+"/healthz", "", nil)
}

func TestClientSeesTheServersErrors(t *testing.T) {
	base, _ := start(t, nil)
	client, err := httpapi.NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := t.Context()
	if _, err := client.Search(ctx, "absent", search.Request{Query: "x"}); braid.CodeOf(err) != braid.NotFound || !strings.Contains(err.Error(), "absent") {
		t.Errorf("unknown collection: %v", err)
	}
	if _, err := client.Create(ctx, "t"); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Ingest(ctx, "t", []braid.Document{{ID: "a", Text: "valve"}}); err != nil || got.Created != 1 {
		t.Errorf("ingest: %+v, %v", got, err)
	}
	if answer, err := client.Search(ctx, "t", search.Request{Query: "valve"}); err != nil || len(answer.Hits) != 1 {
		t.Errorf("search: %+v, %v", answer, err)
	}
	for _, bad := range []string{"", "localhost:8080", "ftp://x", "http://"} {
		if _, err := httpapi.NewClient(bad); braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("NewClient(%q): %v", bad, err)
		}
	}
	foreign := httptest.NewServer(http.NotFoundHandler())
	defer foreign.Close()
	other, err := httpapi.NewClient(foreign.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Info(ctx); braid.CodeOf(err) != braid.Unavailable || !strings.Contains(err.Error(), "not an answer of braid") {
		t.Errorf("another server: %v", err)
	}
	foreign.Close()
	if _, err := other.Info(ctx); braid.CodeOf(err) != braid.Unavailable || !strings.Contains(err.Error(), "is the server running") {
		t.Errorf("no server: %v", err)
	}
}
