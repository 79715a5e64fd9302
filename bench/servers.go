package bench

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
)

// chunk is how many passages a request of an indexing client has.
const chunk = 16

// servers measures the model server: against infinity with the same requests,
// and against the same inference without HTTP.
func (r *run) servers(ctx context.Context) error {
	if err := r.serverOf(ctx, models.Dense, "embeddings", r.embeddingLoads()); err != nil {
		return err
	}
	return r.serverOf(ctx, models.CrossEncoder, "rerank", r.rerankLoads())
}

// httpLoad is work for servers.
type httpLoad struct {
	name     string
	clients  int
	requests []request
	texts    int // a request
	metric   string
	job      *peer.Job // the same work in process, for one client
}

func (r *run) embeddingLoads() []httpLoad {
	var loads []httpLoad
	for _, clients := range r.cfg.Clients {
		load := httpLoad{name: "short queries", clients: clients, texts: 1, metric: "requests/s"}
		for i := range max(r.cfg.Queries, 20*clients) {
			load.requests = append(load.requests, embeddings(r.texts.prefixed[i%len(r.texts.prefixed):][:1]))
		}
		if clients == 1 {
			load.job = &peer.Job{Task: peer.Queries, Texts: r.texts.prefixed}
		}
		loads = append(loads, load)
	}
	for _, clients := range r.cfg.Clients {
		load := httpLoad{name: fmt.Sprintf("%d passages a request", chunk), clients: clients, texts: chunk, metric: "passages/s"}
		for i := range max(len(r.texts.passages)/chunk, 2*clients) {
			load.requests = append(load.requests, embeddings(r.passagesFrom(i*chunk)))
		}
		loads = append(loads, load)
	}
	return append(loads, httpLoad{
		name: "all passages in one request", clients: 1, texts: len(r.texts.passages), metric: "passages/s",
		requests: []request{embeddings(r.texts.passages)}, job: &peer.Job{Task: peer.Passages, Texts: r.texts.passages},
	})
}

// passagesFrom takes a chunk, from the first passage again after the last.
func (r *run) passagesFrom(at int) []string {
	list := make([]string, chunk)
	for i := range list {
		list[i] = r.texts.passages[(at+i)%len(r.texts.passages)]
	}
	return list
}

func (r *run) rerankLoads() []httpLoad {
	var loads []httpLoad
	for _, clients := range r.cfg.Clients {
		load := httpLoad{name: "rerank of 20", clients: clients, texts: 1, metric: "reranks/s"}
		for range max(r.cfg.Reranks, 2*clients) {
			load.requests = append(load.requests, rerankOf(r.texts.queries[0], r.texts.reranked))
		}
		if clients == 1 {
			load.job = &peer.Job{Task: peer.Rerank, Query: r.texts.queries[0], Texts: r.texts.reranked}
		}
		loads = append(loads, load)
	}
	return loads
}

func (r *run) serverOf(ctx context.Context, kind models.Kind, what string, loads []httpLoad) (err error) {
	dense, pair := denseModel, ""
	if kind == models.CrossEncoder {
		dense, pair = "", pairModel
	}
	ours, err := startBraid(ctx, r.cfg, "data-servers", dense, "", pair)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.close()) }()
	if err := r.overHTTP(ctx, kind, loads, ours); err != nil {
		return err
	}
	if err := r.saturate(ctx, loads, ours); err != nil {
		return err
	}
	if err := r.againstInfinity(ctx, kind, what, loads, ours); err != nil {
		return err
	}
	return r.remember(ours.process, what, ours.started.Seconds())
}

// overHTTP compares the server with the same work in process: what HTTP costs.
func (r *run) overHTTP(ctx context.Context, kind models.Kind, loads []httpLoad, ours *server) (err error) {
	direct, err := inProcess().start(ctx, r.cfg, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, direct.close()) }()
	for _, load := range loads {
		if load.job == nil {
			continue
		}
		b := side{direct.name, func(context.Context) ([]float64, error) {
			outcome, err := direct.do(*load.job)
			if err != nil {
				return nil, err
			}
			return []float64{1000 * quantile(outcome.Seconds, 0.5)}, nil
		}}
		a := side{ours.name, func(ctx context.Context) ([]float64, error) {
			seen, err := ours.load(ctx, 1, load.requests)
			if err != nil {
				return nil, err
			}
			return []float64{quantile(seen.latencies, 0.5)}, nil
		}}
		if err := r.compare(ctx, load.title(), []metric{{name: "p50 ms"}}, a, b); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) againstInfinity(ctx context.Context, kind models.Kind, what string, loads []httpLoad, ours *server) (err error) {
	if _, err := os.Stat(r.cfg.python("infinity")); err != nil {
		r.leaveOut("infinity: not installed, run bench/peers/install infinity (4.6 GB)")
		return nil
	}
	theirs, err := startInfinity(ctx, r.cfg, kind)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, theirs.close()) }()
	for _, load := range loads {
		metrics := []metric{{name: load.metric, more: true}, {name: "p50 ms"}, {name: "p95 ms"}}
		if err := r.compare(ctx, load.title(), metrics, r.loading(load, ours), r.loading(load, theirs)); err != nil {
			return err
		}
	}
	return r.remember(theirs.process, what, theirs.started.Seconds())
}

// Saturation is what many clients at once do to the server.
type Saturation struct {
	Workload string `json:"workload"`
	Clients  int    `json:"clients"`
	// Throughput is that of all clients over that of one, pair by pair.
	Throughput Figure `json:"throughput"`
	// P95 is the 95th percentile of the latency over clients times the time that
	// the server takes per request under this load (one over its throughput),
	// which by Little's law is the mean latency: 1 is a queue in perfect order.
	P95 Figure `json:"p95"`
}

// saturate measures the loads of several clients against that of one.
func (r *run) saturate(ctx context.Context, loads []httpLoad, s *server) error {
	for _, load := range loads {
		if load.clients == 1 {
			continue
		}
		r.say("%s: saturation", load.title())
		var throughput, p95 []float64
		for range r.cfg.Rounds {
			one, err := s.load(ctx, 1, load.requests[:len(load.requests)/2])
			if err != nil {
				return err
			}
			many, err := s.load(ctx, load.clients, load.requests)
			if err != nil {
				return err
			}
			throughput = append(throughput, many.rate()/one.rate())
			p95 = append(p95, quantile(many.latencies, 0.95)/1000*many.rate()/float64(load.clients))
		}
		r.report.Saturations = append(r.report.Saturations, Saturation{load.name, load.clients, figure(throughput), figure(p95)})
	}
	return nil
}

func (l httpLoad) title() string {
	if l.clients == 1 {
		return l.name + ", 1 client"
	}
	return fmt.Sprintf("%s, %d clients", l.name, l.clients)
}

func (r *run) loading(load httpLoad, s *server) side {
	return side{s.name, func(ctx context.Context) ([]float64, error) {
		seen, err := s.load(ctx, load.clients, load.requests)
		if err != nil {
			return nil, err
		}
		return []float64{seen.rate() * float64(load.texts), quantile(seen.latencies, 0.5), quantile(seen.latencies, 0.95)}, nil
	}}
}
