package bench

import (
	"context"
	"time"

	"github.com/braid-search/braid"
)

// spent runs work and returns the processor time that the server used for it.
// Where other processes run on the machine it repeats better than the time that
// passed; and a server that has all cores to itself and enough clients cannot
// answer more often than cores over this time.
func (s *server) spent(work func() (loaded, error)) (loaded, time.Duration, error) {
	before, err := s.processor()
	if err != nil {
		return loaded{}, 0, err
	}
	seen, err := work()
	if err != nil {
		return loaded{}, 0, err
	}
	after, err := s.processor()
	return seen, after - before, err
}

// searchMetrics are what a searching side returns. Rates and latencies are of
// whole answers.
func searchMetrics() []metric {
	return []metric{{name: "searches/s", more: true}, {name: "p50 ms"}, {name: "p95 ms"}, {name: "processor ms a search"}, {name: wholeShare, more: true}}
}

// wholeShare is the metric that is 1 where no answer had to do without a stage.
const wholeShare = "share of whole answers"

func (r *run) searching(load httpLoad, s *server) side {
	return side{s.name, func(ctx context.Context) ([]float64, error) {
		seen, spent, err := s.spent(func() (loaded, error) { return s.load(ctx, load.clients, load.requests) })
		if err != nil {
			return nil, err
		}
		if len(seen.latencies) == 0 {
			return nil, braid.Errorf(braid.Overloaded, "%s: no answer was whole", s.name)
		}
		all := float64(len(load.requests))
		return []float64{seen.rate(), quantile(seen.latencies, 0.5), quantile(seen.latencies, 0.95), milliseconds(spent) / all, float64(len(seen.latencies)) / all}, nil
	}}
}
