package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// Sources are what gauges are read from. A nil one has none.
type Sources struct {
	Runtime     func() inference.Info
	Collections func(context.Context) ([]index.Info, error)
	// QueryLog counts the records of the query log; nil where there is none.
	QueryLog func() (written, dropped uint64)
}

// Watch adds the gauges of sources. It is called once; the sources are used
// until the last answer of Handler.
func (m *Metrics) Watch(sources Sources) {
	m.registry.MustRegister(newGauges(sources))
	if sources.QueryLog == nil {
		return
	}
	for result, count := range map[string]func() uint64{
		"written": func() uint64 { written, _ := sources.QueryLog(); return written },
		"dropped": func() uint64 { _, dropped := sources.QueryLog(); return dropped },
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "braid_query_log_records_total", Help: "Records of the query log that were written, and that were dropped for want of disk or time.", ConstLabels: prometheus.Labels{"result": result},
		}, func() float64 { return float64(count()) }))
	}
}

// listTimeout bounds the listing of collections, which does no I/O.
const listTimeout = 5 * time.Second

// gauges are read from their sources when they are asked for.
type gauges struct {
	sources                                       Sources
	runtime, model, waiting, capacity, collection *prometheus.Desc
}

func newGauges(sources Sources) *gauges {
	return &gauges{
		sources:    sources,
		runtime:    prometheus.NewDesc("braid_runtime_info", "What models run on: the execution provider in use and the version of ONNX Runtime. Always 1.", []string{"provider", "version"}, nil),
		model:      prometheus.NewDesc("braid_model_info", "A loaded model and the execution provider it runs on. Always 1.", []string{"model", "kind", "digest", "provider"}, nil),
		waiting:    prometheus.NewDesc("braid_inference_queue_tokens", "Tokens that wait for a slot; ingestion waits with bulk.", []string{"lane"}, nil),
		capacity:   prometheus.NewDesc("braid_inference_queue_capacity_tokens", "Tokens that may wait before calls are refused.", []string{"lane"}, nil),
		collection: prometheus.NewDesc("braid_collection_documents", "Documents stored in a collection.", []string{"collection"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.runtime, g.model, g.waiting, g.capacity, g.collection} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, value int, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	if g.sources.Runtime != nil {
		info := g.sources.Runtime()
		send(g.runtime, 1, info.Provider, info.Version)
		for _, m := range info.Models {
			send(g.model, 1, m.Name, m.Kind, m.Digest, m.Provider)
		}
		query, bulk := inference.LaneQuery.String(), inference.LaneBulk.String()
		send(g.waiting, info.Queue.QueryTokens, query)
		send(g.waiting, info.Queue.BulkTokens, bulk)
		send(g.capacity, info.Queue.QueryCapacity, query)
		send(g.capacity, info.Queue.BulkCapacity, bulk)
	}
	if g.sources.Collections == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	collections, err := g.sources.Collections(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(g.collection, err)
		return
	}
	for _, c := range collections {
		send(g.collection, c.Documents, c.Name)
	}
}
