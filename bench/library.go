package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
)

// callLimit is when a contender that does not answer is ended.
const callLimit = 5 * time.Minute

// library is a contender in process: it runs as a child that speaks the protocol
// of package peer.
type library struct {
	name    string
	command func(Config, models.Kind) []string
	needs   func(Config) string // a file that is there when it is installed
	install string              // how to get it
	tasks   []peer.Task         // it takes part in; empty for all
}

func onnxruntimePeer(strategy string, tasks ...peer.Task) library {
	return python("onnxruntime", "onnxruntime_peer.py", strategy, tasks...)
}

func fastembedPeer(batch string, tasks ...peer.Task) library {
	return python("fastembed", "fastembed_peer.py", batch, tasks...)
}

func python(environment, script, setting string, tasks ...peer.Task) library {
	return library{
		name: environment + " " + setting,
		command: func(cfg Config, kind models.Kind) []string {
			name, folder := "dense", denseModel
			if kind == models.CrossEncoder {
				name, folder = "pair", pairModel
			}
			return []string{cfg.python(environment), cfg.script(script), name, cfg.model(folder), setting}
		},
		needs:   func(cfg Config) string { return cfg.python(environment) },
		install: "bench/peers/install " + environment,
		tasks:   tasks,
	}
}

// inProcess is braid's own.
func inProcess() library {
	return library{
		name: "braid in process",
		command: func(cfg Config, kind models.Kind) []string {
			command := append([]string{}, cfg.Peer...)
			command = append(command, "-library", cfg.library(), "-models", cfg.modelsFolder())
			if kind == models.Dense {
				return append(command, "-dense", denseModel)
			}
			return append(command, "-pair", pairModel)
		},
		needs:   func(cfg Config) string { return cfg.Peer[0] },
		install: "make bench",
	}
}

// missing says why the library cannot take part, or "".
func (l library) missing(cfg Config) string {
	if _, err := os.Stat(l.needs(cfg)); err != nil {
		return fmt.Sprintf("%s: not installed, run %s", l.name, l.install)
	}
	return ""
}

// child is a library that runs. One job at a time.
type child struct {
	*process
	jobs     *json.Encoder
	outcomes *json.Decoder
}

// start returns when the model is loaded.
func (l library) start(ctx context.Context, cfg Config, kind models.Kind) (*child, error) {
	command := l.command(cfg, kind)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", l.name, err)
	}
	p, err := begin(cfg, l.name, cmd, in.Close)
	if err != nil {
		return nil, err
	}
	c := &child{process: p, jobs: json.NewEncoder(in), outcomes: json.NewDecoder(out)}
	first, err := c.outcome()
	if err == nil && !first.Ready {
		err = braid.Errorf(braid.Unavailable, "%s did not say that it is ready", l.name)
	}
	if err != nil {
		_ = c.close() // fails as well and says less
		return nil, err
	}
	return c, nil
}

func (c *child) do(job peer.Job) (peer.Outcome, error) {
	if err := c.jobs.Encode(job); err != nil {
		return peer.Outcome{}, c.fault(fmt.Errorf("send job: %w", err))
	}
	o, err := c.outcome()
	if err == nil && len(o.Results) != len(job.Texts) {
		err = braid.Errorf(braid.Internal, "%s gave %d results for %d texts", c.name, len(o.Results), len(job.Texts))
	}
	return o, err
}

func (c *child) outcome() (peer.Outcome, error) {
	timer := time.AfterFunc(callLimit, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	var o peer.Outcome
	if err := c.outcomes.Decode(&o); err != nil {
		return o, c.fault(fmt.Errorf("read outcome: %w", err))
	}
	return o, nil
}
