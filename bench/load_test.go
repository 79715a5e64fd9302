package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// Gaps of Poisson arrivals are exponential: their mean is 1/rate and so is their
// standard deviation.
func TestPoisson(t *testing.T) {
	moments := poisson(rand.New(rand.NewPCG(1, 2)), 50, 400*time.Second)
	var sum, squares, last float64
	for _, m := range moments {
		gap := m.Seconds() - last
		if gap < 0 || m >= 400*time.Second {
			t.Fatalf("an arrival at %s after one at %g s", m, last)
		}
		sum, squares, last = sum+gap, squares+gap*gap, m.Seconds()
	}
	n := float64(len(moments))
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-0.02) > 0.001 || math.Abs(deviation-0.02) > 0.001 {
		t.Errorf("gaps of %g s with deviation %g in the mean of %g, want 0.02 and 0.02", mean, deviation, n)
	}
}

// A server that stalls delays all who arrive meanwhile, and each one's latency
// says by how much.
func TestPlayCountsFromTheMomentDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var moments []time.Duration
		for i := range 10 {
			moments = append(moments, time.Duration(i)*100*time.Millisecond)
		}
		server := make(chan struct{}, 1)
		seen, err := play(context.Background(), moments, func(_ context.Context, i int) (outcome, error) {
			server <- struct{}{}
			defer func() { <-server }()
			if i == 0 {
				time.Sleep(time.Second)
			}
			return answered, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range seen {
			if want := 1000 - 100*float64(i); a.latency != want {
				t.Errorf("request %d: %g ms, want %g", i, a.latency, want)
			}
		}
	})
}

func TestPlayEndsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	sent := 0
	_, err := play(context.Background(), []time.Duration{0, time.Hour}, func(context.Context, int) (outcome, error) {
		sent++
		return 0, broken
	})
	if !errors.Is(err, broken) || sent != 1 {
		t.Errorf("got %v after %d requests, want the error after the first", err, sent)
	}
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   outcome
		fails  bool
	}{
		{200, `{"hits": []}`, answered, false},
		{200, `{"degraded": [{"stage": "rerank"}]}`, degraded, false},
		{429, ``, refused, false},
		{503, ``, expired, false},
		{504, ``, expired, false},
		{500, ``, 0, true},
		{200, `no JSON`, 0, true},
	} {
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tc.status)
			_, _ = w.Write([]byte(tc.body))
		}))
		s := &server{process: &process{name: "server"}, base: backend.URL, http: backend.Client()}
		got, err := s.outcome(context.Background(), request{"/", nil})
		if got != tc.want || (err != nil) != tc.fails {
			t.Errorf("status %d, %q: got %v, %v", tc.status, tc.body, got, err)
		}
		backend.Close()
	}
}

func TestRoundLength(t *testing.T) {
	for rate, want := range map[float64]time.Duration{100: 3 * time.Second, 2: 5 * time.Second, 0.1: 12 * time.Second} {
		if got := roundLength(3*time.Second, rate); got != want {
			t.Errorf("%g a second: %s, want %s", rate, got, want)
		}
	}
}

func TestRateLoadLeavesOutWhoGotNoAnswer(t *testing.T) {
	round := []arrival{{10, answered}, {20, degraded}, {1, refused}, {2, expired}}
	l, ok := rateLoad("w", 100, 0.5, [][]arrival{round, round})
	if !ok || l.Arrived != 8 || l.Degraded != 2 || l.Refused != 2 || l.Expired != 2 || l.P50.Median != 15 {
		t.Errorf("got %+v, %v", l, ok)
	}
	if _, ok := rateLoad("w", 100, 0.5, [][]arrival{round, {{1, refused}}}); ok {
		t.Error("a round without an answer has quantiles")
	}
}

// The chart has a line a workload and quantile, a point a rate.
func TestLoadChart(t *testing.T) {
	r := &Report{}
	for i, share := range loadShares() {
		ms := math.Pow(4, float64(i))
		r.Loads = append(r.Loads, RateLoad{Workload: "searches", Share: share, P50: figure([]float64{ms}), P95: figure([]float64{2 * ms}), P99: figure([]float64{3 * ms})})
	}
	c := r.loadChart()
	if len(c.Lines) != 3 || c.Lines[1].Name != "searches, p95" || len(c.Lines[1].Points) != len(loadShares()) {
		t.Fatalf("got %+v", c)
	}
	if got := c.Lines[1].Points[2]; got != [2]float64{75, 32} {
		t.Errorf("p95 at the third rate is %v, want 32 ms at 75 %%", got)
	}
}
