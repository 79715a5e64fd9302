package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/braid-search/braid"
)

// stack is libraries put together to what braid is alone, behind a server: see
// peers/stack.py.
type stack struct {
	name        string
	environment string // of Python
	script      string
}

// allStacks are those there are.
func allStacks() []stack {
	return []stack{
		{"onnxruntime + qdrant-edge", "qdrant", "stack_onnxruntime.py"},
		{"fastembed + qdrant-edge", "qdrant", "stack_fastembed.py"},
		{"vectrixdb", "vectrixdb", "stack_vectrixdb.py"},
	}
}

// stacks are those to measure that are installed.
func (r *run) stacks() []stack {
	var list []stack
	for _, st := range allStacks() {
		if !st.wanted(r.cfg) {
			r.leaveOut(st.name + ": not asked for")
			continue
		}
		if _, err := os.Stat(r.cfg.python(st.environment)); err != nil {
			r.leaveOut(fmt.Sprintf("%s: not installed, run bench/peers/install qdrant vectrixdb", st.name))
			continue
		}
		list = append(list, st)
	}
	return list
}

// eachStack does something with every stack. One that fails does not keep the
// next from its turn.
func (r *run) eachStack(ctx context.Context, do func(stack) error) error {
	var failed []error
	for _, st := range r.stacks() {
		if err := do(st); err != nil {
			r.leaveOut(st.name + ": " + r.part + " failed or was stopped")
			failed = append(failed, fmt.Errorf("%s: %w", st.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

func (st stack) wanted(cfg Config) bool {
	return len(cfg.Stacks) == 0 || slices.Contains(cfg.Stacks, st.name)
}

// startStack starts a stack with all of c stored.
func (r *run) startStack(ctx context.Context, c *corpus, st stack) (*server, error) {
	folder := r.cfg.scratch(filepath.Join("stacks", r.kept(c.name)))
	if err := c.write(folder); err != nil {
		return nil, err
	}
	r.say("%s: storing what is not there from an earlier run", st.name)
	// Vectors of documents are made once, by the first stack, for all of them.
	for _, s := range []stack{allStacks()[0], st} {
		if err := s.prepare(ctx, r.cfg, folder); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	s, err := st.serve(ctx, r.cfg, folder)
	if err != nil {
		return nil, err
	}
	return s, r.firstAnswer(ctx, s, c, begun, asksStack(c.queries[0].Text, true))
}

func (st stack) prepare(ctx context.Context, cfg Config, folder string) error {
	cmd := exec.CommandContext(ctx, cfg.python(st.environment), cfg.script(st.script), "prepare", cfg.modelsFolder(), folder)
	if out, err := cmd.CombinedOutput(); err != nil {
		return braid.Errorf(braid.Unavailable, "prepare %s: %w: it said %q", st.name, err, tail(string(out)))
	}
	return nil
}

// serve starts the server over what is in folder, which may be nothing.
func (st stack) serve(ctx context.Context, cfg Config, folder string) (*server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, cfg.python(st.environment), cfg.script(st.script), "serve", cfg.modelsFolder(), folder, port)
	return await(ctx, cfg, st.name, cmd, port)
}

func tail(said string) string {
	return said[max(0, len(said)-logTail):]
}
