package inference

import (
	"context"
	"strings"
	"testing"
	"time"
)

// told is a forecast that knows runs of so much a token.
func told(perToken time.Duration) *forecast {
	f := &forecast{}
	for range 200 {
		f.add(100, 100*perToken)
	}
	return f
}

func TestForecastLearnsAndIsCautious(t *testing.T) {
	var f forecast
	if f.time(100) != 0 {
		t.Error("a forecast without runs knows something")
	}
	f.add(10, 10*time.Second) // sets up memory
	if f.time(100) != 0 {
		t.Errorf("the first run counts: %v", f.time(100))
	}
	if got := told(time.Millisecond).time(50); got < 50*time.Millisecond || got > 51*time.Millisecond {
		t.Errorf("steady runs of 1 ms a token: 50 tokens in %v", got)
	}
	uneven := &forecast{}
	for i := range 200 {
		uneven.add(100, time.Duration(50+100*(i%2))*time.Millisecond) // 0.5 and 1.5 ms a token
	}
	if got := uneven.time(100); got < 150*time.Millisecond {
		t.Errorf("runs of 50 and 150 ms: forecast %v, want no less than the longer", got)
	}
}

func TestForecastAdmitsOnlyWhatFits(t *testing.T) {
	f, now := told(time.Millisecond), time.Now()
	if !f.fits(now, now.Add(60*time.Millisecond), 50) {
		t.Error("50 ms do not fit in 60")
	}
	if f.fits(now, now.Add(40*time.Millisecond), 50) {
		t.Error("50 ms fit in 40")
	}
	if f.fits(now, now.Add(-time.Second), 0) {
		t.Error("a run starts after its time")
	}
}

// A forecast from a busy time must not forbid everything for ever.
func TestDoubtCorrectsAForecastThatForbidsAll(t *testing.T) {
	f, now := told(time.Second), time.Now()
	for range 1000 {
		if f.fits(now, now.Add(time.Second), 100) {
			return
		}
		f.doubt()
	}
	t.Error("still forbidden after 1000 calls")
}

func TestScoreUntil(t *testing.T) {
	ctx := context.Background()
	p := openPair(t, openRuntime(t, Options{Slots: 2}))
	var passages []Passage
	for _, text := range mixed(24) {
		passages = append(passages, Passage{Text: text})
	}
	req := PairRequest{Query: "which crane moved", Passages: passages, Lane: LaneQuery}
	whole, _, err := p.Score(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	same := func(got []PairScore) {
		t.Helper()
		for i := range got {
			if got[i] != whole[i] {
				t.Errorf("passage %d: %+v, without a limit %+v", i, got[i], whole[i])
			}
		}
	}

	req.Until = time.Now().Add(time.Hour)
	all, timing, err := p.Score(ctx, req)
	if err != nil || len(all) != len(whole) || timing.Compute <= 0 {
		t.Fatalf("an hour: %d scores, %+v, error %v", len(all), timing, err)
	}
	same(all)

	req.Until = time.Now().Add(-time.Second)
	if none, _, err := p.Score(ctx, req); err != nil || len(none) != 0 {
		t.Errorf("a time that has passed: %d scores, error %v", len(none), err)
	}

	// The forecast is made so that the first passages fit and the 13th does not,
	// however fast this machine is.
	// 10 s a token to begin with: by then at least 7,800 s for the long one, at most
	// 1,200 s for each of the others.
	const fit = 12
	p.head.forecast = forecast{}
	req.Until = time.Now().Add(time.Hour)
	req.Passages = append(passages[:fit:fit], Passage{Text: strings.Repeat("harbour crane ", 250)})
	p.head.forecast.runs, p.head.forecast.mean = 2, 10 // seconds a token
	some, _, err := p.Score(ctx, req)
	if err != nil || len(some) != fit {
		t.Fatalf("%d scores, error %v, want the first %d", len(some), err, fit)
	}
	same(some)

	ended, cancel := context.WithCancel(ctx)
	cancel()
	req.Until = time.Now().Add(time.Hour)
	if got, _, err := p.Score(ended, req); err == nil {
		t.Errorf("the caller is gone, and gets %d scores", len(got))
	}
}
