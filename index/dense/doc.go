// Package dense finds nearest neighbours among dense vectors.
//
// Index is what a collection uses: an Exact while there are few vectors, from
// Options.GraphFrom on a graph (index/dense/hnsw).
//
// Exact compares the query with every vector: its answer is the truth that any
// faster index is measured against, and up to some ten thousand vectors it is
// also fast enough. It compares int8 codes first (index/dense/quant) and then
// exactly what they leave among the best, so its answer is that of comparing all
// exactly. Vectors are rows of a matrix kept in blocks, so that
// growing never copies what is there; the row is the vector's ordinal.
//
// Invariants:
//   - The score is the float32 inner product of the stored vector and the
//     query, the same for equal vectors wherever they lie, so that ties are
//     ties.
//   - A scan uses at most as many goroutines as there are processors and waits
//     for them, also when its context ends.
//
// The package does not normalise or check vectors and knows no document ids.
package dense
