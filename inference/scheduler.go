package inference

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/braid-search/braid"
)

// ingestShare is how many tokens of queries may overtake one token of waiting
// ingestion: under a stream of queries that would fill every slot, ingestion
// still gets one part in ten and so never starves.
const ingestShare = 9

// scheduler runs units of calls on a fixed number of slots. Each slot is a
// goroutine that runs one unit at a time; models run single-threaded, so a slot
// is a core.
//
// Each queue has slots of its own, as many as the scheduler's width. A unit of
// queries does not wait for ingestion under way, which may take fifty times as
// long: it starts beside it, and the operating system is told to prefer its
// thread (see yieldToOthers). A unit of ingestion starts when fewer units than
// the width run.
//
// Order: the query lane before the ingestion lane (but see ingestShare); within
// a lane calls by arrival, which finishes each call as early as its place
// allows; within a call units as given.
//
// LaneIngest and LaneBulk share a queue.
//
// Capacity: a queue holds at most its capacity of waiting tokens, though an
// empty one takes any one call, so that no call is too large to ever run.
// LaneIngest is admitted all the same: what it brings is bounded by its callers,
// each blocked in do.
type scheduler struct {
	capacity [2]int // tokens, of each queue
	width    int    // number of slots of each queue
	slots    sync.WaitGroup

	mu        sync.Mutex
	work      sync.Cond // a unit may be waiting, or closed changed
	queues    [2]queue  // indexed by Lane.queue
	running   [2]int    // units, of each queue
	overtaken int       // query tokens started since an ingestion unit did, while one waited
	pace      pace      // of a slot
	closed    bool
}

// queue holds calls that have units left to start.
type queue struct {
	calls  []*call
	tokens int // in units not yet started
}

// unit is one model run: items of a call that run together.
type unit struct {
	items  []int // positions in the call
	tokens int   // of all items together
}

// call is one caller's work. The scheduler's mutex guards the fields below run.
type call struct {
	// run computes the items of one unit. A slot number, below slotCount, is
	// never in use twice at once, so it can own buffers.
	run func(slot int, items []int) error

	units   []unit // not yet started
	running int
	err     error // the first failure
	started time.Time
	ended   time.Time
	done    chan struct{} // closed when nothing runs and nothing is left to start
}

// slotCount is the number of slots of a scheduler with the given width.
func slotCount(width int) int { return 2 * width }

// newScheduler starts the slots' goroutines; close ends them.
func newScheduler(width, queryTokens, bulkTokens int) *scheduler {
	s := &scheduler{capacity: [2]int{queryTokens, bulkTokens}, width: width}
	s.work.L = &s.mu
	for i := range width {
		s.slots.Go(func() { s.serve(LaneQuery, i) })
		s.slots.Go(func() {
			yieldToOthers()
			s.serve(LaneIngest, width+i)
		})
	}
	return s
}

// do runs every unit and waits for them. It stops at the first failure or when
// ctx ends: units not yet started are dropped, running ones are waited for, so
// run is never called after do has returned. The durations are Timing's Queue
// and Compute.
func (s *scheduler) do(ctx context.Context, in Lane, units []unit, run func(slot int, items []int) error) (queue, compute time.Duration, err error) {
	if ctx.Err() != nil {
		return 0, 0, contextError(ctx)
	}
	c := &call{run: run, units: units, done: make(chan struct{})}
	entered := time.Now()
	if err := s.enter(in, c); err != nil {
		return 0, 0, err
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		s.abandon(in, c, contextError(ctx))
		<-c.done
	}
	if c.err != nil {
		return 0, 0, c.err
	}
	return c.started.Sub(entered), c.ended.Sub(c.started), nil
}

