package peer

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/modelset"
)

// Way is how the vectors of a query are made.
type Way string

const (
	DenseAlone  Way = "dense alone"
	SparseAlone Way = "sparse alone"
	Serial      Way = "dense, then sparse"
	AtOnce      Way = "dense and sparse at once" // as a search does
)

// generate makes the vectors of each text in every way, one right after the
// other; which way comes first moves on by one with each text, so that none
// always follows the same one. Results are the dense vectors. It fails when the
// vectors made at once are not those made one after the other.
func (o *Outcome) generate(ctx context.Context, set *modelset.Set, job Job) error {
	dense, err := set.FindDense("")
	if err != nil {
		return err
	}
	sparse, err := set.FindSparse("")
	if err != nil {
		return err
	}
	o.Ways = map[Way][]float64{}
	ways := []Way{DenseAlone, SparseAlone, Serial, AtOnce}
	pause := time.Duration(job.Pause * float64(time.Second))
	for i, text := range job.Texts {
		g := generation{request: inference.Request{Texts: []string{text}, Role: inference.RoleQuery, Lane: inference.LaneQuery}, dense: dense.Head, sparse: sparse.Head}
		made := map[Way]vectors{}
		for turn := range ways {
			way := ways[(i+turn)%len(ways)]
			time.Sleep(pause)
			begun := time.Now()
			made[way], err = g.run(ctx, way)
			o.Ways[way] = append(o.Ways[way], time.Since(begun).Seconds())
			if err != nil {
				return err
			}
		}
		if !made[Serial].equal(made[AtOnce]) {
			return braid.Errorf(braid.Internal, "text %d: its vectors made at once differ from those made one after the other", i)
		}
		o.Results = append(o.Results, made[Serial].dense.Vector)
		o.Tokens = append(o.Tokens, made[Serial].dense.Tokens)
	}
	return nil
}

// generation is one text and what makes its vectors.
type generation struct {
	request inference.Request
	dense   *inference.Dense
	sparse  *inference.Sparse
}

type vectors struct {
	dense  inference.Embedding
	sparse inference.Expansion
}

func (v vectors) equal(w vectors) bool {
	return slices.Equal(v.dense.Vector, w.dense.Vector) &&
		slices.Equal(v.sparse.Vector.Indices, w.sparse.Vector.Indices) && slices.Equal(v.sparse.Vector.Values, w.sparse.Vector.Values)
}

func (g generation) run(ctx context.Context, way Way) (v vectors, err error) {
	switch way {
	case DenseAlone:
		v.dense, err = g.embed(ctx)
	case SparseAlone:
		v.sparse, err = g.expand(ctx)
	case Serial:
		if v.dense, err = g.embed(ctx); err == nil {
			v.sparse, err = g.expand(ctx)
		}
	case AtOnce:
		var faults [2]error
		var wait sync.WaitGroup
		wait.Go(func() { v.dense, faults[0] = g.embed(ctx) })
		wait.Go(func() { v.sparse, faults[1] = g.expand(ctx) })
		wait.Wait()
		if err = faults[0]; err == nil {
			err = faults[1]
		}
	}
	return v, err
}

func (g generation) embed(ctx context.Context) (inference.Embedding, error) {
	out, _, err := g.dense.Embed(ctx, g.request)
	if err != nil {
		return inference.Embedding{}, err
	}
	return out[0], nil
}

func (g generation) expand(ctx context.Context) (inference.Expansion, error) {
	out, _, err := g.sparse.Expand(ctx, g.request)
	if err != nil {
		return inference.Expansion{}, err
	}
	return out[0], nil
}
