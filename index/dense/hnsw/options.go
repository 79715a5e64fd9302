package hnsw

import (
	"errors"
	"fmt"

	"github.com/braid-search/braid"
)

// Options shape a graph. The zero value has the defaults.
type Options struct {
	// M is how many neighbours a node chooses in each layer, 2 to 64; by default
	// 16. A node keeps up to M links in an upper layer and 2M at the bottom.
	M int
	// EfConstruction is how many candidates a node's neighbours are chosen from,
	// M to 4096; by default 200.
	EfConstruction int
	// Seed and a node's ordinal decide how many layers the node is in.
	Seed uint64
}

const (
	defaultM              = 16
	defaultEfConstruction = 200
	maxM                  = 64
	maxEfConstruction     = 4096
)

func (o Options) withDefaults() Options {
	if o.M == 0 {
		o.M = defaultM
	}
	if o.EfConstruction == 0 {
		o.EfConstruction = defaultEfConstruction
	}
	return o
}

// Validate reports every field that is not usable, as braid.InvalidArgument.
func (o Options) Validate() error {
	var faults []error
	set := o.withDefaults()
	if set.M < 2 || set.M > maxM {
		faults = append(faults, fmt.Errorf("option M is %d, want 2 to %d", o.M, maxM))
	}
	if set.EfConstruction < set.M || set.EfConstruction > maxEfConstruction {
		faults = append(faults, fmt.Errorf("option EfConstruction is %d, want M, which is %d, to %d", o.EfConstruction, set.M, maxEfConstruction))
	}
	if len(faults) > 0 {
		return braid.Errorf(braid.InvalidArgument, "options of the graph: %w", errors.Join(faults...))
	}
	return nil
}
