package index

import (
	"fmt"
	"math"
	"strings"

	"github.com/braid-search/braid"
)

// UnitTolerance is how far from 1 the length of a dense vector may be.
const UnitTolerance = 1e-3

// Validate reports every rule the schema breaks.
func (s Schema) Validate() error {
	var faults []string
	for _, m := range []struct {
		part string
		ref  ModelRef
	}{{"dense", s.Dense}, {"sparse", s.Sparse}, {"pair", s.Pair}} {
		if (m.ref.Name == "") != (m.ref.Digest == "") {
			faults = append(faults, fmt.Sprintf("%s model has name %q and digest %q: give both or neither", m.part, m.ref.Name, m.ref.Digest))
		}
	}
	switch hasDense := s.Dense != (ModelRef{}); {
	case hasDense && (s.Dimensions < 1 || s.Dimensions > MaxDimensions):
		faults = append(faults, fmt.Sprintf("dimensions are %d, want 1 to %d", s.Dimensions, MaxDimensions))
	case !hasDense && s.Dimensions != 0:
		faults = append(faults, fmt.Sprintf("dimensions are %d without a dense model", s.Dimensions))
	}
	if p := s.Passages; p.Tokens < 0 || p.Overlap < 0 || p.Overlap > 0 && p.Overlap >= p.Tokens {
		faults = append(faults, fmt.Sprintf("passages have %d tokens of which %d overlap: want fewer that overlap", p.Tokens, p.Overlap))
	}
	if len(faults) > 0 {
		return braid.Errorf(braid.InvalidArgument, "collection schema: %s", strings.Join(faults, "; ")).In("schema")
	}
	return nil
}

// Validate reports why the query cannot be run, or nil.
func (q Query) Validate() error {
	if q.K < 1 {
		return braid.Errorf(braid.InvalidArgument, "query asks for %d hits, want 1 or more", q.K).In("k")
	}
	return nil
}

// ValidateDense reports why a collection of this schema cannot be searched for
// vector, or nil.
func (s Schema) ValidateDense(vector []float32) error {
	if s.Dense == (ModelRef{}) {
		return braid.Errorf(braid.InvalidArgument, "the collection has no dense branch: it was made without a dense model").In("mode")
	}
	return s.unitVector(vector)
}

// ValidateSparse reports why a collection of this schema cannot be searched for
// vector, or nil.
func (s Schema) ValidateSparse(vector braid.SparseVector) error {
	if s.Sparse == (ModelRef{}) {
		return braid.Errorf(braid.InvalidArgument, "the collection has no sparse branch: it was made without a sparse model").In("mode")
	}
	return vector.Validate()
}

func (s Schema) unitVector(v []float32) error {
	if err := braid.ValidateDense(v, s.Dimensions); err != nil {
		return err
	}
	var norm float64
	for _, x := range v {
		norm += float64(x) * float64(x)
	}
	if length := math.Sqrt(norm); math.Abs(length-1) > UnitTolerance {
		return braid.Errorf(braid.InvalidArgument, "dense vector has length %.6g, want 1: normalise it", length)
	}
	return nil
}

// Validate reports the first rule the batch breaks in a collection of schema s,
// naming the document.
func (b Batch) Validate(s Schema) error {
	if err := b.Within.Validate(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(b.Upserts)+len(b.Payloads)+len(b.Deletes))
	once := func(id string) error {
		if seen[id] {
			return braid.Errorf(braid.InvalidArgument, "document %q occurs twice in the batch: keep one", id).In("id")
		}
		seen[id] = true
		return nil
	}
	for _, e := range b.Upserts {
		if err := e.Document.Validate(); err != nil {
			return err
		}
		if err := once(e.Document.ID); err != nil {
			return err
		}
		if field, err := e.validatePassages(s); err != nil {
			return braid.Errorf(braid.CodeOf(err), "document %q: %w", e.Document.ID, err).In(field)
		}
	}
	for _, c := range b.Payloads {
		// The rest of the document is stored, and therefore valid.
		if err := (braid.Document{ID: c.ID, Text: "stored", Payload: c.Payload}).Validate(); err != nil {
			return err
		}
		if err := once(c.ID); err != nil {
			return err
		}
	}
	for _, id := range b.Deletes {
		if err := once(id); err != nil {
			return err
		}
	}
	return nil
}
