package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// Metrics counts the work of one process. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests *prometheus.CounterVec
	answered *prometheus.HistogramVec
	waited   *prometheus.HistogramVec

	calls     *prometheus.CounterVec
	rejected  *prometheus.CounterVec
	nonFinite *prometheus.CounterVec
	items     *prometheus.CounterVec
	tokens    *prometheus.CounterVec
	truncated *prometheus.CounterVec
	tokenised *prometheus.HistogramVec
	queued    *prometheus.HistogramVec
	computed  *prometheus.HistogramVec
	runs      *prometheus.HistogramVec
	runItems  *prometheus.HistogramVec
	runTokens *prometheus.HistogramVec

	stages   *prometheus.HistogramVec
	degraded *prometheus.CounterVec
}

// New returns metrics at zero, those of the Go runtime and of the process
// included.
func New() *Metrics {
	r := factory{prometheus.NewRegistry()}
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	// From one text on a fast core to a list that takes minutes.
	seconds := prometheus.ExponentialBuckets(0.001, 2, 18)
	short := prometheus.ExponentialBuckets(0.0001, 2, 18)
	return &Metrics{
		registry: r.Registry,

		requests: r.counter("braid_http_requests_total", "Requests answered.", "route", "method", "status"),
		answered: r.histogram("braid_http_request_duration_seconds", "Time from a request's header to the end of its answer.", seconds, "route"),
		waited:   r.histogram("braid_http_request_queue_duration_seconds", "Time a request's texts waited for a slot, of answered requests that ran a model; of a search the longest of its encoders.", short, "route"),

		calls:     r.counter("braid_inference_requests_total", "Calls to a model, self-tests included; code is ok or that of the error.", "model", "code"),
		rejected:  r.counter("braid_inference_rejected_total", "Calls refused because the lane's queue was full.", "model", "lane"),
		nonFinite: r.counter("braid_inference_nonfinite_total", "Calls that failed because the model's output was not finite or had no direction.", "model"),
		items:     r.counter("braid_inference_items_total", "Texts or pairs tokenised.", "model"),
		tokens:    r.counter("braid_inference_tokens_total", "Tokens of these, special tokens included, before cutting.", "model"),
		truncated: r.counter("braid_inference_truncated_total", "Texts or pairs that were cut to fit the model.", "model"),
		tokenised: r.histogram("braid_inference_tokenise_duration_seconds", "Tokenising, per call.", short, "model"),
		queued:    r.histogram("braid_inference_queue_duration_seconds", "Waiting for a slot, per call.", short, "model", "lane"),
		computed:  r.histogram("braid_inference_compute_duration_seconds", "From the first run's start to the last one's end, per call.", seconds, "model"),
		runs:      r.histogram("braid_inference_run_duration_seconds", "One run of a model.", seconds, "model"),
		runItems:  r.histogram("braid_inference_run_items", "Texts or pairs in one run.", prometheus.ExponentialBuckets(1, 2, 10), "model"),
		runTokens: r.histogram("braid_inference_run_tokens", "Tokens in one run, as the model reads them.", prometheus.ExponentialBuckets(4, 2, 14), "model"),

		stages:   r.histogram("braid_search_stage_duration_seconds", "Stages of a search that ran; branches run side by side.", short, "stage"),
		degraded: r.counter("braid_search_degraded_total", "Stages that an answer had to do without.", "stage"),
	}
}

// factory makes vectors and registers them.
type factory struct{ *prometheus.Registry }

func (f factory) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	f.MustRegister(v)
	return v
}

func (f factory) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	f.MustRegister(v)
	return v
}

// Handler answers with all metrics. One that cannot be read is left out.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, ErrorHandling: promhttp.ContinueOnError})
}

// Request counts an answered request. route is the pattern that matched, "" if
// none did.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "other" // the caller may invent any number of them
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.answered.WithLabelValues(route).Observe(took.Seconds())
}

// Queued counts how long an answered request waited for its models.
func (m *Metrics) Queued(route string, wait time.Duration) {
	m.waited.WithLabelValues(route).Observe(wait.Seconds())
}

// ObserveCall counts a call to a model.
func (m *Metrics) ObserveCall(r inference.CallReport) {
	code := "ok"
	if r.Err != nil {
		code = string(braid.CodeOf(r.Err))
	}
	lane := r.Lane.String()
	m.calls.WithLabelValues(r.Model, code).Inc()
	// Adding nothing makes the series exist, so that its first step is seen. The
	// lane of ingestion refuses nothing.
	for _, l := range []inference.Lane{inference.LaneQuery, inference.LaneBulk} {
		m.rejected.WithLabelValues(r.Model, l.String()).Add(one(l == r.Lane && code == string(braid.Overloaded)))
	}
	m.nonFinite.WithLabelValues(r.Model).Add(one(code == string(braid.Corrupt)))
	m.items.WithLabelValues(r.Model).Add(float64(r.Items))
	m.tokens.WithLabelValues(r.Model).Add(float64(r.Tokens))
	m.truncated.WithLabelValues(r.Model).Add(float64(r.Truncated))
	if r.Err != nil {
		return
	}
	m.tokenised.WithLabelValues(r.Model).Observe(r.Timing.Tokenise.Seconds())
	m.queued.WithLabelValues(r.Model, lane).Observe(r.Timing.Queue.Seconds())
	m.computed.WithLabelValues(r.Model).Observe(r.Timing.Compute.Seconds())
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// ObserveRun counts a run of a model.
func (m *Metrics) ObserveRun(r inference.RunReport) {
	m.runs.WithLabelValues(r.Model).Observe(r.Took.Seconds())
	m.runItems.WithLabelValues(r.Model).Observe(float64(r.Items))
	m.runTokens.WithLabelValues(r.Model).Observe(float64(r.Tokens))
}

// Search counts the stages of an answer.
func (m *Metrics) Search(answer *search.Response) {
	t := answer.Timings
	for stage, milliseconds := range map[string]float64{
		"filter": t.Filter, "queue": t.Queue, "tokenise": t.Tokenise,
		"dense_encode": t.DenseEncode, "sparse_encode": t.SparseEncode,
		"dense_search": t.DenseSearch, "sparse_search": t.SparseSearch, "lexical_search": t.LexicalSearch,
		"first_stage": t.FirstStage, "fuse": t.Fuse, "fetch": t.Fetch, "rerank": t.Rerank, "explain": t.Explain, "highlight": t.Highlight, "total": t.Total,
	} {
		if milliseconds > 0 {
			m.stages.WithLabelValues(stage).Observe(milliseconds / 1000)
		}
	}
	for _, d := range answer.Degraded {
		m.degraded.WithLabelValues(d.Stage).Inc()
	}
}
