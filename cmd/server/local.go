package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
	"github.com/braid-search/braid/search"
)

// localConfig says how to run everything in this process.
type localConfig struct {
	data                    string
	models, library         string
	dense, sparse, reranker []string
	device                  string
	threads                 int
	arena                   string
	graphFrom               int
	observer                inference.Observer // of the runtime, or nil; no flag
}

// none switches a model off.
const none = "none"

func (c *localConfig) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.data, "data", "braid-data", "folder that holds the collections; made if missing")
	c.registerModels(flags)
	flags.IntVar(&c.graphFrom, "graph-from", dense.DefaultGraphFrom, "passages from which dense search uses a graph, which finds nearly all of the best instead of all; -1 is never")
	flags.IntVar(&c.threads, "threads", 0, "model runs at the same time (default: the number of cores)")
}

// registerModels adds the flags that say which models run, and on what.
func (c *localConfig) registerModels(flags *pflag.FlagSet) {
	flags.StringVar(&c.models, "models", "", "folder that holds the models (default: .local/models here or beside the binary)")
	flags.StringVar(&c.library, "onnxruntime", "", "libonnxruntime to load (default: in .local/lib here or beside the binary)")
	flags.StringSliceVar(&c.dense, "dense", []string{"bge-small-en-v1.5"}, "dense models, or none; collections use the first")
	flags.StringSliceVar(&c.sparse, "sparse", []string{"splade-tiny"}, "sparse models, or none; collections use the first")
	flags.StringSliceVar(&c.reranker, "reranker", []string{"ms-marco-minilm-l12-v2"}, "cross-encoders, or none; search uses the first")
	flags.StringVar(&c.device, "device", "auto", "where models run: cpu, cuda or cuda:N, which fail where it cannot be used, or auto, which then takes the CPU")
	flags.StringVar(&c.arena, "arena", string(inference.ArenaShared), "memory kept between runs on the CPU: shared (by all models), model (each its own) or off")
}

// local is a search service in this process with all it is made of.
type local struct {
	*search.Service
	engine  *embedded.Engine
	runtime *inference.Runtime
	set     *modelset.Set
}

// openLocal opens the data folder, then loads and tests the models. The folder
// comes first: that it is in use by another process shows at once.
func openLocal(ctx context.Context, cfg localConfig, log *slog.Logger, stderr io.Writer) (_ *local, err error) {
	l := &local{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.engine, err = openEngine(ctx, cfg, log, stderr); err != nil {
		return nil, err
	}
	if err := l.load(cfg); err != nil {
		return nil, err
	}
	logFallbacks(log, l.runtime.Info())
	if err := l.runtime.SelfTest(ctx); err != nil {
		return nil, err
	}
	l.Service = search.New(l.engine, l.set.Search(), log)
	return l, nil
}

// openEngine opens the data folder; a long opening shows how far it is.
func openEngine(ctx context.Context, cfg localConfig, log *slog.Logger, stderr io.Writer) (*embedded.Engine, error) {
	var bar *progress
	var collection string
	var done int
	engine, err := embedded.Open(ctx, cfg.data, embedded.Options{Log: log, GraphFrom: cfg.graphFrom, Progress: func(p embedded.Progress) {
		if bar == nil || p.Collection != collection {
			bar.finish()
			bar, collection, done = newProgress(stderr, "opening "+p.Collection, p.Total), p.Collection, 0
		}
		bar.add(p.Done - done)
		done = p.Done
	}})
	bar.finish()
	if braid.CodeOf(err) == braid.Conflict {
		return nil, fmt.Errorf("%w; a running server is reached with --server URL", err)
	}
	return engine, err
}

// lostCommits is how many acknowledged writes the data folder had lost.
func (l *local) lostCommits() uint64 {
	if loss := l.engine.Loss(); loss != nil {
		return loss.Commits
	}
	return 0
}

// load opens the runtime and the models that are not switched off.
func (l *local) load(cfg localConfig) error {
	library := cfg.library
	if library == "" {
		var err error
		if library, err = inference.FindLibrary(besideBinary("lib")...); err != nil {
			return err
		}
	}
	arena, err := inference.ParseArena(cfg.arena)
	if err != nil {
		return err
	}
	runtime, err := inference.Open(inference.Options{Library: library, Device: cfg.device, Slots: cfg.threads, Arena: arena, Observer: cfg.observer})
	if err != nil {
		return err
	}
	l.runtime = runtime

	set, err := modelset.Load(runtime, cfg.modelsFolder(), modelset.Names{Dense: enabled(cfg.dense), Sparse: enabled(cfg.sparse), Pair: enabled(cfg.reranker)})
	if err != nil {
		return err
	}
	l.set = set
	return nil
}

// enabled returns the names without "none".
func enabled(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == none })
}

// Close releases everything; models and folder are free afterwards.
func (l *local) Close() error {
	var errs []error
	if l.runtime != nil {
		errs = append(errs, l.runtime.Close())
	}
	if l.engine != nil {
		errs = append(errs, l.engine.Close())
	}
	return errors.Join(errs...)
}

// modelsFolder is the folder asked for, or the first default that exists.
func (c localConfig) modelsFolder() string {
	if c.models != "" {
		return c.models
	}
	candidates := besideBinary("models")
	for _, dir := range candidates {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return candidates[0]
}

// besideBinary lists the places where set-up or an installation puts things:
// .local here, .local beside bin/, and share/braid of an installation prefix.
func besideBinary(what string) []string {
	dirs := []string{filepath.Join(".local", what)}
	exe, err := os.Executable()
	if err != nil {
		return dirs
	}
	if resolved, err := filepath.EvalSymlinks(exe); err == nil {
		exe = resolved
	}
	prefix := filepath.Dir(filepath.Dir(exe))
	return append(dirs, filepath.Join(prefix, ".local", what), filepath.Join(prefix, "share", "braid", what))
}

// newLogger returns what --log-level and --log-format ask for, writing to w.
func newLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	least, err := parseLevel(level)
	if err != nil {
		return nil, err
	}
	opts := &slog.HandlerOptions{Level: least}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, braid.Errorf(braid.InvalidArgument, "--log-format %q: use text or json", format)
}

// parseLevel reads --log-level.
func parseLevel(name string) (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(name))); err != nil {
		return 0, braid.Errorf(braid.InvalidArgument, "--log-level %q: use debug, info, warn or error", name)
	}
	return level, nil
}
