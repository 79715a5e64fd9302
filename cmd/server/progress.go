package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far long work is, with its rate and the time left, once it
// has taken a second and if somebody is watching.
type progress struct {
	bar   *progressbar.ProgressBar // nil: nobody is watching
	begun time.Time
}

func newProgress(stderr io.Writer, what string, total int) *progress {
	return show(stderr, what, int64(total), progressbar.OptionShowCount(), progressbar.OptionShowIts())
}

// newByteProgress counts bytes instead of pieces.
func newByteProgress(stderr io.Writer, what string, total int64) *progress {
	return show(stderr, what, total, progressbar.OptionShowBytes(true))
}

func show(stderr io.Writer, what string, total int64, count ...progressbar.Option) *progress {
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	options := append(count,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetVisibility(false),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return &progress{begun: time.Now(), bar: progressbar.NewOptions64(total, options...)}
}

func (p *progress) add(n int) {
	if p.bar == nil {
		return
	}
	if time.Since(p.begun) > time.Second {
		progressbar.OptionSetVisibility(true)(p.bar)
	}
	_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
}

// finish takes the bar off the screen; p may be nil.
func (p *progress) finish() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}
