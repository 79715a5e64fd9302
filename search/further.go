package search

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Further are models beside the default ones. New collections are not made for them;
// those that were made with one are searched and written with it.
type Further struct {
	Dense  []FurtherDense
	Sparse []FurtherSparse
}

// FurtherDense is a dense model that is not the default.
type FurtherDense struct {
	Model      DenseEncoder
	Ref        index.ModelRef
	Dimensions int
}

// FurtherSparse is a sparse model that is not the default.
type FurtherSparse struct {
	Model            SparseEncoder
	Ref              index.ModelRef
	SharedVocabulary bool // with Models.Pair
}

// using returns the service with the models that c was made with where they are
// loaded; for the others what needs them says so.
func (s *Service) using(c index.Collection) *Service {
	further := s.models.Further
	if len(further.Dense)+len(further.Sparse) == 0 {
		return s
	}
	schema, with := c.Info().Schema, *s
	if i := slices.IndexFunc(further.Dense, func(m FurtherDense) bool { return m.Ref == schema.Dense }); i >= 0 {
		m := further.Dense[i]
		with.models.Dense, with.models.DenseRef, with.models.Dimensions = m.Model, m.Ref, m.Dimensions
	}
	if i := slices.IndexFunc(further.Sparse, func(m FurtherSparse) bool { return m.Ref == schema.Sparse }); i >= 0 {
		m := further.Sparse[i]
		with.models.Sparse, with.models.SparseRef, with.models.SharedVocabulary = m.Model, m.Ref, m.SharedVocabulary
	}
	return &with
}

// moved returns the collection called name when err is that c has been reindexed
// since it was opened, else nil.
func (s *Service) moved(ctx context.Context, name string, c index.Collection, err error) index.Collection {
	if braid.CodeOf(err) != braid.Unavailable {
		return nil
	}
	now, err := s.openToWrite(ctx, name)
	if err != nil || now.Info().Schema == c.Info().Schema {
		return nil
	}
	return now
}
