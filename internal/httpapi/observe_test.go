package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/internal/metrics"
	"github.com/braid-search/braid/internal/testenv"
	"github.com/braid-search/braid/search"
)

// post sends one request and returns its status and what Retry-After says.
func post(ctx context.Context, t *testing.T, url, body string) (status int, retryAfter string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	return resp.StatusCode, resp.Header.Get("Retry-After"), resp.Body.Close()
}

// families scrapes /metrics with the parser of Prometheus.
func families(t *testing.T, base string) map[string]*dto.MetricFamily {
	t.Helper()
	status, text := call(t, "GET", base+"/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	found, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sum adds up the samples of a family whose labels include all of want, given
// as name, value, name, value: values of counters and gauges, counts of
// histograms.
func sum(found map[string]*dto.MetricFamily, name string, want ...string) (total float64) {
	for _, m := range found[name].GetMetric() {
		labels := map[string]string{}
		for _, l := range m.Label {
			labels[l.GetName()] = l.GetValue()
		}
		matches := true
		for i := 0; i < len(want); i += 2 {
			matches = matches && labels[want[i]] == want[i+1]
		}
		if matches {
			total += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return total
}

func TestMetricsAfterRealRequests(t *testing.T) {
	counted := metrics.New()
	observer.to.Store(counted)
	defer observer.to.Store(nil)
	engine, err := embedded.Open(t.Context(), t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	service := search.New(engine, set.Search(), nil)
	counted.Watch(metrics.Sources{Runtime: models.Info, Collections: service.List})
	base, _ := start(t, func(o *httpapi.Options) { o.Search, o.Metrics = service, counted })

	c := base + "/v1/collections/t"
	mustCall(t, "PUT", c, "", nil)
	mustCall(t, "POST", c+"/documents", docs, nil)
	mustCall(t, "POST", c+"/search", `{"query":"ERR-104"}`, nil)
	mustCall(t, "POST", c+"/search", `{"query":"ERR-104","mode":"lexical"}`, nil)
	mustCall(t, "POST", base+"/embed", `{"inputs":["wrench","`+strings.Repeat("water ", 600)+`"]}`, nil)
	mustCall(t, "POST", base+"/rerank", `{"query":"x","texts":["a","b","c"]}`, nil)
	for range 3 {
		if status, _ := call(t, "POST", base+"/embed", `{"inputs":[]}`); status != 400 {
			t.Fatalf("no input: %d", status)
		}
	}
	call(t, "GET", base+"/v1/secret-path", "")

	got := families(t, base)
	for _, tc := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"braid_http_requests_total", []string{"route", "/v1/collections/:name/search", "method", "POST", "status", "200"}, 2},
		{"braid_http_requests_total", []string{"route", "/embed", "status", "400"}, 3},
		{"braid_http_requests_total", []string{"route", "none", "status", "404"}, 1},
		{"braid_http_request_duration_seconds", []string{"route", "/embed"}, 4},
		{"braid_http_request_queue_duration_seconds", []string{"route", "/v1/collections/:name/search"}, 1}, // lexical does not wait
		{"braid_http_request_queue_duration_seconds", []string{"route", "/embed"}, 1},
		{"braid_inference_requests_total", []string{"model", testenv.Dense, "code", "ok"}, 3}, // documents, query, /embed
		{"braid_inference_requests_total", []string{"model", testenv.Sparse, "code", "ok"}, 2},
		{"braid_inference_requests_total", []string{"model", testenv.Reranker, "code", "ok"}, 2},
		{"braid_inference_items_total", []string{"model", testenv.Reranker}, 2 + 3},
		{"braid_inference_truncated_total", nil, 1},
		{"braid_inference_rejected_total", nil, 0},
		{"braid_inference_nonfinite_total", nil, 0},
		{"braid_inference_queue_duration_seconds", []string{"model", testenv.Dense, "lane", "ingest"}, 1},
		{"braid_inference_queue_duration_seconds", []string{"model", testenv.Dense, "lane", "query"}, 2},
		{"braid_inference_compute_duration_seconds", []string{"model", testenv.Sparse}, 2},
		{"braid_inference_run_items", []string{"model", testenv.Dense}, 5}, // int8: one text a run
		{"braid_inference_queue_tokens", nil, 0},
		{"braid_inference_queue_capacity_tokens", []string{"lane", "query"}, queueTokens},
		{"braid_runtime_info", []string{"provider", "CPUExecutionProvider"}, 1},
		{"braid_model_info", nil, 3},
		{"braid_search_stage_duration_seconds", []string{"stage", "total"}, 2},
		{"braid_search_stage_duration_seconds", []string{"stage", "dense_encode"}, 1},
		{"braid_collection_documents", []string{"collection", "t"}, 2},
	} {
		if v := sum(got, tc.name, tc.labels...); got[tc.name] == nil || v != tc.want {
			t.Errorf("%s %v is %v (there: %v), want %v", tc.name, tc.labels, v, got[tc.name] != nil, tc.want)
		}
	}
	if tokens := sum(got, "braid_inference_tokens_total", "model", testenv.Dense); tokens < 606 {
		t.Errorf("%v tokens, /embed alone had 606", tokens)
	}
	for name, family := range got {
		if strings.HasPrefix(name, "braid_") && family.GetHelp() == "" {
			t.Errorf("%s is not explained", name)
		}
		if text := family.String(); strings.Contains(text, "secret") || strings.Contains(text, "wrench") {
			t.Errorf("what a caller sent became a label of %s", name)
		}
	}
}

// fillQueue sends 4,500 tokens, interactive ones, and returns when some of them
// wait; the channel has the outcome.
func fillQueue(ctx context.Context, t *testing.T, base string) <-chan error {
	t.Helper()
	body, err := json.Marshal(map[string]any{"inputs": repeat(32, strings.Repeat("water ", 140))})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := post(ctx, t, base+"/embed", string(body))
		done <- err
	}()
	for models.Info().Queue.QueryTokens == 0 {
		select {
		case err := <-done:
			t.Fatalf("the queue never filled: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	return done
}

func TestWorkOfAClientThatLeftIsDropped(t *testing.T) {
	base, log := start(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	done := fillQueue(ctx, t, base)
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for !strings.Contains(log.String(), "status=499") { // until the handler has noticed
		time.Sleep(time.Millisecond)
	}
	if q := models.Info().Queue; q.QueryTokens != 0 || !strings.Contains(log.String(), "code=canceled") {
		t.Errorf("%d tokens wait, log %s", q.QueryTokens, log)
	}
}

// A full queue refuses, says for how long, and takes the request afterwards.
func TestOverload(t *testing.T) {
	base, _ := start(t, nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first := fillQueue(ctx, t, base)
	small := `{"inputs":"` + strings.Repeat("water ", 300) + `"}`
	status, retryAfter, err := post(ctx, t, base+"/embed", small)
	if err != nil {
		t.Fatal(err)
	}
	if status != http.StatusTooManyRequests {
		t.Fatalf("status %d with %d tokens waiting", status, models.Info().Queue.QueryTokens)
	}
	// Ingestion waits instead.
	mustCall(t, "PUT", base+"/v1/collections/t", "", nil)
	mustCall(t, "POST", base+"/v1/collections/t/documents", docs, nil)
	for status == http.StatusTooManyRequests {
		seconds, err := strconv.Atoi(retryAfter)
		if err != nil || seconds < 1 || seconds > 60 {
			t.Fatalf("Retry-After is %q", retryAfter)
		}
		time.Sleep(time.Duration(seconds) * time.Second)
		if status, retryAfter, err = post(ctx, t, base+"/embed", small); err != nil {
			t.Fatal(err)
		}
	}
	if status != http.StatusOK {
		t.Errorf("after the wait: %d", status)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func repeat(n int, text string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = text
	}
	return list
}

func TestTimeouts(t *testing.T) {
	base, log := start(t, func(o *httpapi.Options) { o.ModelTimeout, o.SearchTimeout = time.Nanosecond, time.Nanosecond })
	mustCall(t, "PUT", base+"/v1/collections/t", "", nil)
	for path, body := range map[string]string{
		"/embed":                   `{"inputs":"x"}`,
		"/embed_sparse":            `{"inputs":"x"}`,
		"/similarity":              `{"inputs":{"source_sentence":"x","sentences":["y"]}}`,
		"/v1/embeddings":           `{"input":"x"}`,
		"/v1/sparse-embeddings":    `{"input":"x"}`,
		"/rerank":                  `{"query":"x","texts":["a"]}`,
		"/v1/collections/t/search": `{"query":"x","mode":"dense"}`,
	} {
		if status, answer := call(t, "POST", base+path, body); status != http.StatusGatewayTimeout || !strings.Contains(answer, "deadline_exceeded") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if !strings.Contains(log.String(), "level=ERROR") {
		t.Error("the log has no error")
	}
	// Nobody waits at a screen for a list: it takes the time it takes.
	mustCall(t, "POST", base+"/embed_sparse", `{"inputs":["`+strings.Join(repeat(33, "x"), `","`)+`"]}`, nil)
}

func TestOneLogLineARequest(t *testing.T) {
	log := &logBuffer{}
	base, _ := start(t, func(o *httpapi.Options) {
		o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		o.Info = func(context.Context) (httpapi.Info, error) {
			hidden := braid.Errorf(braid.Internal, "read the folder")
			hidden.Err = fmt.Errorf("open data: %w", errors.New("input/output error"))
			return httpapi.Info{}, hidden
		}
	})
	const private = "zanzibar"
	c := base + "/v1/collections/t"
	requests := []struct {
		method, url, body, route string
		tokens, queue            bool
	}{
		{"PUT", c, "", "/v1/collections/:name", false, false},
		{"POST", c + "/documents", `{"id":"a","title":"` + private + `","text":"` + private + `","payload":{"k":"` + private + `"}}`, "/v1/collections/:name/documents", true, false},
		{"POST", c + "/documents", `{"id":"b","text":"` + private + `"}` + "\n" + `{"id":"c","text":` + private + `}`, "/v1/collections/:name/documents", false, false},
		{"POST", c + "/search", `{"query":"` + private + `"}`, "/v1/collections/:name/search", true, true},
		{"POST", c + "/search?q=" + private, `{"query":"` + private + `","limit":0}`, "/v1/collections/:name/search", false, false},
		{"POST", base + "/v1/embeddings", `{"input":["` + private + `"]}`, "/v1/embeddings", true, true},
		{"POST", base + "/v1/embeddings", `{"input":["` + private + `",""]}`, "/v1/embeddings", false, false},
		{"POST", base + "/v1/sparse-embeddings", `{"input":"` + private + `"}`, "/v1/sparse-embeddings", true, true},
		{"POST", base + "/rerank", `{"query":"` + private + `","texts":["` + private + `"]}`, "/rerank", true, true},
		{"POST", base + "/embed", `{"inputs":"` + strings.Repeat(private+" ", 600) + `","truncate":false}`, "/embed", false, false},
		{"GET", base + "/info", "", "/info", false, false},
		{"GET", base + "/healthz", "", "/healthz", false, false},
	}
	for _, r := range requests {
		call(t, r.method, r.url, r.body)
	}
	if strings.Contains(log.String(), private) {
		t.Errorf("a text is in the log: %s", log)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != len(requests) {
		t.Fatalf("%d lines for %d requests:\n%s", len(lines), len(requests), log)
	}
	for i, line := range lines {
		var entry struct {
			Level, Msg, Method, Route, Err string
			RequestID                      string `json:"request_id"`
			Status                         int
			TookMS                         float64  `json:"took_ms"`
			QueueMS                        *float64 `json:"queue_ms"`
			Tokens                         int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatal(err)
		}
		want := requests[i]
		if entry.Msg != "request" || entry.Method != want.method || entry.Route != want.route || entry.RequestID == "" || entry.Status < 200 || entry.TookMS <= 0 {
			t.Errorf("line %s", line)
		}
		if (entry.Tokens > 0) != want.tokens || (entry.QueueMS != nil) != want.queue {
			t.Errorf("tokens %d (some wanted: %v), queue %v (wanted: %v) in %s", entry.Tokens, want.tokens, entry.QueueMS, want.queue, line)
		}
		switch {
		case want.route == "/info":
			if entry.Level != "ERROR" || entry.Err != "read the folder: open data: input/output error" {
				t.Errorf("the chain is missing in %s", line)
			}
		case want.route == "/healthz" && entry.Level != "DEBUG", want.route != "/healthz" && entry.Level != "INFO":
			t.Errorf("level of %s", line)
		}
	}
}
