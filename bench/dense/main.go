package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/dense/simd"
	"github.com/braid-search/braid/index/topk"
)

const (
	k              = 10
	m              = 16
	efConstruction = 200
	rounds         = 5
)

// efs are the points of a curve.
func efs() []int { return []int{20, 40, 64, 100, 150, 200, 400} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench/dense:", err)
		os.Exit(1)
	}
}

// run is the whole program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench/dense", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the checkout")
	data := flags.String("data", "", "folder of the test collections (default: ../shared/data beside the checkout)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		*data = filepath.Join(*root, "..", "shared", "data")
	}
	t, err := readTexts(*data)
	if err != nil {
		return err
	}
	if err := embed(ctx, *root, t, stderr); err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one core for everybody
	sets := t.sets()
	queries, err := sets[0].read(*root)
	if err != nil {
		return err
	}
	queries = queries.part(0, t.questions)
	for _, s := range sets[1:] {
		base, err := s.read(*root)
		if err != nil {
			return err
		}
		if err := measure(ctx, *root, s, base, queries, stdout); err != nil {
			return err
		}
	}
	return nil
}

// point is what one ef comes to.
type point struct {
	recall  float64
	seconds []float64 // a query, of each round
}

func (p point) String() string {
	slices.Sort(p.seconds)
	micro := func(s float64) float64 { return s * 1e6 }
	return fmt.Sprintf("%.4f | %.0f (%.0f–%.0f)", p.recall, micro(p.seconds[len(p.seconds)/2]), micro(p.seconds[0]), micro(p.seconds[len(p.seconds)-1]))
}

// measure prints the curves of one set as a table.
func measure(ctx context.Context, root string, s set, base, queries matrix, w io.Writer) error {
	want := truth(base, queries)
	theirs, theirBuild, err := hnswlib(ctx, root, s, queries, want)
	if err != nil {
		return err
	}
	graph, err := hnsw.New(dim, hnsw.Options{M: m, EfConstruction: efConstruction})
	if err != nil {
		return err
	}
	begun := time.Now()
	for i := range base.rows() {
		if err := graph.Add(uint32(i), base.row(i)); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "\n%d %s, %d queries, k %d, M %d, efConstruction %d, one core; microseconds a query, median of %d rounds (lowest–highest)\n\n", base.rows(), s.name, queries.rows(), k, m, efConstruction, rounds)
	fmt.Fprintf(w, "| ef | braid recall@%d | µs | hnswlib recall@%d | µs |\n|---|---|---|---|---|\n", k, k)
	build := time.Since(begun).Seconds()
	for i, ef := range efs() {
		p, err := ours(ctx, graph, queries, want, ef)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %d | %s | %s |\n", ef, p, theirs[i])
	}
	fmt.Fprintf(w, "\nBuild: braid %.1f s, hnswlib %.1f s. braid holds %.0f bytes a vector.\n", build, theirBuild, float64(graph.MemoryBytes())/float64(base.rows()))
	return nil
}

func ours(ctx context.Context, graph *hnsw.Graph, queries matrix, want [][]uint32, ef int) (point, error) {
	var p point
	for range rounds {
		found, begun := 0, time.Now()
		for q := range queries.rows() {
			matches, _, err := graph.Search(ctx, queries.row(q), topk.Scan{K: k}, ef)
			if err != nil {
				return p, err
			}
			for _, match := range matches {
				if slices.Contains(want[q], match.Ord) {
					found++
				}
			}
		}
		p.seconds = append(p.seconds, time.Since(begun).Seconds()/float64(queries.rows()))
		p.recall = float64(found) / float64(k*queries.rows())
	}
	return p, nil
}

// truth returns the k best of every query, by comparing all.
func truth(base, queries matrix) [][]uint32 {
	want := make([][]uint32, queries.rows())
	scores := make([]float32, base.rows())
	for q := range want {
		simd.DotBlock(queries.row(q), base, scores)
		c := topk.NewCollector(topk.Scan{K: k})
		for i, score := range scores {
			c.Offer(uint32(i), float64(score))
		}
		for _, match := range c.Matches() {
			want[q] = append(want[q], match.Ord)
		}
	}
	return want
}

// hnswlib runs the peer on the same vectors.
func hnswlib(ctx context.Context, root string, s set, queries matrix, want [][]uint32) (curve []point, build float64, err error) {
	python := filepath.Join(root, ".local", "venv", "dense", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return nil, 0, fmt.Errorf("hnswlib is not installed, run bench/peers/install dense: %w", err)
	}
	asked := filepath.Join(root, ".local", "bench", "dense", "asked.f32")
	var b bytes.Buffer
	if err := errors.Join(binary.Write(&b, binary.LittleEndian, []float32(queries)), os.WriteFile(asked, b.Bytes(), 0o600)); err != nil {
		return nil, 0, err
	}
	args := []string{filepath.Join(root, "bench", "peers", "dense_peer.py"), s.path(root), asked, strconv.Itoa(dim), strconv.Itoa(k), strconv.Itoa(m), strconv.Itoa(efConstruction)}
	for _, ef := range efs() {
		args = append(args, strconv.Itoa(ef))
	}
	out, err := exec.CommandContext(ctx, python, args...).Output()
	if err != nil {
		return nil, 0, fmt.Errorf("hnswlib: %w", err)
	}
	var answer struct {
		Build float64 `json:"build"`
		Curve []struct {
			Rounds []float64  `json:"rounds"`
			IDs    [][]uint32 `json:"ids"`
		} `json:"curve"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return nil, 0, fmt.Errorf("hnswlib: %w", err)
	}
	for _, c := range answer.Curve {
		var p point
		found := 0
		for q, ids := range c.IDs {
			for _, id := range ids {
				if slices.Contains(want[q], id) {
					found++
				}
			}
		}
		p.recall = float64(found) / float64(k*queries.rows())
		for _, seconds := range c.Rounds {
			p.seconds = append(p.seconds, seconds/float64(queries.rows()))
		}
		curve = append(curve, p)
	}
	return curve, answer.Build, nil
}
