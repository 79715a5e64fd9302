// Package sparse ranks documents by the inner product of sparse vectors, such
// as SPLADE makes. Package postings does the searching; this one says how a weight
// is bounded by a byte.
//
// Scores are exact: the products are summed up as float64 in ascending order of
// the vocabulary index, from the very weights that were added. A product of two
// float32 is exact in float64 and can neither overflow nor vanish there, so that
// equal vectors score bit-equal and a document shares an index with the query
// exactly when its sum is above zero.
//
// The package does not check vectors (see braid.SparseVector.Validate), prunes
// nothing and knows no document ids.
package sparse
