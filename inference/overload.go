package inference

import (
	"time"

	"github.com/braid-search/braid"
)

// QueueFull is the cause of a braid.Overloaded error.
type QueueFull struct {
	// Wait is when the same call is likely to be admitted, by the pace of the
	// latest runs; 0 when nothing has run yet.
	Wait time.Duration
}

func (*QueueFull) Error() string { return "inference queue is full" }

// full is the error for a call of tokens that a queue has no room for.
func (s *scheduler) full(queue, tokens int) error {
	waiting, capacity := s.queues[queue].tokens, s.capacity[queue]
	// An empty queue takes any call.
	leaving := min(waiting, waiting+tokens-capacity)
	if queue == LaneBulk.queue() {
		leaving += s.queues[LaneQuery.queue()].tokens // which go first
	}
	err := braid.Errorf(braid.Overloaded, "inference queue is full: %d tokens wait and %d more do not fit in %d: retry later or send less at once", waiting, tokens, capacity)
	err.Err = &QueueFull{Wait: s.pace.time(leaving) / time.Duration(s.width)}
	return err
}

// pace is how long a slot takes for a token, over the latest runs. Models differ
// in it by a factor of ten, so it is that of the mixture being run.
type pace struct{ tokens, seconds float64 }

// paceMemory is what a run leaves of the weight of those before it: the latest
// hundred make up two thirds.
const paceMemory = 0.99

func (p *pace) add(tokens int, took time.Duration) {
	p.tokens = p.tokens*paceMemory + float64(tokens)
	p.seconds = p.seconds*paceMemory + took.Seconds()
}

// time is what one slot takes for tokens.
func (p *pace) time(tokens int) time.Duration {
	if p.tokens == 0 {
		return 0
	}
	return time.Duration(float64(tokens) / p.tokens * p.seconds * float64(time.Second))
}
