package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/braid-search/braid"
)

const (
	// stopGrace is what a contender that was asked to end may take to do so.
	stopGrace = 40 * time.Second
	// logTail is how much of what a contender said goes into an error.
	logTail = 600
)

// process is a contender's, with its standard error in a file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
	err  error         // how it ended; valid after done
	stop func() error  // asks it to end
	once sync.Once
	end  error
}

// begin starts cmd, whose pipes are set up. The caller closes the process.
func begin(cfg Config, name string, cmd *exec.Cmd, stop func() error) (*process, error) {
	p := &process{name: name, cmd: cmd, log: cfg.scratch(name + ".log"), done: make(chan struct{}), stop: stop}
	if err := os.MkdirAll(filepath.Dir(p.log), 0o755); err != nil {
		return nil, fmt.Errorf("make folder for logs: %w", err)
	}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("make log of %s: %w", name, err)
	}
	defer func() { _ = log.Close() }() // the child has its own
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { // ends with the process; close waits for it
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// close ends the process and waits for it. It is idempotent.
func (p *process) close() error {
	p.once.Do(func() {
		_ = p.stop() // fails when it is gone already
		timer := time.AfterFunc(stopGrace, func() { _ = p.cmd.Process.Kill() })
		defer timer.Stop()
		<-p.done
		if p.err != nil && !p.terminated() {
			p.end = p.fault(p.err)
		}
	})
	return p.end
}

// terminated reports whether the process ended by the very signal that asks it
// to, as uvicorn does once it has shut down.
func (p *process) terminated() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// fault is err with the last words of the contender.
func (p *process) fault(err error) error {
	said, readErr := os.ReadFile(p.log)
	if readErr != nil {
		return fmt.Errorf("%s: %w", p.name, errors.Join(err, readErr))
	}
	if len(said) > logTail {
		said = said[len(said)-logTail:]
	}
	return braid.Errorf(braid.Unavailable, "%s: %w: it said %q, more in %s", p.name, err, strings.TrimSpace(string(said)), p.log)
}

// resident returns the resident memory of the process, now and at its highest,
// in megabytes (10⁶ bytes).
func (p *process) resident() (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read memory of %s: %w", p.name, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(status)); lines.Scan(); {
		var into *float64
		switch fields := strings.Fields(lines.Text()); {
		case len(fields) < 2:
			continue
		case fields[0] == "VmRSS:":
			into = &now
		case fields[0] == "VmHWM:":
			into = &peak
		default:
			continue
		}
		kib, err := strconv.ParseFloat(strings.Fields(lines.Text())[1], 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read memory of %s: %w", p.name, err)
		}
		*into = kib * 1024 / 1e6
	}
	return now, peak, nil
}

// ticksPerSecond is USER_HZ, which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// processor returns the processor time the process has used.
func (p *process) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read processor time of %s: %w", p.name, err)
	}
	// The name, in brackets, may hold anything; the fields after it are fixed:
	// proc(5) counts utime and stime as the 14th and 15th, the state as the 3rd.
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, braid.Errorf(braid.Internal, "read processor time of %s: /proc has %q", p.name, stat)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read processor time of %s: %w", p.name, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// terminate asks a server to stop.
func terminate(cmd *exec.Cmd) func() error {
	return func() error { return cmd.Process.Signal(syscall.SIGTERM) }
}
