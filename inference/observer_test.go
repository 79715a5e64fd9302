package inference

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/braid-search/braid"
)

// recorder keeps what it is told.
type recorder struct {
	mu    sync.Mutex
	calls []CallReport
	runs  []RunReport
}

func (r *recorder) ObserveCall(c CallReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

func (r *recorder) ObserveRun(run RunReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
}

func TestObserverHearsOfCallsAndRuns(t *testing.T) {
	heard := &recorder{}
	r := openRuntime(t, Options{Observer: heard})
	dense, pair := openDense(t, r), openPair(t, r)
	ctx := t.Context()

	_, timing, err := dense.Embed(ctx, Request{Texts: []string{"wrench", strings.Repeat("water ", 600)}, Role: RolePassage, Lane: LaneBulk})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := pair.Score(ctx, PairRequest{Query: "a wrench", Passages: []Passage{{Text: "a hammer"}}}); err != nil {
		t.Fatal(err)
	}
	_, _, refused := dense.Embed(ctx, Request{})
	if refused == nil {
		t.Fatal("no texts were encoded")
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := pair.Score(gone, PairRequest{Query: "q", Passages: []Passage{{Text: "p"}}}); err == nil {
		t.Fatal("a call ran after its context had ended")
	}

	want := []CallReport{
		{Model: dense.head.model.Name, Lane: LaneBulk, Items: 2, Tokens: 606, Truncated: 1, Timing: timing},
		{Model: pair.head.model.Name, Items: 1, Tokens: 8, Timing: heard.calls[1].Timing},
		{Model: dense.head.model.Name, Err: refused},
		{Model: pair.head.model.Name, Err: heard.calls[3].Err},
	}
	if len(heard.calls) != len(want) {
		t.Fatalf("heard of %d calls: %+v", len(heard.calls), heard.calls)
	}
	for i, c := range heard.calls {
		if c != want[i] {
			t.Errorf("call %d is %+v, want %+v", i, c, want[i])
		}
	}
	if heard.calls[1].Timing.Compute <= 0 || braid.CodeOf(heard.calls[3].Err) != braid.Canceled {
		t.Errorf("calls %+v", heard.calls)
	}
	items, tokens := 0, 0
	for _, run := range heard.runs {
		items, tokens = items+run.Items, tokens+run.Tokens
		if run.Took <= 0 {
			t.Errorf("run %+v took no time", run)
		}
	}
	if items != 3 || tokens != 4+512+8 {
		t.Errorf("the runs had %d items and %d tokens: %+v", items, tokens, heard.runs)
	}
}

func TestFullQueueSaysHowLongToWait(t *testing.T) {
	bubble(t, 1, 100, func(t *testing.T, s *scheduler) {
		ctx := context.Background()
		_, _, err := s.do(ctx, LaneQuery, units(1, 50), func(int, []int) error {
			time.Sleep(5 * time.Second) // a token takes 100 ms
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		release := occupy(s)
		var waiting sync.WaitGroup
		for _, lane := range []Lane{LaneQuery, LaneBulk} {
			waiting.Go(func() {
				if _, _, err := s.do(ctx, lane, units(1, 90), func(int, []int) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		for _, tc := range []struct {
			lane   Lane
			tokens int
			want   time.Duration
		}{
			{LaneQuery, 30, 2 * time.Second},   // 20 of the 90 tokens must leave
			{LaneQuery, 1000, 9 * time.Second}, // all of them: it needs an empty queue
			{LaneBulk, 30, 11 * time.Second},   // 20, after 90 of the queries
		} {
			_, _, err := s.do(ctx, tc.lane, units(1, tc.tokens), nil)
			var full *QueueFull
			if braid.CodeOf(err) != braid.Overloaded || !errors.As(err, &full) || full.Wait.Round(time.Millisecond) != tc.want {
				t.Errorf("lane %d, %d tokens: %v, %+v, want %s", tc.lane, tc.tokens, err, full, tc.want)
			}
		}
		release()
		waiting.Wait()
	})
}
