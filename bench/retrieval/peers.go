package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// peers are who the lexical index is measured against.
func peers() []string { return []string{"bm25s", "tantivy"} }

// script runs all of them.
const script = "retrieval_peer.py"

func (b *bench) python() string {
	return filepath.Join(b.root, ".local", "venv", "retrieval", "bin", "python")
}

// peersInstalled says why there are no peers, or "".
func (b *bench) peersInstalled() string {
	if _, err := os.Stat(b.python()); err != nil {
		return "bm25s and tantivy are not installed, run bench/peers/install retrieval"
	}
	return ""
}

func (b *bench) peer(ctx context.Context, args ...string) *exec.Cmd {
	// One core for everybody.
	command := []string{"NUMBA_NUM_THREADS=1", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", b.python(), filepath.Join(b.root, "bench", "peers", script)}
	cmd := exec.CommandContext(ctx, "env", append(command, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// preparePeers makes what the peers make themselves.
func (b *bench) preparePeers(ctx context.Context, n int) error {
	if _, err := os.Stat(filepath.Join(b.folder(n), "tantivy")); err == nil || b.peersInstalled() != "" {
		return nil
	}
	b.log("%d passages: making tantivy's index", n)
	if err := b.peer(ctx, "build", "tantivy", b.folder(n)).Run(); err != nil {
		return fmt.Errorf("tantivy builds its index: %w", err)
	}
	return nil
}

// child is a peer that runs and has loaded its index. One job at a time.
type child struct {
	name     string
	cmd      *exec.Cmd
	jobs     *json.Encoder
	outcomes *json.Decoder
	end      func() error // closes its input
}

// job is what a peer is asked: the terms of each query.
type job struct {
	Queries [][]string `json:"queries"`
	K       int        `json:"k"`
}

// outcome is its answer: the time each query took, and the numbers of the
// passages it found.
type outcome struct {
	Seconds []float64 `json:"seconds"`
	Results [][]int   `json:"results"`
}

func (b *bench) start(ctx context.Context, name string, n int) (*child, error) {
	cmd := b.peer(ctx, "serve", name, b.folder(n))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{name, cmd, json.NewEncoder(in), json.NewDecoder(out), in.Close}, nil
}

func (c *child) do(j job) (outcome, error) {
	var o outcome
	err := c.jobs.Encode(j)
	if err == nil {
		err = c.outcomes.Decode(&o)
	}
	if err != nil {
		return o, fmt.Errorf("ask %s: %w", c.name, err)
	}
	return o, nil
}

func (c *child) close() error { return errors.Join(c.end(), c.cmd.Wait()) }
