package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/bench/corpus"
	"github.com/braid-search/braid/bench/report"
)

// collections hold the passages and the sparse and lexical queries; the first
// one's queries are those that are timed.
var collections = []string{"scifact", "nq-utd", "cppdocs-errors", "rustsec-ids"}

func main() {
	report.Main("bench/growth", func(ctx context.Context) error { return run(ctx, os.Args[1:], os.Stderr) })
}

// bench is a run of the program.
type bench struct {
	folders corpus.Folder
	sizes   []int // numbers of passages, ascending
	rounds  int
	mixer   *corpus.Mixer
	dense   *corpus.Dense
	log     func(format string, args ...any)
}

// run is the whole program.
func run(ctx context.Context, args []string, stderr io.Writer) error {
	b := &bench{sizes: []int{1_000, 10_000, 100_000, 500_000, 1_000_000}}
	b.log = func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }
	prepare := len(args) > 0 && args[0] == "prepare"
	if prepare {
		args = args[1:]
	}
	flags := flag.NewFlagSet("growth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	out := flags.String("out", "", "report to make, or to put what is measured into: OUT.json and OUT.md")
	data := flags.String("data", filepath.Join("..", "shared", "data"), "folder of the test collections")
	flags.IntVar(&b.rounds, "rounds", 3, "counted runs of all queries")
	flags.Func("sizes", "numbers of passages, by comma (default 1000,10000,100000,500000,1000000)", func(list string) error {
		b.sizes = nil
		for text := range strings.SplitSeq(list, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < best || n > 10_000_000 {
				return fmt.Errorf("%q is not a number of passages from %d to 10,000,000", text, best)
			}
			b.sizes = append(b.sizes, n)
		}
		slices.Sort(b.sizes)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || !prepare && *out == "" || b.rounds < 1 {
		return braid.Errorf(braid.InvalidArgument, "want prepare, or -out and at least one round: see -help")
	}
	b.folders = corpus.Folder{Root: ".", Data: *data, Log: b.log}
	if err := b.read(ctx); err != nil {
		return err
	}
	if prepare {
		return b.prepare(ctx)
	}
	return b.measure(ctx, *out)
}

// read reads the collections and the vectors.
func (b *bench) read(ctx context.Context) (err error) {
	if b.mixer, err = b.folders.Mixer(ctx, collections); err != nil {
		return err
	}
	b.dense, err = b.folders.Dense(ctx)
	return err
}

// folder is where the collection of n passages is kept.
func (b *bench) folder(n int) string {
	return filepath.Join(b.folders.Scratch("growth"), strconv.Itoa(n))
}

// dataFolder is the engine's, and builtFile says what making it took.
func (b *bench) dataFolder(n int) string { return filepath.Join(b.folder(n), "data") }
func (b *bench) builtFile(n int) string  { return filepath.Join(b.folder(n), "built.json") }
