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
	"strconv"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
)

const (
	partSparse  = "sparse"
	partLexical = "lexical"
	partBlocks  = "blocks"
)

// collections hold the passages and queries.
var collections = []string{"scifact", "nq-utd", "cppdocs-errors", "rustsec-ids"}

func main() {
	report.Main("bench/retrieval", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stderr) })
}

// bench is a run of the program.
type bench struct {
	root   string
	data   string // folder of the collections
	parts  []string
	sizes  []int // numbers of passages
	rounds int
	mixer  *corpus.Mixer
	stderr io.Writer
}

// run is the whole program.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	b := &bench{root: ".", parts: []string{partSparse, partLexical}, sizes: []int{1_000, 10_000, 100_000, 1_000_000}, stderr: stderr}
	prepare := len(args) > 0 && args[0] == "prepare"
	if prepare {
		args = args[1:]
	}
	flags := flag.NewFlagSet("retrieval", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "report to make, or to put what is measured into: OUT.json and OUT.md")
	flags.StringVar(&b.data, "data", filepath.Join("..", "shared", "data"), "folder of the test collections")
	flags.IntVar(&b.rounds, "rounds", 3, "counted runs of all queries")
	flags.Func("parts", "what to measure, by comma: sparse, lexical and blocks (default sparse,lexical)", func(list string) error {
		b.parts = strings.Split(list, ",")
		for _, part := range b.parts {
			if part != partSparse && part != partLexical && part != partBlocks {
				return fmt.Errorf("%q is none of %s, %s and %s", part, partSparse, partLexical, partBlocks)
			}
		}
		return nil
	})
	flags.Func("sizes", "numbers of passages, by comma (default 1000,10000,100000,1000000)", func(list string) error {
		b.sizes = nil
		for text := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 10_000_000 {
				return fmt.Errorf("%q is not a number of passages from 1 to 10,000,000", text)
			}
			b.sizes = append(b.sizes, n)
		}
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || !prepare && *out == "" || b.rounds < 1 {
		return braid.Errorf(braid.InvalidArgument, "want prepare, or -out and at least one round: see -help")
	}
	if err := b.read(ctx); err != nil {
		return err
	}
	for _, n := range b.sizes {
		if err := b.prepare(ctx, n); err != nil {
			return err
		}
	}
	if prepare {
		return nil
	}
	var r results
	if err := report.Read(*out, &r); err != nil {
		return err
	}
	for _, n := range b.sizes {
		for _, part := range b.parts {
			if err := b.measure(ctx, part, n, &r); err != nil {
				return err
			}
		}
	}
	return r.write(ctx, b, *out)
}

// read reads the collections.
func (b *bench) read(ctx context.Context) (err error) {
	b.mixer, err = b.folders().Mixer(ctx, collections)
	return err
}

func (b *bench) folders() corpus.Folder { return corpus.Folder{Root: b.root, Data: b.data, Log: b.log} }

func (b *bench) scratch() string { return b.folders().Scratch("retrieval") }

func (b *bench) log(format string, args ...any) { fmt.Fprintf(b.stderr, format+"\n", args...) }

// measure measures one part at one size, on one core.
func (b *bench) measure(ctx context.Context, part string, n int, r *results) error {
	b.log("%d passages: %s", n, part)
	if part == partBlocks {
		r.Blocks = slices.DeleteFunc(r.Blocks, func(b blockRow) bool { return b.Passages == n })
		return b.measureBlocks(ctx, n, r)
	}
	r.Index = slices.DeleteFunc(r.Index, func(i indexRow) bool { return i.Part == part && i.Passages == n })
	r.Searches = slices.DeleteFunc(r.Searches, func(s searchRow) bool { return s.Part == part && s.Passages == n })
	if part == partSparse {
		return b.measureSparse(ctx, n, r)
	}
	r.Peers = slices.DeleteFunc(r.Peers, func(p peerRow) bool { return p.Passages == n })
	return b.measureLexical(ctx, n, r)
}

// oneCore makes the process use one, until restore is called.
func oneCore() (restore func()) {
	cores := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(cores) }
}
