package braid

import "math"

// SparseVector is a vector over a vocabulary in which most weights are zero.
// Indices are strictly ascending; Values[i] belongs to Indices[i], is finite
// and positive. Both slices have equal length; the empty vector is valid.
type SparseVector struct {
	Indices []uint32  `json:"indices"`
	Values  []float32 `json:"values"`
}

// Validate reports the first rule the vector breaks.
func (v SparseVector) Validate() error {
	if len(v.Indices) != len(v.Values) {
		return Errorf(InvalidArgument, "sparse vector has %d indices and %d values", len(v.Indices), len(v.Values))
	}
	for i, value := range v.Values {
		if i > 0 && v.Indices[i] <= v.Indices[i-1] {
			return Errorf(InvalidArgument, "sparse vector: index %d at position %d does not ascend", v.Indices[i], i)
		}
		if f := float64(value); !(f > 0) || math.IsInf(f, 0) {
			return Errorf(InvalidArgument, "sparse vector: value %v at position %d is not a positive finite number", value, i)
		}
	}
	return nil
}

// ValidateDense reports why v is not a vector of dim finite components with a
// length above zero.
func ValidateDense(v []float32, dim int) error {
	if len(v) != dim {
		return Errorf(InvalidArgument, "dense vector has %d dimensions, want %d", len(v), dim)
	}
	var norm float64
	for i, x := range v {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return Errorf(InvalidArgument, "dense vector: component %d is %v: non-finite", i, x)
		}
		norm += f * f
	}
	if norm == 0 {
		return Errorf(InvalidArgument, "dense vector is all zeros: it has no direction")
	}
	return nil
}
