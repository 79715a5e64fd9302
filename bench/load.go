package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/search"
)

// RateLoad is what users of a server saw whose requests arrive by themselves, at a
// rate that does not mind how the server fares.
type RateLoad struct {
	Workload string `json:"workload"`
	// Capacity is what capacityClients clients got who wait for their answers, in
	// requests a second.
	Capacity float64 `json:"capacity_per_s"`
	Share    float64 `json:"share"` // of the capacity, that arrived
	Arrived  int     `json:"arrived"`
	Degraded int     `json:"degraded"` // answered without a part of the search
	Refused  int     `json:"refused"`  // 429
	Expired  int     `json:"expired"`  // 503, 504
	// Of the answers, counted from the moment each request was due.
	P50 Figure `json:"p50_ms"`
	P95 Figure `json:"p95_ms"`
	P99 Figure `json:"p99_ms"`
}

const (
	// capacityClients are enough that some always wait.
	capacityClients = 16
	capacityTime    = 3 * time.Second
)

// loadShares are the rates measured, as shares of the capacity.
func loadShares() []float64 { return []float64{0.25, 0.5, 0.75, 0.9, 1.1} }

// load measures latency against the rate at which searches arrive.
func (r *run) load(ctx context.Context) (err error) {
	s, err := startServed(ctx, r.cfg, r.kept("data-stages"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.http.Transport = &http.Transport{MaxIdleConnsPerHost: 1024}
	collection, err := r.stored(ctx, s.client)
	if err != nil {
		return err
	}
	for _, w := range []struct {
		name   string
		rerank bool
	}{{"hybrid search", false}, {"hybrid search, reranked", true}} {
		if err := r.atRates(ctx, s.server, w.name, searchesFor(collection, r.texts.queries, w.rerank)); err != nil {
			return err
		}
	}
	r.report.Charts = append(r.report.Charts, r.report.loadChart())
	return r.remember(s.process, "searches that arrive by themselves", s.started.Seconds())
}

// searchesFor are the bodies of searches.
func searchesFor(collection string, queries []string, rerank bool) []request {
	var list []request
	for _, query := range queries {
		body, _ := json.Marshal(search.Request{Query: query, Mode: search.ModeHybrid, Rerank: &rerank}) // plain values always encode
		list = append(list, request{"/v1/collections/" + collection + "/search", body})
	}
	return list
}

// atRates measures the capacity, then every share of it in turn, once a round.
func (r *run) atRates(ctx context.Context, s *server, workload string, requests []request) error {
	capacity, err := s.capacity(ctx, requests)
	if err != nil {
		return err
	}
	r.say("%s: %.1f a second with %d clients", workload, capacity, capacityClients)
	shares := loadShares()
	seen := make([][][]arrival, len(shares)) // by share, then round
	for round := range r.cfg.Rounds {
		for i, share := range shares {
			r.say("%s: %.0f %% of it, round %d", workload, 100*share, round+1)
			moments := poisson(rand.New(rand.NewPCG(seed, uint64(round*len(shares)+i))), share*capacity, roundLength(r.cfg.LoadTime, share*capacity))
			arrivals, err := play(ctx, moments, func(ctx context.Context, i int) (outcome, error) {
				return s.outcome(ctx, requests[i%len(requests)])
			})
			if err != nil {
				return err
			}
			seen[i] = append(seen[i], arrivals)
		}
	}
	for i, share := range shares {
		if l, ok := rateLoad(workload, capacity, share, seen[i]); ok {
			r.report.Loads = append(r.report.Loads, l)
		} else {
			r.leaveOut(fmt.Sprintf("%s at %.0f %% of the capacity: nothing arrived in a round of %s", workload, 100*share, r.cfg.LoadTime))
		}
	}
	return nil
}

// roundLength is the time asked for, or up to four times as long where a slow
// server would see fewer than ten arrivals in it.
func roundLength(asked time.Duration, perSecond float64) time.Duration {
	const fewest, longest = 10, 4
	return max(asked, min(longest*asked, time.Duration(fewest/perSecond*float64(time.Second))))
}

// rateLoad sums up the rounds of one rate; false when a round has no answer.
func rateLoad(workload string, capacity, share float64, rounds [][]arrival) (RateLoad, bool) {
	l := RateLoad{Workload: workload, Capacity: capacity, Share: share}
	var p50, p95, p99 []float64
	for _, arrivals := range rounds {
		var latencies []float64
		for _, a := range arrivals {
			l.Arrived++
			switch a.outcome {
			case refused:
				l.Refused++
				continue
			case expired:
				l.Expired++
				continue
			case degraded:
				l.Degraded++
			}
			latencies = append(latencies, a.latency)
		}
		if len(latencies) == 0 {
			return l, false
		}
		p50, p95, p99 = append(p50, quantile(latencies, 0.5)), append(p95, quantile(latencies, 0.95)), append(p99, quantile(latencies, 0.99))
	}
	l.P50, l.P95, l.P99 = figure(p50), figure(p95), figure(p99)
	return l, true
}

// capacity is the highest rate of answers, after a warm-up as long.
func (s *server) capacity(ctx context.Context, requests []request) (float64, error) {
	var rate float64
	for range 2 {
		var next atomic.Int64
		inTime, cancel := context.WithTimeout(ctx, capacityTime)
		begun := time.Now()
		ended := make(chan error, capacityClients)
		for range capacityClients {
			go func() {
				var err error
				for inTime.Err() == nil && err == nil {
					i := next.Add(1) - 1
					_, err = s.outcome(ctx, requests[i%int64(len(requests))])
				}
				ended <- err
			}()
		}
		var err error
		for range capacityClients {
			err = errors.Join(err, <-ended)
		}
		cancel()
		if err != nil {
			return 0, err
		}
		rate = float64(next.Load()) / time.Since(begun).Seconds()
	}
	return rate, nil
}

// outcome sends a search and says what came of it.
func (s *server) outcome(ctx context.Context, r request) (outcome, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, s.fault(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, s.fault(err)
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests:
		return refused, nil
	case http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return expired, nil
	default:
		return 0, braid.Errorf(braid.Unavailable, "%s answered %s: %.200s", s.name, resp.Status, data)
	}
	var answer struct {
		Degraded []json.RawMessage `json:"degraded"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return 0, fmt.Errorf("%s: read answer: %w", s.name, err)
	}
	if len(answer.Degraded) > 0 {
		return degraded, nil
	}
	return answered, nil
}

// loadWorkloads lists the workloads of the loads, in order.
func (r *Report) loadWorkloads() (names []string) {
	for _, l := range r.Loads {
		if !slices.Contains(names, l.Workload) {
			names = append(names, l.Workload)
		}
	}
	return names
}

// loadChart is latency against the rate of arrivals: a line a workload and
// quantile.
func (r *Report) loadChart() report.Chart {
	c := report.Chart{
		Name: "load", Title: "Latency of searches that arrive by themselves, from the moment each was due",
		X: report.Axis{Label: "arrivals, % of the capacity"}, Y: report.Axis{Label: "milliseconds", Log: true},
	}
	for _, workload := range r.loadWorkloads() {
		for _, q := range []struct {
			name string
			of   func(RateLoad) Figure
		}{{"p50", func(l RateLoad) Figure { return l.P50 }}, {"p95", func(l RateLoad) Figure { return l.P95 }}, {"p99", func(l RateLoad) Figure { return l.P99 }}} {
			line := report.Line{Name: workload + ", " + q.name}
			for _, l := range r.Loads {
				if l.Workload == workload {
					line.Points = append(line.Points, [2]float64{100 * l.Share, q.of(l).Median})
				}
			}
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}

// loads shows a table a workload.
func (d *document) loads(r *Report) {
	for _, w := range r.loadWorkloads() {
		at := slices.IndexFunc(r.Loads, func(l RateLoad) bool { return l.Workload == w })
		d.table(fmt.Sprintf("Searches that arrive by themselves: %s; capacity %.1f a second", w, r.Loads[at].Capacity),
			"rate of arrivals", "arrived", "p50 ms", "p95 ms", "p99 ms", "degraded", "refused", "expired")
		for _, l := range r.Loads {
			if l.Workload == w {
				d.row(percent(l.Share), fmt.Sprint(l.Arrived), number(l.P50), number(l.P95), number(l.P99), fmt.Sprint(l.Degraded), fmt.Sprint(l.Refused), fmt.Sprint(l.Expired))
			}
		}
	}
}
