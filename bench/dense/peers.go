package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/braid-search/braid/bench/corpus"
)

// ourName is the name of braid's contender.
const ourName = "braid"

// graphPeers and exactPeers are the names of peers in the order of the report.
func graphPeers() []string { return []string{"hnswlib", "usearch", "faiss", "coder/hnsw"} }
func exactPeers() []string { return []string{"numpy", "faiss-flat"} }

// peer is a contender in a process of its own. It reads a line {"ef": int} for
// each run of all queries and answers with a line found; before the first, it
// tells what it made.
type peer struct {
	is      string
	cost    made
	cancel  context.CancelFunc
	command *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
}

// missing says why the peer called name cannot run, "" if it can.
func (b *bench) missing(name string) string {
	if name == "coder/hnsw" {
		if _, err := os.Stat(b.coder()); err != nil {
			return "coder/hnsw is not built: bench/peers/install dense"
		}
		return ""
	}
	if _, err := os.Stat(b.python()); err != nil {
		return name + " is not installed: bench/peers/install dense"
	}
	return ""
}

func (b *bench) python() string {
	return filepath.Join(b.folders.Root, ".local", "venv", "dense", "bin", "python")
}

func (b *bench) coder() string { return filepath.Join(b.folders.Root, ".local", "bin", "coderhnsw") }

// start starts the peer called name on vectors and waits until it has indexed
// them, with threads of them.
func (b *bench) start(ctx context.Context, name string, vectors, queries corpus.Matrix, threads int) (*peer, error) {
	folder := b.folders.Scratch("dense")
	base, asked := filepath.Join(folder, "base.f32"), filepath.Join(folder, "asked.f32")
	if err := errors.Join(write(base, vectors), write(asked, queries)); err != nil {
		return nil, err
	}
	args := []string{base, asked, strconv.Itoa(corpus.Dim), strconv.Itoa(k), strconv.Itoa(m), strconv.Itoa(efConstruction), strconv.Itoa(threads)}
	program := b.coder()
	if name != "coder/hnsw" {
		program = b.python()
		args = append([]string{filepath.Join(b.folders.Root, "bench", "peers", "dense_peer.py"), name}, args...)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &peer{is: name, cancel: cancel, command: exec.CommandContext(ctx, program, args...)}
	threadCount := strconv.Itoa(threads)
	p.command.Env = append(p.command.Environ(), "OMP_NUM_THREADS="+threadCount, "OPENBLAS_NUM_THREADS="+threadCount, "GOMAXPROCS="+threadCount)
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err == nil {
		var out io.ReadCloser
		if out, err = p.command.StdoutPipe(); err == nil {
			p.out = json.NewDecoder(bufio.NewReaderSize(out, 1<<16))
			err = p.command.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	if err := p.out.Decode(&p.cost); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), p.close())
	}
	return p, nil
}

func (p *peer) name() string { return p.is }
func (p *peer) made() made   { return p.cost }

func (p *peer) search(_ context.Context, ef int) (f found, err error) {
	if _, err = fmt.Fprintf(p.in, "{\"ef\": %d}\n", ef); err == nil {
		err = p.out.Decode(&f)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", p.is, err)
	}
	return f, err
}

func (p *peer) close() error {
	defer p.cancel()
	err := errors.Join(p.in.Close(), p.command.Wait())
	if err != nil {
		return fmt.Errorf("end %s: %w", p.is, err)
	}
	return nil
}

// write writes vectors as little-endian numbers.
func write(path string, vectors corpus.Matrix) error {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, []float32(vectors)); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o600)
}
