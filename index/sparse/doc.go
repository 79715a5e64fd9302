// Package sparse ranks documents by the inner product of sparse vectors, such
// as SPLADE makes: Postings keeps, for each vocabulary index, the ordinals
// whose vector has it and the weight it has there.
//
// Scoring is term at a time and exact: no weight is quantised and no posting
// skipped. One float64 a document accumulates the products in ascending order
// of the vocabulary index. A product of two float32 is exact in float64 and can
// neither overflow nor vanish there, so that equal vectors score bit-equal and
// a document shares an index with the query exactly when its sum is above zero.
//
// The package does not check vectors (see braid.SparseVector.Validate), prunes
// nothing and knows no document ids.
package sparse
