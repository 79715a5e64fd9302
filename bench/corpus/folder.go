package corpus

import (
	"context"
	"path/filepath"

	"github.com/braid-search/braid/inference"
)

const (
	sparseModel = "splade-tiny"
	denseModel  = "bge-small-en-v1.5"
)

// Folder says where things are.
type Folder struct {
	Root string // of the checkout
	Data string // folder of the test collections
	Log  func(format string, args ...any)
}

// Scratch is the folder for what a benchmark keeps.
func (f Folder) Scratch(benchmark string) string {
	return filepath.Join(f.Root, ".local", "bench", benchmark)
}

// Mixer reads the collections of the given names, and makes the sparse vectors
// that are not there yet.
func (f Folder) Mixer(ctx context.Context, names []string) (*Mixer, error) {
	library, err := inference.FindLibrary(filepath.Join(f.Root, ".local", "lib"))
	if err != nil {
		return nil, err
	}
	e := encoder{library: library, models: filepath.Join(f.Root, ".local", "models"), model: sparseModel, folder: f.Scratch("retrieval"), log: f.Log}
	var sets []*Set
	for _, name := range names {
		s, err := e.read(ctx, filepath.Join(f.Data, name))
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return NewMixer(sets), nil
}
