package inference

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
)

// bubble runs test with a scheduler of its own, in fake time.
func bubble(t *testing.T, slots, capacity int, test func(*testing.T, *scheduler)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScheduler(slots, capacity, capacity)
		test(t, s)
		s.close()
		if query, ingest := s.waiting(); query != 0 || ingest != 0 {
			t.Errorf("%d query and %d ingestion tokens wait in an idle scheduler", query, ingest)
		}
	})
}

// units makes n units of one item and the given tokens.
func units(n, tokens int) []unit {
	list := make([]unit, n)
	for i := range list {
		list[i] = unit{items: []int{i}, tokens: tokens}
	}
	return list
}

// occupy keeps one slot busy until the returned function is called.
func occupy(s *scheduler) (release func()) {
	gate := make(chan struct{})
	started := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = s.do(context.Background(), LaneQuery, units(1, 1), func(int, []int) error {
			close(started)
			<-gate
			return nil
		})
	}()
	<-started
	return func() {
		close(gate)
		<-done
	}
}

func TestQueriesRunBeforeIngestionAndByArrival(t *testing.T) {
	bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		var order []string // one slot: never written at once
		var calls sync.WaitGroup
		for _, c := range []struct {
			name string
			lane Lane
		}{{"ingest", LaneIngest}, {"query 1", LaneQuery}, {"query 2", LaneQuery}} {
			calls.Go(func() {
				_, _, err := s.do(context.Background(), c.lane, units(2, 1), func(int, []int) error {
					order = append(order, c.name)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		release()
		calls.Wait()
		want := []string{"query 1", "query 1", "query 2", "query 2", "ingest", "ingest"}
		if !slices.Equal(order, want) {
			t.Errorf("ran %q, want %q", order, want)
		}
	})
}

func TestIngestionGetsItsShareUnderQueries(t *testing.T) {
	bubble(t, 1, 1000, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		var mu sync.Mutex // ingestion may run beside a query
		var order []Lane
		var calls sync.WaitGroup
		for _, lane := range []Lane{LaneQuery, LaneIngest} {
			calls.Go(func() {
				_, _, err := s.do(context.Background(), lane, units(100, 5), func(int, []int) error {
					mu.Lock()
					defer mu.Unlock()
					order = append(order, lane)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		release()
		calls.Wait()
		// A unit of ingestion and the query after it may run in either order.
		ingested := 0
		for i, lane := range order[:100] {
			if lane == LaneIngest {
				ingested++
			}
			if due := i / (ingestShare + 1); ingested < due-1 || ingested > due+1 {
				t.Fatalf("%d units of the first %d are ingestion's, want one in %d: %v", ingested, i+1, ingestShare+1, order[:i+1])
			}
		}
	})
}

func TestFullQueueRefusesAllButIngestion(t *testing.T) {
	bubble(t, 1, 10, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		nothing := func(int, []int) error { return nil }
		var calls sync.WaitGroup
		accepted := func(lane Lane, tokens int) {
			t.Helper()
			calls.Go(func() {
				if _, _, err := s.do(context.Background(), lane, units(1, tokens), nothing); err != nil {
					t.Errorf("%d tokens in lane %d: %v", tokens, lane, err)
				}
			})
			synctest.Wait()
		}
		refused := func(lane Lane, tokens int) {
			t.Helper()
			_, _, err := s.do(context.Background(), lane, units(1, tokens), nothing)
			if braid.CodeOf(err) != braid.Overloaded {
				t.Errorf("%d more tokens in lane %d: %v, want overloaded", tokens, lane, err)
			}
		}
		accepted(LaneQuery, 4)
		accepted(LaneBulk, 4)
		accepted(LaneQuery, 6)
		refused(LaneQuery, 1)
		accepted(LaneBulk, 6)
		refused(LaneBulk, 1)
		accepted(LaneIngest, 1000)
		accepted(LaneIngest, 1000)
		refused(LaneBulk, 1)
		release()
		calls.Wait()
		release = occupy(s)
		accepted(LaneQuery, 1000) // larger than the capacity, into an empty queue
		refused(LaneQuery, 1)
		accepted(LaneBulk, 1000)
		refused(LaneBulk, 1)
		release()
		calls.Wait()
	})
}

func TestEndedContextLeavesTheQueue(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(context.Context) (context.Context, context.CancelFunc)
		want braid.Code
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, braid.DeadlineExceeded},
		{"cancel", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, braid.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
				release := occupy(s)
				ctx, cancel := c.end(context.Background())
				defer cancel()
				start := time.Now()
				_, _, err := s.do(ctx, LaneQuery, units(3, 5), func(int, []int) error {
					t.Error("ran after its context ended")
					return nil
				})
				if braid.CodeOf(err) != c.want || !errors.Is(err, ctx.Err()) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				if waited := time.Since(start); waited != time.Second {
					t.Errorf("returned after %v, want at once when the context ends", waited)
				}
				if query, _ := s.waiting(); query != 0 {
					t.Errorf("%d tokens of the call still wait", query)
				}
				_, _, err = s.do(ctx, LaneQuery, units(1, 1), func(int, []int) error {
					t.Error("ran with an ended context")
					return nil
				})
				if braid.CodeOf(err) != c.want {
					t.Errorf("second call: %v, want %s", err, c.want)
				}
				release()
			})
		})
	}
}

// TestQueryStartsBesideIngestion has ingestion on every slot when a query comes.
func TestQueryStartsBesideIngestion(t *testing.T) {
	bubble(t, 2, 100, func(t *testing.T, s *scheduler) {
		var running, most atomic.Int32
		ingested := make(chan struct{})
		go func() {
			defer close(ingested)
			_, _, err := s.do(context.Background(), LaneIngest, units(6, 5), func(int, []int) error {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				time.Sleep(time.Minute)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		queue, compute, err := s.do(context.Background(), LaneQuery, units(4, 1), func(int, []int) error {
			time.Sleep(time.Second)
			return nil
		})
		if err != nil || queue != 0 || compute != 2*time.Second {
			t.Errorf("waited %v and ran %v, error %v; want 0 and 2s, two at a time", queue, compute, err)
		}
		<-ingested
		if most.Load() != 2 {
			t.Errorf("%d units of ingestion ran at once, want 2", most.Load())
		}
	})
}

// TestIngestionLeavesSlotsToQueries starts no unit of ingestion where a query
// runs.
func TestIngestionLeavesSlotsToQueries(t *testing.T) {
	bubble(t, 2, 1000, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		var running, most atomic.Int32
		_, _, err := s.do(context.Background(), LaneIngest, units(4, 500), func(int, []int) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			time.Sleep(time.Second)
			return nil
		})
		if err != nil || most.Load() != 1 {
			t.Errorf("%d units of ingestion ran beside a query on 2 slots, want 1; error %v", most.Load(), err)
		}
		release()
	})
}

func TestCancelWaitsForRunningUnitsOnly(t *testing.T) {
	bubble(t, 2, 100, func(t *testing.T, s *scheduler) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var started, ended atomic.Int32
		_, _, err := s.do(ctx, LaneIngest, units(10, 5), func(int, []int) error {
			started.Add(1)
			time.Sleep(3 * time.Second)
			ended.Add(1)
			return nil
		})
		if braid.CodeOf(err) != braid.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		if started.Load() != 2 || ended.Load() != 2 {
			t.Errorf("%d units started and %d ended, want the two running ones of ten", started.Load(), ended.Load())
		}
	})
}

func TestFailureEndsItsCallOnly(t *testing.T) {
	for name, fail := range map[string]func() error{
		"error": func() error { return braid.Errorf(braid.Corrupt, "broken") },
		"panic": func() error { panic("broken") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
				ran := 0
				_, _, err := s.do(context.Background(), LaneQuery, units(5, 1), func(_ int, items []int) error {
					ran++
					if items[0] == 2 {
						return fail()
					}
					return nil
				})
				if err == nil || !strings.Contains(err.Error(), "broken") {
					t.Errorf("got %v", err)
				}
				if ran != 3 {
					t.Errorf("%d units ran, want 3: none after the failure", ran)
				}
				if _, _, err := s.do(context.Background(), LaneQuery, units(1, 1), func(int, []int) error { return nil }); err != nil {
					t.Errorf("the next call: %v", err)
				}
			})
		})
	}
}

