package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/metrics"
	"github.com/braid-search/braid/search"
)

// scrape returns every sample as name{label=value,…} → value; a histogram gives
// its count and sum.
func scrape(t *testing.T, m *metrics.Metrics) map[string]float64 {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			at := "{" + strings.Join(labels, ",") + "}"
			switch family.GetType() {
			case dto.MetricType_HISTOGRAM:
				samples[name+"_count"+at] = float64(m.Histogram.GetSampleCount())
				samples[name+"_sum"+at] = m.Histogram.GetSampleSum()
			case dto.MetricType_COUNTER:
				samples[name+at] = m.Counter.GetValue()
			case dto.MetricType_GAUGE:
				samples[name+at] = m.Gauge.GetValue()
			}
		}
	}
	return samples
}

func check(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for sample, value := range want {
		if v, found := got[sample]; !found || v != value {
			t.Errorf("%s is %v (there: %v), want %v", sample, v, found, value)
		}
	}
}

func TestCounters(t *testing.T) {
	m := metrics.New()
	timing := inference.Timing{Tokenise: 250 * time.Millisecond, Queue: 500 * time.Millisecond, Compute: 2 * time.Second}
	m.ObserveCall(inference.CallReport{Model: "a", Items: 3, Tokens: 70, Truncated: 1, Timing: timing})
	m.ObserveCall(inference.CallReport{Model: "a", Lane: inference.LaneBulk, Items: 2, Tokens: 9, Err: braid.Errorf(braid.Overloaded, "full")})
	m.ObserveCall(inference.CallReport{Model: "a", Lane: inference.LaneIngest, Err: fmt.Errorf("encode: %w", braid.Errorf(braid.Corrupt, "NaN"))})
	m.ObserveCall(inference.CallReport{Model: "b", Err: context.Canceled})
	m.ObserveRun(inference.RunReport{Model: "a", Items: 2, Tokens: 64, Took: time.Second})
	m.Request("/embed", "POST", 200, time.Second)
	m.Queued("/embed", 250*time.Millisecond)
	m.Request("", "BREW", 404, time.Second)
	m.Search(&search.Response{Timings: search.Timings{Rerank: 1500, Total: 2000}, Degraded: []search.Degradation{{Stage: "sparse"}}})

	got := scrape(t, m)
	check(t, got, map[string]float64{
		"braid_inference_requests_total{code=ok,model=a}":                1,
		"braid_inference_requests_total{code=overloaded,model=a}":        1,
		"braid_inference_requests_total{code=corrupt,model=a}":           1,
		"braid_inference_requests_total{code=canceled,model=b}":          1,
		"braid_inference_rejected_total{lane=bulk,model=a}":              1,
		"braid_inference_rejected_total{lane=query,model=a}":             0,
		"braid_inference_nonfinite_total{model=a}":                       1,
		"braid_inference_nonfinite_total{model=b}":                       0,
		"braid_inference_items_total{model=a}":                           5,
		"braid_inference_tokens_total{model=a}":                          79,
		"braid_inference_truncated_total{model=a}":                       1,
		"braid_inference_tokenise_duration_seconds_sum{model=a}":         0.25,
		"braid_inference_queue_duration_seconds_sum{lane=query,model=a}": 0.5,
		"braid_inference_compute_duration_seconds_sum{model=a}":          2,
		"braid_inference_compute_duration_seconds_count{model=a}":        1,
		"braid_inference_run_items_sum{model=a}":                         2,
		"braid_inference_run_tokens_sum{model=a}":                        64,
		"braid_inference_run_duration_seconds_sum{model=a}":              1,
		"braid_http_requests_total{method=POST,route=/embed,status=200}": 1,
		"braid_http_requests_total{method=other,route=none,status=404}":  1,
		"braid_http_request_queue_duration_seconds_sum{route=/embed}":    0.25,
		"braid_http_request_duration_seconds_count{route=/embed}":        1,
		"braid_search_stage_duration_seconds_sum{stage=rerank}":          1.5,
		"braid_search_stage_duration_seconds_count{stage=total}":         1,
		"braid_search_degraded_total{stage=sparse}":                      1,
	})
	for _, sample := range []string{
		"braid_search_stage_duration_seconds_count{stage=dense_encode}", // did not run
		"braid_inference_compute_duration_seconds_count{model=b}",       // failed
	} {
		if _, found := got[sample]; found {
			t.Errorf("%s is there", sample)
		}
	}
	if got["process_resident_memory_bytes{}"] <= 0 || got["go_goroutines{}"] <= 0 {
		t.Error("nothing of the process and the Go runtime")
	}
}

func TestGaugesAreReadWhenAsked(t *testing.T) {
	m := metrics.New()
	waiting, documents := 5, 0
	var broken error
	m.Watch(metrics.Sources{
		Runtime: func() inference.Info {
			return inference.Info{
				Version: "1.2.3", Provider: "CPUExecutionProvider",
				Queue:  inference.QueueInfo{QueryTokens: waiting, BulkTokens: 7, QueryCapacity: 100, BulkCapacity: 200},
				Models: []inference.ModelInfo{{Name: "a", Kind: "dense", Digest: "d", Provider: "P"}},
			}
		},
		Collections: func(context.Context) ([]index.Info, error) {
			return []index.Info{{Name: "docs", Documents: documents}}, broken
		},
	})
	for range 2 {
		check(t, scrape(t, m), map[string]float64{
			"braid_runtime_info{provider=CPUExecutionProvider,version=1.2.3}": 1,
			"braid_model_info{digest=d,kind=dense,model=a,provider=P}":        1,
			"braid_inference_queue_tokens{lane=query}":                        float64(waiting),
			"braid_inference_queue_tokens{lane=bulk}":                         7,
			"braid_inference_queue_capacity_tokens{lane=query}":               100,
			"braid_inference_queue_capacity_tokens{lane=bulk}":                200,
			"braid_collection_documents{collection=docs}":                     float64(documents),
		})
		waiting, documents = 0, 12
	}
	broken = errors.New("closed")
	got := scrape(t, m)
	if _, found := got["braid_collection_documents{collection=docs}"]; found || got["braid_model_info{digest=d,kind=dense,model=a,provider=P}"] != 1 {
		t.Errorf("one unreadable source gives %v", got)
	}
}

func TestTwoInOneProcess(t *testing.T) {
	a, b := metrics.New(), metrics.New()
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 100 {
				a.Request("/embed", "POST", 200, time.Millisecond)
				a.ObserveRun(inference.RunReport{Model: "a", Items: 1})
			}
		})
	}
	work.Wait()
	check(t, scrape(t, a), map[string]float64{"braid_http_requests_total{method=POST,route=/embed,status=200}": 800, "braid_inference_run_items_count{model=a}": 800})
	if _, found := scrape(t, b)["braid_inference_run_items_count{model=a}"]; found {
		t.Error("the metrics of one are in the other")
	}
}
