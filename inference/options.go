package inference

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/braid-search/braid"
)

// Options configures a Runtime. The zero value, with Library set, works.
type Options struct {
	// Library is the path of libonnxruntime; see FindLibrary.
	Library string
	// Device is "cpu" (also ""), "cuda" for the first GPU, "cuda:N" for GPU N, or
	// "auto". With cuda, Open and the opening of a model fail unless it runs
	// there. With auto a model runs on the first GPU if it can, else on the CPU;
	// Info says which it is, and why.
	Device string
	// Slots is the number of model runs at once, each on one thread; 0 is the
	// number of cores this process may use. A GPU runs one a model at a time,
	// whatever their number.
	Slots int
	// QueueTokens is how many tokens may wait in the query lane before calls are
	// refused; 0 is defaultQueueTokens a slot.
	QueueTokens int
	// BulkTokens is how many tokens of lists and ingestion may wait before calls
	// in LaneBulk are refused; 0 is defaultBulkTokens a slot.
	BulkTokens int
	// BatchTokens bounds the texts of equal length that one run of a dense model
	// or a cross-encoder takes together, or on a GPU the texts of any lengths,
	// padding included; 0 is defaultBatchTokens, and cudaBatchTokens on a GPU.
	// Models quantised dynamically always run one text at a time.
	BatchTokens int
	// SparseBatchTokens is the same for sparse models, whose runs hold logits of
	// tokens times part of the vocabulary; 0 is defaultBatchTokens, and
	// cudaSparseBatchTokens on a GPU.
	SparseBatchTokens int
	// Arena says where models keep the memory of their runs on the CPU; "" is
	// ArenaShared.
	Arena Arena
	// Observer hears of every call and run; nil means nobody does.
	Observer Observer

	// exactInt8 is for comparing with goldens across CPUs: int8 products as
	// CPUs with VNNI compute them, where others saturate. Not the default: it
	// differs from what the reference computes on such a CPU, and is slower.
	exactInt8 bool
}

const (
	// defaultQueueTokens is twelve seconds of a slot's work with a 12-layer MiniLM
	// on an AVX2 core (2,600 tokens a second) and four on one with VNNI (9,000):
	// who would wait longer is better told at once. On two slots it is the rerank
	// of 20 passages of 160 tokens for 20 people at once.
	defaultQueueTokens = 32 << 10
	// defaultBulkTokens is about a minute of a slot's work: nobody waits for it at
	// a screen.
	defaultBulkTokens  = 256 << 10
	defaultBatchTokens = 512

	// A GPU is filled by large batches, not by runs side by side. The budgets
	// bound its memory: 16,384 tokens are 32 texts of 512, whose attention takes
	// 400 MB in a model of 12 heads; 4,096 tokens have 500 MB of SPLADE logits.
	// They are reckoned, not measured.
	cudaBatchTokens       = 16 << 10
	cudaSparseBatchTokens = 4 << 10
	// cudaSlots lets a model of each kind run and one batch be got ready.
	cudaSlots = 4
)

// Validate reports every option that is not usable.
func (o Options) Validate() error {
	var faults []error
	for _, option := range []struct {
		name  string
		value int
	}{{"slots", o.Slots}, {"queue tokens", o.QueueTokens}, {"bulk tokens", o.BulkTokens}, {"batch tokens", o.BatchTokens}, {"sparse batch tokens", o.SparseBatchTokens}} {
		if option.value < 0 {
			faults = append(faults, fmt.Errorf("%s is %d, want 0 (the default) or more", option.name, option.value))
		}
	}
	if o.Library == "" {
		faults = append(faults, errors.New("library is empty, want the path of libonnxruntime: see FindLibrary"))
	}
	if _, err := parseDevice(o.Device); err != nil {
		faults = append(faults, err)
	}
	if _, err := ParseArena(string(o.Arena)); err != nil {
		faults = append(faults, err)
	}
	if len(faults) > 0 {
		return braid.Errorf(braid.InvalidArgument, "inference options: %w", errors.Join(faults...))
	}
	return nil
}

// withDefaults returns valid options with every zero value replaced, but for
// the budgets of batches, which go by what a model runs on.
func (o Options) withDefaults(d device) Options {
	if o.Slots == 0 {
		o.Slots = runtime.GOMAXPROCS(0)
		if d.cuda {
			o.Slots = max(o.Slots, cudaSlots)
		}
	}
	if o.Arena == "" {
		o.Arena = ArenaShared
	}
	if o.QueueTokens == 0 {
		o.QueueTokens = defaultQueueTokens * o.Slots
	}
	if o.BulkTokens == 0 {
		o.BulkTokens = defaultBulkTokens * o.Slots
	}
	return o
}

// libraryName is what set-up links to the versioned library.
func libraryName() string {
	if runtime.GOOS == "darwin" {
		return "libonnxruntime.dylib"
	}
	return "libonnxruntime.so"
}

// FindLibrary returns the path of libonnxruntime in the first of dirs that has
// it, or braid.NotFound.
func FindLibrary(dirs ...string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, libraryName())
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", braid.Errorf(braid.NotFound, "%s is in none of %q: run `make setup`, which puts it into .local/lib, or name the folder that has it", libraryName(), dirs)
}
