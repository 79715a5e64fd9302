package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/braid-search/braid"
)

const (
	// idleTime is how long the processor time of an idle server is taken.
	idleTime = 10 * time.Second
	// settle lets background work fill the queue, or drain, between measurements.
	settle = 300 * time.Millisecond
	// batch is how many documents a request of the background ingestion has.
	batch = 64
	// others is how many do background work at the same time.
	others = 2
)

// isolation measures what a user who asks feels of the work of others.
func (r *run) isolation(ctx context.Context) (err error) {
	if err := r.clear("data-isolation"); err != nil {
		return err
	}
	s, err := startServed(ctx, r.cfg, "data-isolation")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.client.Create(ctx, "background"); err != nil {
		return err
	}
	if err := r.idle(ctx, s.server); err != nil {
		return err
	}
	idle := side{"idle", func(ctx context.Context) ([]float64, error) { return r.query(ctx, s.server) }}
	var sent atomic.Int64
	storing := side{"while documents are stored", r.during(s.server, func(ctx context.Context) error {
		docs := make([]braid.Document, batch)
		for i := range docs {
			n := sent.Add(1)
			docs[i] = braid.Document{ID: fmt.Sprint(n), Text: r.texts.passages[n%int64(len(r.texts.passages))]}
		}
		_, err := s.client.Ingest(ctx, "background", docs)
		return err
	})}
	list := embeddings(r.texts.passages)
	embedding := side{"while long lists are embedded", r.during(s.server, func(ctx context.Context) error {
		_, err := s.post(ctx, list)
		return err
	})}
	for _, busy := range []side{storing, embedding} {
		if err := r.compare(ctx, "a short query's embedding", []metric{{name: "p50 ms"}, {name: "p95 ms"}}, idle, busy); err != nil {
			return err
		}
	}
	return r.remember(s.process, "all models, storing and embedding", s.started.Seconds())
}

// idle measures the processor time of a server that has worked and has nothing
// to do.
func (r *run) idle(ctx context.Context, s *server) error {
	if _, err := r.query(ctx, s); err != nil {
		return err
	}
	r.say("an idle server, %s", idleTime)
	before, err := s.processor()
	if err != nil {
		return err
	}
	select {
	case <-time.After(idleTime):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := s.processor()
	if err != nil {
		return err
	}
	share := float64(after-before) / float64(idleTime)
	r.report.IdleShare = &share
	return nil
}

// query embeds the short queries one at a time.
func (r *run) query(ctx context.Context, s *server) ([]float64, error) {
	requests := make([]request, len(r.texts.prefixed))
	for i, text := range r.texts.prefixed {
		requests[i] = embeddings([]string{text})
	}
	seen, err := s.load(ctx, 1, requests)
	if err != nil {
		return nil, err
	}
	return []float64{quantile(seen.latencies, 0.5), quantile(seen.latencies, 0.95)}, nil
}

// during measures queries while others repeat work without a pause: enough of
// them that one always waits when another is answered.
func (r *run) during(s *server, work func(context.Context) error) func(context.Context) ([]float64, error) {
	return func(ctx context.Context) ([]float64, error) {
		var values []float64
		err := beside(ctx, work, func() (err error) {
			values, err = r.query(ctx, s)
			return err
		})
		return values, err
	}
}

// beside runs measure while others repeat work, and waits for them.
func beside(ctx context.Context, work func(context.Context) error, measure func() error) error {
	background, stop := context.WithCancel(ctx)
	ended := make(chan error, others)
	for range others {
		go func() { ended <- repeat(background, work) }()
	}
	time.Sleep(settle)
	err := measure()
	stop()
	for range others {
		err = errors.Join(err, <-ended)
	}
	time.Sleep(settle)
	return err
}

// repeat works until ctx ends or work fails by itself.
func repeat(ctx context.Context, work func(context.Context) error) error {
	for ctx.Err() == nil {
		if err := work(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