func TestTwoCallsOfOneQueryRunAtOnce(t *testing.T) {
	bubble(t, 2, 100, func(t *testing.T, s *scheduler) {
		meet := make(chan struct{})
		var calls sync.WaitGroup
		for _, step := range []func(){func() { meet <- struct{}{} }, func() { <-meet }} {
			calls.Go(func() {
				_, _, err := s.do(context.Background(), LaneQuery, units(1, 1), func(int, []int) error {
					step() // blocks for ever unless both run
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	})
}

func TestTimesOfACall(t *testing.T) {
	bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		time.AfterFunc(2*time.Second, release)
		queue, compute, err := s.do(context.Background(), LaneQuery, units(3, 1), func(int, []int) error {
			time.Sleep(time.Second)
			return nil
		})
		if err != nil || queue != 2*time.Second || compute != 3*time.Second {
			t.Errorf("queue %v, compute %v, %v; want 2s, 3s", queue, compute, err)
		}
	})
}

func TestCloseLetsCallsFinish(t *testing.T) {
	bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
		release := occupy(s)
		var ran atomic.Int32
		var calls sync.WaitGroup
		calls.Go(func() {
			_, _, err := s.do(context.Background(), LaneIngest, units(3, 1), func(int, []int) error {
				ran.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		closing := make(chan struct{})
		go func() {
			s.close()
			close(closing)
		}()
		synctest.Wait()
		if _, _, err := s.do(context.Background(), LaneQuery, units(1, 1), nil); braid.CodeOf(err) != braid.Unavailable {
			t.Errorf("a call after close: %v, want unavailable", err)
		}
		release()
		<-closing
		calls.Wait()
		if ran.Load() != 3 {
			t.Errorf("%d of 3 waiting units ran", ran.Load())
		}
	})
}

// Whatever calls come, fail and are given up, a call that succeeds ran each of
// its items exactly once, and none runs after its call returned.
func TestSchedulerUnderLoad(t *testing.T) {
	const slots = 4
	s := newScheduler(slots, 1<<20, 1<<20)
	busy := make([]atomic.Bool, slotCount(slots))
	var callers sync.WaitGroup
	for seed := range uint64(32) {
		callers.Go(func() {
			random := rand.New(rand.NewPCG(seed, 0))
			for range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				n, breakAt, cancelAt := 1+random.IntN(20), random.IntN(40), random.IntN(40)
				runs := make([]atomic.Int32, n)
				var returned atomic.Bool
				_, _, err := s.do(ctx, Lane(random.IntN(2)), units(n, 1+random.IntN(9)), func(slot int, items []int) error {
					if busy[slot].Swap(true) {
						t.Error("a slot is used twice at once")
					}
					defer busy[slot].Store(false)
					if returned.Load() {
						t.Error("an item ran after its call returned")
					}
					runs[items[0]].Add(1)
					switch items[0] {
					case breakAt:
						return errors.New("broken")
					case cancelAt:
						cancel()
					}
					return nil
				})
				returned.Store(true)
				cancel()
				for i := range runs {
					if count := runs[i].Load(); count > 1 || err == nil && count != 1 {
						t.Errorf("item %d ran %d times in a call that returned %v", i, count, err)
					}
				}
			}
		})
	}
	callers.Wait()
	s.close()
	if query, ingest := s.waiting(); query != 0 || ingest != 0 {
		t.Errorf("%d and %d tokens still wait", query, ingest)
	}
}

func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(2, 5), 0, 300).Draw(t, "lengths")
		budget := rapid.IntRange(0, 400).Draw(t, "budget")
		padded := rapid.Bool().Draw(t, "padded")
		seen := make([]bool, len(lengths))
		previous := unit{tokens: 1 << 30, items: []int{0}}
		for _, u := range pack(lengths, budget, padded) {
			length := lengths[u.items[0]]
			for _, item := range u.items {
				if seen[item] {
					t.Fatalf("item %d is in two units", item)
				}
				seen[item] = true
				if lengths[item] > length || lengths[item] != length && !padded {
					t.Fatalf("lengths %d and %d share a unit", length, lengths[item])
				}
			}
			if u.tokens != length*len(u.items) {
				t.Fatalf("unit of %d × %d says %d tokens", len(u.items), length, u.tokens)
			}
			if len(u.items) > 1 && (u.tokens > budget || len(u.items) > maxUnitItems) {
				t.Fatalf("unit of %d items and %d tokens is over the budget of %d", len(u.items), u.tokens, budget)
			}
			if length > previous.tokens/len(previous.items) {
				t.Fatal("a longer text comes after a shorter one")
			}
			previous = u
		}
		if slices.Contains(seen, false) {
			t.Fatal("an item is in no unit")
		}
	})
}
