package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/embedded"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/models"
	"github.com/braid-search/braid/search"
)

// localConfig says how to run everything in this process.
type localConfig struct {
	data                    string
	models, library         string
	dense, sparse, reranker string
	device                  string
	threads                 int
}

// none switches a model off.
const none = "none"

func (c *localConfig) register(flags *pflag.FlagSet) {
	flags.StringVar(&c.data, "data", "braid-data", "folder that holds the collections; made if missing")
	flags.StringVar(&c.models, "models", "", "folder that holds the models (default: .local/models here or beside the binary)")
	flags.StringVar(&c.library, "onnxruntime", "", "libonnxruntime to load (default: in .local/lib here or beside the binary)")
	flags.StringVar(&c.dense, "dense", "bge-small-en-v1.5", "dense model, or none")
	flags.StringVar(&c.sparse, "sparse", "splade-tiny", "sparse model, or none")
	flags.StringVar(&c.reranker, "reranker", "ms-marco-minilm-l12-v2", "cross-encoder, or none")
	flags.StringVar(&c.device, "device", "auto", "where models run: auto, cpu or cuda")
	flags.IntVar(&c.threads, "threads", 0, "model runs at the same time (default: the number of cores)")
}

// local is a search service in this process with all it is made of.
type local struct {
	*search.Service
	engine  *embedded.Engine
	runtime *inference.Runtime
	loaded  map[string]httpapi.Model // by role
}

// openLocal opens the data folder, then loads and tests the models. The folder
// comes first: that it is in use by another process shows at once.
func openLocal(ctx context.Context, cfg localConfig, log *slog.Logger) (_ *local, err error) {
	l := &local{loaded: map[string]httpapi.Model{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.engine, err = embedded.Open(ctx, cfg.data, embedded.Options{Log: log}); err != nil {
		return nil, err
	}
	heads, err := l.load(cfg)
	if err != nil {
		return nil, err
	}
	if err := l.runtime.SelfTest(ctx); err != nil {
		return nil, err
	}
	l.Service = search.New(l.engine, heads, log)
	return l, nil
}

// load opens the runtime and the models that are not switched off.
func (l *local) load(cfg localConfig) (search.Models, error) {
	var heads search.Models
	library := cfg.library
	if library == "" {
		var err error
		if library, err = inference.FindLibrary(besideBinary("lib")...); err != nil {
			return heads, err
		}
	}
	runtime, err := inference.Open(inference.Options{Library: library, Device: cfg.device, Slots: cfg.threads})
	if err != nil {
		return heads, err
	}
	l.runtime = runtime

	if m, err := l.find(cfg, "dense", cfg.dense, models.Dense); err != nil {
		return heads, err
	} else if m != nil {
		if heads.Dense, err = runtime.NewDense(m); err != nil {
			return heads, err
		}
		heads.DenseRef, heads.Dimensions = ref(m), m.Manifest.Dimensions
	}
	if m, err := l.find(cfg, "sparse", cfg.sparse, models.Sparse); err != nil {
		return heads, err
	} else if m != nil {
		if heads.Sparse, err = runtime.NewSparse(m); err != nil {
			return heads, err
		}
		heads.SparseRef = ref(m)
	}
	if m, err := l.find(cfg, "reranker", cfg.reranker, models.CrossEncoder); err != nil {
		return heads, err
	} else if m != nil {
		if heads.Pair, err = runtime.NewPair(m); err != nil {
			return heads, err
		}
		heads.PairRef = ref(m)
	}
	return heads, nil
}

// find returns the verified model called name, or nil when it is switched off.
func (l *local) find(cfg localConfig, role, name string, kind models.Kind) (*models.Model, error) {
	if name == none {
		return nil, nil
	}
	m, err := models.Find(cfg.modelsFolder(), name)
	if err != nil {
		return nil, err
	}
	if m.Manifest.Kind != kind {
		return nil, braid.Errorf(braid.InvalidArgument, "--%s %s: that is a %s model, want a %s one", role, name, m.Manifest.Kind, kind)
	}
	l.loaded[role] = httpapi.Model{Name: m.Manifest.Name, Digest: m.Digest(), Licence: m.Manifest.Licence, Source: m.Manifest.Source.Model}
	return m, nil
}

func ref(m *models.Model) index.ModelRef {
	return index.ModelRef{Name: m.Manifest.Name, Digest: m.Digest()}
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

// parseLevel reads --log-level.
func parseLevel(name string) (slog.Level, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(name))); err != nil {
		return 0, braid.Errorf(braid.InvalidArgument, "--log-level %q: use debug, info, warn or error", name)
	}
	return level, nil
}