func (s *scheduler) enter(in Lane, c *call) error {
	tokens := 0
	for _, u := range c.units {
		tokens += u.tokens
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &s.queues[in.queue()]
	switch {
	case s.closed:
		return braid.Errorf(braid.Unavailable, "inference is closed")
	case in != LaneIngest && q.tokens > 0 && q.tokens+tokens > s.capacity[in.queue()]:
		return s.full(in.queue(), tokens)
	}
	q.calls = append(q.calls, c)
	q.tokens += tokens
	s.work.Broadcast()
	return nil
}

// abandon ends c with err as far as it can: what has not started never will.
func (s *scheduler) abandon(in Lane, c *call, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.running > 0 || len(c.units) > 0 { // else it finished as its context ended
		s.fail(in, c, err)
		s.settle(c)
	}
}

// fail records err and drops the units of c that have not started.
func (s *scheduler) fail(in Lane, c *call, err error) {
	if c.err == nil {
		c.err = err
	}
	q := &s.queues[in.queue()]
	for _, u := range c.units {
		q.tokens -= u.tokens
	}
	if len(c.units) > 0 {
		i := slices.Index(q.calls, c)
		q.calls = slices.Delete(q.calls, i, i+1)
		c.units = nil
	}
}

// settle closes c.done once c has nothing left to run. It is called after each
// change that can be the last one, and there is only one last one.
func (s *scheduler) settle(c *call) {
	if c.running == 0 && len(c.units) == 0 {
		close(c.done)
	}
}

// serve is the life of one slot, which runs units of one queue.
func (s *scheduler) serve(in Lane, slot int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if !s.mayStart(in) {
			if s.closed && len(s.queues[in.queue()].calls) == 0 {
				return
			}
			s.work.Wait()
			continue
		}
		c, u := s.take(in)
		s.mu.Unlock()
		start := time.Now()
		err := protect(c.run, slot, u.items)
		ended := time.Now()
		s.mu.Lock()
		s.pace.add(u.tokens, ended.Sub(start))
		s.running[in.queue()]--
		c.running--
		c.ended = ended
		if err != nil {
			s.fail(in, c, err)
		}
		s.settle(c)
		if in.queue() == 0 && len(s.queues[1].calls) > 0 || s.closed {
			s.work.Broadcast() // what ended may have been in ingestion's way
		}
	}
}

// mayStart reports whether a free slot of a queue may start its head unit.
func (s *scheduler) mayStart(in Lane) bool {
	queries, ingests := s.queues[0].calls, s.queues[1].calls
	// Ingestion that has been overtaken enough goes before queries, if a slot
	// is free to take it.
	owed := len(ingests) > 0 && s.overtaken >= ingestShare*ingests[0].units[0].tokens && s.running[1] < s.width
	if in.queue() == 0 {
		return len(queries) > 0 && !owed
	}
	return len(ingests) > 0 && (owed || len(queries) == 0 && s.running[0]+s.running[1] < s.width)
}

// take starts the head unit of a lane that has one.
func (s *scheduler) take(in Lane) (*call, unit) {
	q := &s.queues[in.queue()]
	c := q.calls[0]
	u := c.units[0]
	c.units = c.units[1:]
	if len(c.units) == 0 {
		q.calls = slices.Delete(q.calls, 0, 1)
	}
	q.tokens -= u.tokens
	s.running[in.queue()]++
	if c.started.IsZero() {
		c.started = time.Now()
	}
	c.running++
	switch {
	case in == LaneIngest:
		s.overtaken = 0
		s.work.Broadcast() // queries may have waited for this
	case len(s.queues[1].calls) > 0:
		s.overtaken += u.tokens
	}
	return c, u
}

// protect turns a panic of one unit into that call's error, so that it does not
// take the process and everyone else's calls with it.
func protect(run func(int, []int) error, slot int, items []int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			e := braid.Errorf(braid.Internal, "inference panicked: %v", p)
			e.Err = fmt.Errorf("%s", debug.Stack())
			err = e
		}
	}()
	return run(slot, items)
}

// waiting returns the tokens in each lane that have not started.
func (s *scheduler) waiting() (query, ingest int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[0].tokens, s.queues[1].tokens
}

// close lets the calls under way finish, then ends the slots.
func (s *scheduler) close() {
	s.mu.Lock()
	s.closed = true
	s.work.Broadcast()
	s.mu.Unlock()
	s.slots.Wait()
}

// maxUnitItems bounds the output of a unit of very short texts: a row of a
// sparse model is 120 KB however short its text.
const maxUnitItems = 64

// pack cuts sequences of the given token lengths into units. Only sequences of
// equal length share a unit unless it is padded, at most maxUnitItems of them
// and at most budget tokens together, padding included, unless it is a single
// one; with budget 0 every sequence has a unit of its own.
// Longer sequences come first, so that the last units to run are short and the
// slots finish together: 20 passages of 40 to 260 tokens take 3 % less time on
// 2 slots than in the order given, 8 % less on 4 and 15 % less on 8.
func pack(lengths []int, budget int, padded bool) []unit {
	order := make([]int, len(lengths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return lengths[b] - lengths[a] })
	var units []unit
	for start := 0; start < len(order); {
		length := lengths[order[start]]
		end := start + 1
		for end < len(order) && (padded || lengths[order[end]] == length) && end-start < maxUnitItems && (end-start+1)*length <= budget {
			end++
		}
		units = append(units, unit{items: order[start:end:end], tokens: length * (end - start)})
		start = end
	}
	return units
}
