package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench"
	"github.com/braid-search/braid/bench/report"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

func main() {
	report.Main("bench/ablation", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stderr) })
}

// seed of the order of queries and of ways to ask them.
const seed = 1

// set is a test collection with one of its sets of judgments.
type set struct {
	name string
	*eval.Dataset
}

func (s set) collection() string { return "eval-" + s.Name }

// sets are those measured, by folder and judgments.
func sets(data string) ([]set, error) {
	var all []set
	for _, s := range []struct{ name, folder, qrels string }{
		{"scifact", "scifact", "test"},
		{"nq-utd", "nq-utd", "test"},
		{"cpp codes", "cppdocs-errors", "test"},
		{"cpp messages", "cppdocs-errors", "messages"},
		{"rustsec-ids", "rustsec-ids", "test"},
	} {
		d, err := eval.Open(filepath.Join(data, s.folder), s.qrels)
		if err != nil {
			return nil, err
		}
		shuffle := rand.New(rand.NewPCG(seed, 1))
		shuffle.Shuffle(len(d.Queries), func(i, j int) { d.Queries[i], d.Queries[j] = d.Queries[j], d.Queries[i] })
		all = append(all, set{s.name, d})
	}
	return all, nil
}

// program is a run of the program.
type program struct {
	cfg    bench.Config
	folder string // what is kept, as a name of bench.Config.Scratch
	sets   []set
	server *bench.Server
	tokens float64 // that the cross-encoder had read after the last search
	stderr io.Writer
}

// run is the whole program.
func run(ctx context.Context, args []string, stderr io.Writer) (err error) {
	p := &program{stderr: stderr}
	prepare := len(args) > 0 && args[0] == "prepare"
	if prepare {
		args = args[1:]
	}
	flags := flag.NewFlagSet("ablation", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "report to make, or with -times to change: OUT.json and OUT.md")
	data := flags.String("data", filepath.Join("..", "shared", "data"), "folder of the test collections")
	sample := flags.Int("reranked", 60, "queries of each set that are asked with the cross-encoder")
	times := flags.Duration("times", 0, "ask some queries again, for so long, and change the times in the report only")
	flags.StringVar(&p.cfg.Program, "braid", "", "the server to measure (default bin/braid)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || !prepare && *out == "" || *sample < 1 || *times < 0 {
		return braid.Errorf(braid.InvalidArgument, "want prepare, or -out and at least one query: see -help")
	}
	if p.sets, err = sets(*data); err != nil {
		return err
	}
	key, err := bench.ModelsKey(p.cfg)
	if err != nil {
		return err
	}
	p.folder = filepath.Join("ablation", key)
	if p.server, err = bench.Serve(ctx, p.cfg, filepath.Join(p.folder, "data")); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.server.Close()) }()
	if err := p.store(ctx); err != nil || prepare {
		return err
	}
	if *times > 0 {
		return p.measureTimes(ctx, *out, *times)
	}
	return p.measureAll(ctx, *out, *sample)
}

func (p *program) say(format string, args ...any) { fmt.Fprintf(p.stderr, format+"\n", args...) }

// store sees that the server holds the collections. Documents that an earlier run
// stored are not encoded again.
func (p *program) store(ctx context.Context) error {
	const batch = 64
	done := map[string]bool{}
	for _, s := range p.sets {
		if done[s.collection()] {
			continue
		}
		done[s.collection()] = true
		if _, err := p.server.Client.CreateWith(ctx, s.collection(), search.Settings{}); err != nil {
			return err
		}
		var docs []braid.Document
		stored := 0
		send := func() error {
			_, err := p.server.Client.Ingest(ctx, s.collection(), docs)
			stored += len(docs)
			docs = docs[:0]
			return err
		}
		for d, err := range s.Corpus() {
			if err != nil {
				return err
			}
			if strings.TrimSpace(d.Passage()) == "" {
				continue
			}
			if docs = append(docs, d); len(docs) == batch {
				if err := send(); err != nil {
					return err
				}
			}
		}
		if len(docs) > 0 {
			if err := send(); err != nil {
				return err
			}
		}
		info, err := p.server.Client.Collection(ctx, s.collection())
		if err != nil {
			return err
		}
		if info.Documents != stored {
			return braid.Errorf(braid.Conflict, "collection %q holds %d documents, the dataset %d: remove %s", s.collection(), info.Documents, stored, p.cfg.Scratch(p.folder))
		}
		p.say("%s: %d documents in %d passages", s.collection(), info.Documents, info.Passages)
	}
	return nil
}

// measureAll asks all queries in all ways of the first stage, and a sample in those
// with the cross-encoder, and writes the report.
func (p *program) measureAll(ctx context.Context, out string, sample int) error {
	kept, err := p.openAnswers()
	if err != nil {
		return err
	}
	for _, s := range stages() {
		most := sample
		if s.name == firstStage {
			most = p.mostQueries()
		}
		if err := p.rounds(ctx, s, most, time.Time{}, kept); err != nil {
			return errors.Join(err, kept.close())
		}
	}
	if err := kept.close(); err != nil {
		return err
	}
	r := results{Program: kept.program}
	if r.Circumstances, err = p.now(ctx); err != nil {
		return err
	}
	r.sum(p.sets, kept.all)
	r.retime(r.Circumstances, p.sets, kept.all)
	return r.write(out)
}

// now are the circumstances, with the commit that the server says it is of.
func (p *program) now(ctx context.Context) (report.Circumstances, error) {
	info, err := p.server.Client.Info(ctx)
	c := report.Now(ctx, ".")
	c.Commit = info.Version
	return c, err
}

func (p *program) mostQueries() int {
	most := 0
	for _, s := range p.sets {
		most = max(most, len(s.Queries))
	}
	return most
}

// measureTimes asks queries for so long, a tenth of it those of the first stage, and
// puts the times into the report. If the report is of the same program, answers that
// it did not have yet come into it, too.
func (p *program) measureTimes(ctx context.Context, out string, limit time.Duration) (err error) {
	var r results
	if err := report.Read(out, &r); err != nil {
		return err
	}
	if len(r.Stages) == 0 {
		return braid.Errorf(braid.NotFound, "%s.json is not there: make it without -times first", out)
	}
	kept, err := p.openAnswers()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.close()) }()
	begun := time.Now()
	timed := &answers{asked: map[key]bool{}}
	for _, s := range stages() {
		until := begun.Add(limit)
		if s.name == firstStage {
			until = begun.Add(limit / 10)
		}
		before := len(timed.all)
		if err := p.rounds(ctx, s, p.mostQueries(), until, timed); err != nil {
			return err
		}
		if len(timed.all) == before {
			return braid.Errorf(braid.InvalidArgument, "-times %s is too short for one query of each set, %s", limit, s.name)
		}
	}
	if err := kept.add(timed.all); err != nil {
		return err
	}
	if r.Program == kept.program {
		r.sum(p.sets, kept.all)
	}
	now, err := p.now(ctx)
	if err != nil {
		return err
	}
	r.retime(now, p.sets, timed.all)
	return r.write(out)
}
