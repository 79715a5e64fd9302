package bench

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// poisson draws the moments of arrivals, counted from the start, that come
// independently of one another at a mean rate: the gaps are exponential.
func poisson(random *rand.Rand, perSecond float64, length time.Duration) []time.Duration {
	var moments []time.Duration
	at := 0.0
	for {
		at += random.ExpFloat64() / perSecond
		if at >= length.Seconds() {
			return moments
		}
		moments = append(moments, time.Duration(at*float64(time.Second)))
	}
}

// outcome is what came of one arrival.
type outcome int

const (
	answered outcome = iota
	degraded         // answered without a part of the search
	refused          // 429: too much waits already
	expired          // 503 or 504
)

// arrival is a request that was due at a moment.
type arrival struct {
	latency float64 // milliseconds from the moment it was due until its answer was read
	outcome outcome
}

// play sends a request at each moment, whether or not earlier ones have been
// answered (an open loop), and waits for all answers. A latency counts from the
// moment the request was due, so that a request that had to wait for its sender,
// or for a stalled server, says so (G. Tene, "How NOT to measure latency", calls
// the opposite coordinated omission). The first error ends it.
func play(ctx context.Context, moments []time.Duration, send func(ctx context.Context, i int) (outcome, error)) ([]arrival, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	seen := make([]arrival, len(moments))
	var wait sync.WaitGroup
	begun := time.Now()
	for i, moment := range moments {
		select {
		case <-time.After(time.Until(begun.Add(moment))):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wait.Go(func() {
			o, err := send(ctx, i)
			if err != nil {
				cancel(err)
				return
			}
			seen[i] = arrival{milliseconds(time.Since(begun) - moment), o}
		})
	}
	wait.Wait()
	return seen, context.Cause(ctx)
}
