package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
)

const (
	// k is how many vectors a search asks for.
	k = 10
	// m and efConstruction are those of every graph; both are usual defaults.
	m              = 16
	efConstruction = 200
)

// efs are the points of a curve.
func efs() []int { return []int{20, 40, 64, 100, 150, 200, 400} }

// part is a part of the report.
type part struct {
	name    string
	measure func(*bench, context.Context, *results) error
}

func parts() []part {
	return []part{{"graph", (*bench).graphs}, {"exact", (*bench).exact}, {"filter", (*bench).filters}, {"churn", (*bench).churn}}
}

func main() {
	report.Main("bench/dense", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stderr) })
}

// bench is a run of the program.
type bench struct {
	folders corpus.Folder
	rounds  int
	vectors *corpus.Dense
	log     func(format string, args ...any)
}

// run is the whole program.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	b := &bench{log: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }}
	chosen := parts()
	flags := flag.NewFlagSet("bench/dense", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "report to make, or to put what is measured into: OUT.json and OUT.md")
	data := flags.String("data", filepath.Join("..", "shared", "data"), "folder of the test collections")
	flags.IntVar(&b.rounds, "rounds", 5, "counted runs of all queries")
	flags.Func("parts", "what to measure, by comma (default graph,exact,filter,churn)", func(list string) error {
		names := strings.Split(list, ",")
		chosen = slices.DeleteFunc(parts(), func(p part) bool { return !slices.Contains(names, p.name) })
		if len(chosen) != len(names) {
			return fmt.Errorf("want each at most once of graph, exact, filter and churn")
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *out == "" || b.rounds < 1 {
		return braid.Errorf(braid.InvalidArgument, "want -out and at least one round: see -help")
	}
	b.folders = corpus.Folder{Root: ".", Data: *data, Log: b.log}
	var r results
	if err := report.Read(*out, &r); err != nil {
		return err
	}
	var err error
	if b.vectors, err = b.folders.Dense(ctx); err != nil {
		return err
	}
	for _, p := range chosen {
		b.log("%s", p.name)
		if err := p.measure(b, ctx, &r); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	r.Circumstances, r.Rounds = report.Now(ctx, b.folders.Root), b.rounds
	r.Charts = r.charts()
	return report.Write(*out, r, r.markdown(filepath.Base(*out)))
}

// base is a set of vectors that is searched.
type base struct {
	name    string
	vectors corpus.Matrix
	want    [][]uint32 // the k best of each query
}

// bases are what curves are of.
func (b *bench) bases() []base {
	return []base{b.base("passages", b.vectors.Passages), b.base("sentences", b.vectors.Sentences)}
}

func (b *bench) base(name string, vectors corpus.Matrix) base {
	return base{name, vectors, ordinals(corpus.Nearest(vectors, b.vectors.Queries, k))}
}

// useCores lets the process use n cores until restore is called.
func useCores(n int) (restore func()) {
	before := runtime.GOMAXPROCS(n)
	return func() { runtime.GOMAXPROCS(before) }
}
