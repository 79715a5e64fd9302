package inference

import "time"

// Observer hears of a Runtime's work, for metrics. Its methods are called by
// the goroutines that do the work, several at once, and hold it up: they must be
// quick and safe for concurrent use.
type Observer interface {
	// ObserveCall is told of each call to a head when it ends. Calls on a closed
	// Runtime are not told.
	ObserveCall(CallReport)
	// ObserveRun is told of each run of a model when it ends.
	ObserveRun(RunReport)
}

// CallReport is one call to a head.
type CallReport struct {
	Model     string
	Lane      Lane
	Items     int    // texts or pairs that were tokenised
	Tokens    int    // of these items, as in Usage
	Truncated int    // items that were cut
	Timing    Timing // zero after an error
	Err       error  // what the caller got
}

// RunReport is one run of a model.
type RunReport struct {
	Model  string
	Items  int
	Tokens int           // of all items, as the model read them
	Took   time.Duration // from filling the input to the last item's result
}

// report tells the observer, if there is one, of a call that ended.
func (h *head) report(lane Lane, usage []Usage, timing Timing, err error) {
	observer := h.runtime.options.Observer
	if observer == nil {
		return
	}
	r := CallReport{Model: h.model.Name, Lane: lane, Items: len(usage), Timing: timing, Err: err}
	for _, u := range usage {
		r.Tokens += u.Tokens
		if u.Truncated {
			r.Truncated++
		}
	}
	observer.ObserveCall(r)
}

// reportRun tells the observer, if there is one, of a run that began at start.
func (h *head) reportRun(batch []sequence, start time.Time) {
	observer := h.runtime.options.Observer
	if observer == nil {
		return
	}
	r := RunReport{Model: h.model.Name, Items: len(batch), Took: time.Since(start)}
	for _, s := range batch {
		r.Tokens += len(s.ids)
	}
	observer.ObserveRun(r)
}
