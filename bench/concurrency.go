package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/peer"
	"github.com/braid-search/braid/models"
)

// serialPlans are the ways to make both vectors one after the other that may be
// the best, as generation_peer.py names them. On one core there is one.
func serialPlans(cores int) []string {
	if cores == 1 {
		return []string{"1/1"}
	}
	n := strconv.Itoa(cores)
	return []string{"1/1", n + "/1", n + "/" + n + "-stop"}
}

// lowestAgreement is the cosine that a plan's vectors have with braid's at least:
// they are of the same texts and the same file.
const lowestAgreement = 0.9999

// concurrency measures how long both vectors of a query take: in braid each
// alone, one after the other, and at once; in bare onnxruntime one after the other
// by several plans. On one core; and on all of them in a row, after pauses, and
// with another process on one core.
func (r *run) concurrency(ctx context.Context) error {
	cpus, err := allowedCPUs()
	if err != nil {
		return err
	}
	if _, err := exec.LookPath("taskset"); err != nil {
		r.leaveOut("one core: taskset is missing (util-linux)")
	} else if err := r.generate(ctx, circumstance{cores: 1, before: []string{"taskset", "-c", cpus[len(cpus)-1]}}); err != nil {
		return err
	}
	if len(cpus) == 1 {
		return nil
	}
	for _, c := range []circumstance{{cores: len(cpus)}, {cores: len(cpus), pause: queryPause}, {cores: len(cpus), busy: true}} {
		if err := r.generate(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// queryPause is long enough for threads to sleep and a core to idle.
const queryPause = 10 * time.Millisecond

// circumstance is what queries are encoded under.
type circumstance struct {
	cores  int
	pause  time.Duration // before each query
	busy   bool          // another process keeps one core busy
	before []string      // put before every command
}

func (c circumstance) String() string {
	name := "1 core"
	if c.cores > 1 {
		name = fmt.Sprintf("%d cores", c.cores)
	}
	if c.pause > 0 {
		name += ", after pauses"
	}
	if c.busy {
		name += ", one of them busy"
	}
	return name
}

// keepBusy takes a core until what it returns is called, which waits for the end.
func keepBusy(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	loop := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
	if err := loop.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start a process that keeps a core busy: %w", err)
	}
	return func() {
		cancel()
		_ = loop.Wait() // it never ends by itself, so it was killed
	}, nil
}

// contestant is a way to make vectors and its times.
type contestant struct {
	name   string
	rounds [][]float64 // milliseconds by round, then text
}

// generate measures under one circumstance.
func (r *run) generate(ctx context.Context, under circumstance) (err error) {
	var children []*child
	defer func() {
		for _, c := range children {
			err = errors.Join(err, c.close())
		}
	}()
	for _, l := range r.generators(under) {
		if r.leaveOut(l.missing(r.cfg)) {
			continue
		}
		c, err := l.start(ctx, r.cfg, models.Dense)
		if err != nil {
			return err
		}
		children = append(children, c)
	}
	if under.busy {
		stop, err := keepBusy(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	job := peer.Job{Task: peer.Generate, Texts: r.texts.queries, Pause: under.pause.Seconds()}
	byName := map[string]*contestant{}
	for round := range 1 + r.cfg.Rounds {
		r.say("vectors of %d queries on %s, round %d", len(job.Texts), under, round)
		var reference peer.Outcome
		for i, c := range children {
			outcome, err := c.do(job)
			if err != nil {
				return err
			}
			if i == 0 {
				reference = outcome
			} else if a := agree("", c.name, reference.Results, outcome.Results); a.LowestCosine < lowestAgreement {
				return braid.Errorf(braid.Internal, "%s gives other vectors than braid: a cosine is %g", c.name, a.LowestCosine)
			}
			if round == 0 { // it warms up
				continue
			}
			for way, seconds := range outcome.Ways {
				name := c.name + ": " + string(way)
				if byName[name] == nil {
					byName[name] = &contestant{name: name}
				}
				byName[name].rounds = append(byName[name].rounds, times1000(seconds))
			}
		}
	}
	r.tellGeneration(under.String(), byName, children)
	return nil
}

// generators are braid and every plan.
func (r *run) generators(under circumstance) []library {
	braids := library{
		name: "braid",
		command: func(cfg Config, _ models.Kind) []string {
			command := append(append([]string{}, under.before...), cfg.Peer...)
			return append(command, "-library", cfg.library(), "-models", cfg.modelsFolder(), "-dense", denseModel, "-sparse", sparseModel)
		},
		needs: inProcess().needs, install: inProcess().install,
	}
	all := []library{braids}
	for _, plan := range serialPlans(under.cores) {
		p := python("onnxruntime", "generation_peer.py", plan)
		p.name = "onnxruntime " + plan
		p.command = func(cfg Config, _ models.Kind) []string {
			return append(append([]string{}, under.before...), cfg.python("onnxruntime"), cfg.script("generation_peer.py"),
				cfg.model(denseModel), cfg.model(sparseModel), plan, r.texts.prefix)
		}
		all = append(all, p)
	}
	return all
}

// tellGeneration adds what was seen to the report: each contestant's times, and
// the vectors made at once against the others.
func (r *run) tellGeneration(under string, byName map[string]*contestant, children []*child) {
	ways := []peer.Way{peer.DenseAlone, peer.SparseAlone, peer.Serial, peer.AtOnce}
	for _, c := range children {
		for _, way := range ways {
			if seen := byName[c.name+": "+string(way)]; seen != nil {
				r.report.Generation = append(r.report.Generation, Stage{Mode: under, Stage: seen.name, P50: figure(quantiles(seen.rounds, 0.5)), P95: figure(quantiles(seen.rounds, 0.95))})
			}
		}
	}
	atOnce := byName["braid: "+string(peer.AtOnce)]
	against := func(a, b *contestant) {
		for _, q := range []struct {
			metric metric
			q      float64
		}{{metric{name: "p50 ms"}, 0.5}, {metric{name: "p95 ms"}, 0.95}} {
			r.report.Comparisons = append(r.report.Comparisons,
				pairUp(r.part, "vectors of a query, "+under, q.metric, a.name, b.name, quantiles(a.rounds, q.q), quantiles(b.rounds, q.q)))
		}
	}
	against(byName["braid: "+string(peer.DenseAlone)], atOnce)
	var serial []*contestant
	for _, c := range children {
		serial = append(serial, byName[c.name+": "+string(peer.Serial)])
		against(atOnce, serial[len(serial)-1])
	}
	for _, q := range []float64{0.5, 0.95} {
		r.report.AtOnce = append(r.report.AtOnce, atOnceOver(under, q, atOnce, byName["braid: "+string(peer.DenseAlone)], serial))
	}
}

func quantiles(rounds [][]float64, q float64) []float64 {
	var values []float64
	for _, round := range rounds {
		values = append(values, quantile(round, q))
	}
	return values
}

func times1000(seconds []float64) []float64 {
	values := make([]float64, len(seconds))
	for i, s := range seconds {
		values[i] = 1000 * s
	}
	return values
}

// allowedCPUs lists the numbers of the cores this process may use, at least one.
func allowedCPUs() ([]string, error) {
	const name = "/proc/self/status"
	status, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read allowed cores: %w", err)
	}
	defer func() { _ = status.Close() }()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if list, ok := strings.CutPrefix(lines.Text(), "Cpus_allowed_list:"); ok {
			return parseCPUs(strings.TrimSpace(list))
		}
	}
	return nil, braid.Errorf(braid.Internal, "read allowed cores: %s does not list them", name)
}

// parseCPUs reads a list like "0-2,5".
func parseCPUs(list string) ([]string, error) {
	var cpus []string
	for _, part := range strings.Split(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err = errors.Join(err, err2); err != nil || to < from {
			return nil, braid.Errorf(braid.Internal, "read allowed cores: %q is no list of them", list)
		}
		for n := from; n <= to; n++ {
			cpus = append(cpus, strconv.Itoa(n))
		}
	}
	return cpus, nil
}
