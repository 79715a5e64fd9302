// Coderhnsw is github.com/coder/hnsw behind the measurements of bench/dense:
//
//	coderhnsw VECTORS QUERIES DIM K M EF_CONSTRUCTION THREADS
//
// It speaks as dense_peer.py does. The library has no such thing as
// EF_CONSTRUCTION. It returns what it is asked for in no order, and finds more
// the more it is asked for, while its EfSearch changes nothing of k = 10; so it
// is asked for ef, and the best K are kept.
//
// It is a module of its own so that braid does not depend on its peer.
package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/coder/hnsw"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "coderhnsw:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 7 {
		return errors.New("want VECTORS QUERIES DIM K M EF_CONSTRUCTION THREADS")
	}
	var numbers [5]int
	for i := range numbers {
		n, err := strconv.Atoi(args[2+i])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number from 1 on", args[2+i])
		}
		numbers[i] = n
	}
	dim, k, m := numbers[0], numbers[1], numbers[2]
	base, err := read(args[0], dim)
	if err != nil {
		return err
	}
	queries, err := read(args[1], dim)
	if err != nil {
		return err
	}
	before, begun := heap(), time.Now()
	graph := hnsw.NewGraph[uint32]()
	graph.M, graph.Distance = m, hnsw.CosineDistance
	for i, vector := range base {
		graph.Add(hnsw.MakeNode(uint32(i), slices.Clone(vector)))
	}
	took := time.Since(begun).Seconds()
	grown := heap() - before
	runtime.KeepAlive(base) // or it would be gone from the heap
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]any{"seconds": took, "bytes": grown}); err != nil {
		return err
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var job struct{ Ef int }
		if err := json.Unmarshal(in.Bytes(), &job); err != nil {
			return err
		}
		var seconds []float64
		var ids [][]uint32
		for _, query := range queries {
			begun := time.Now()
			found := best(graph.Search(query, max(k, job.Ef)), query, k)
			seconds = append(seconds, time.Since(begun).Seconds())
			ids = append(ids, found)
		}
		if err := out.Encode(map[string]any{"seconds": seconds, "ids": ids}); err != nil {
			return err
		}
	}
	return nil
}

// best returns the k of nodes that are nearest to query.
func best(nodes []hnsw.Node[uint32], query []float32, k int) []uint32 {
	type scored struct {
		key      uint32
		distance float32
	}
	all := make([]scored, len(nodes))
	for i, n := range nodes {
		all[i] = scored{n.Key, hnsw.CosineDistance(query, n.Value)}
	}
	slices.SortFunc(all, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	keys := []uint32{}
	for _, s := range all[:min(k, len(all))] {
		keys = append(keys, s.key)
	}
	return keys
}

// read reads vectors of dim little-endian numbers each.
func read(path string, dim int) ([][]float32, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data)%(4*dim) != 0 {
		return nil, fmt.Errorf("%s: %d bytes are not vectors of %d numbers", path, len(data), dim)
	}
	var vectors [][]float32
	for row := range slices.Chunk(data, 4*dim) {
		vector := make([]float32, dim)
		for i := range vector {
			vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}

// heap is what live objects take.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what a pool let go of
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
