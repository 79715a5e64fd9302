// Package simd computes inner products of float32 and int8 vectors, one pair at
// a time or one query against many rows of a matrix.
//
// On amd64 the kernels are hand-written for AVX-512 (with VNNI for int8) and
// for AVX2 with FMA; the processor decides once, at start, which are used.
// Everything else, arm64 too, runs portable Go.
//
// Invariants:
//   - On one machine a pair of vectors has one product, to the bit, whichever
//     function computes it and wherever the vectors lie. Equal vectors tie.
//   - int8 products are exact. Those of float32 differ from machine to machine
//     in the order of summation, and so in the last bits.
//   - Nothing is read outside the given slices; nothing is allocated.
//
// The functions compute what they are given: NaN and infinities pass through,
// and slices that are too short for the query are a fault of the caller, which
// panics like an index out of range.
package simd
