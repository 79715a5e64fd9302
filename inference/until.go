package inference

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/braid-search/braid"
)

// forecast foretells how long a run of one model takes, from its latest runs.
// It keeps the time a token took as mean and mean deviation, both exponentially
// weighted, as V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988,
// does for round trips, with his constants. It is safe for concurrent use.
//
// The first run of a session also sets up its memory and is left out.
type forecast struct {
	mu              sync.Mutex
	runs            int     // seen, up to 2
	mean, deviation float64 // seconds a token
}

func (f *forecast) add(tokens int, took time.Duration) {
	took = max(took, 0)
	x := took.Seconds() / float64(max(tokens, 1))
	f.mu.Lock()
	defer f.mu.Unlock()
	switch f.runs {
	case 0:
		f.runs++
	case 1:
		f.runs++
		f.mean, f.deviation = x, x/2
	default:
		off := x - f.mean
		f.mean += off / 8
		f.deviation += (max(off, -off) - f.deviation) / 4
	}
}

// doubt lowers the forecast a little. It is called when the forecast kept a call
// from running anything, since runs are all that could show it wrong: what was
// measured on a busy machine would stand for ever. When it was right, the next
// runs raise it again.
func (f *forecast) doubt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mean -= f.mean / 16
	f.deviation -= f.deviation / 16
}

// time is what a run of so many tokens hardly exceeds; 0 when nothing is known.
func (f *forecast) time(tokens int) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Duration(float64(tokens) * (f.mean + 4*f.deviation) * float64(time.Second))
}

// fits reports whether a run of so many tokens that starts now is likely to end
// by until.
func (f *forecast) fits(now, until time.Time, tokens int) bool {
	return !now.Add(f.time(tokens)).After(until)
}

// computeUntil is compute within req.Until. It returns how many of the first
// sequences were run. Those after the first that was not run do not count, even
// where another slot ran one.
func (h *head) computeUntil(ctx context.Context, req PairRequest, sequences []sequence, keep func(item int, output []float32) error) (done int, queue, compute time.Duration, err error) {
	entered := time.Now()
	inTime, cancel := context.WithDeadline(ctx, req.Until)
	defer cancel()
	var mu sync.Mutex
	var started time.Time
	stopped := false
	ran := make([]bool, len(sequences))
	start := func(tokens int) bool {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if stopped = stopped || !h.forecast.fits(now, req.Until, tokens); stopped {
			return false
		}
		if started.IsZero() {
			started = now
		}
		return true
	}
	_, _, err = h.runtime.scheduler.do(inTime, req.Lane, inOrder(sequences), func(slot int, items []int) error {
		item := items[0]
		if !start(len(sequences[item].ids)) {
			return nil
		}
		if err := h.runUnit(slot, sequences, items, keep); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		ran[item] = true
		return nil
	})
	if err != nil && inTime.Err() != nil && ctx.Err() == nil && braid.CodeOf(err) == braid.DeadlineExceeded {
		err = nil
	}
	if err != nil {
		return 0, 0, 0, err
	}
	if done = slices.Index(ran, false); done < 0 {
		done = len(ran)
	}
	ended := time.Now()
	if started.IsZero() {
		if stopped {
			h.forecast.doubt()
		}
		return 0, ended.Sub(entered), 0, nil
	}
	return done, started.Sub(entered), ended.Sub(started), nil
}

// inOrder gives each sequence a unit of its own, in the order given.
func inOrder(sequences []sequence) []unit {
	units := make([]unit, len(sequences))
	for i, s := range sequences {
		units[i] = unit{items: []int{i}, tokens: len(s.ids)}
	}
	return units
}
