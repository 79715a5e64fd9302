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
	file, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return &progress{}
	}
	return &progress{begun: time.Now(), bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(stderr),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetVisibility(false),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
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

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
