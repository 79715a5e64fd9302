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
	done  int64
	total int64
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
		return &progress{total: total}
	}
	options := append(count,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetVisibility(false),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	bar := progressbar.NewOptions64(max(total, 1), options...)
	bar.StartWithoutRender() // so that the rate counts from here
	return &progress{begun: time.Now(), bar: bar, total: total}
}

// add counts n more as done.
func (p *progress) add(n int) { p.to(p.done+int64(n), p.total) }

// to says that done of total is done.
func (p *progress) to(done, total int64) {
	p.done, p.total = done, total
	if p.bar == nil {
		return
	}
	if time.Since(p.begun) > time.Second {
		progressbar.OptionSetVisibility(true)(p.bar)
	}
	p.bar.ChangeMax64(max(total, done, 1))
	_ = p.bar.Set64(done) // a bar that cannot be drawn is no reason to stop
}

// finish takes the bar off the screen; p may be nil.
func (p *progress) finish() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}
