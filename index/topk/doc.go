// Package topk selects the best matches of one retrieval. Every branch of the
// embedded engine collects through it, so that the order of a ranking, and with
// it which of several equal scores is cut off at position K, is decided in one
// place.
//
// It speaks of ordinals, the small numbers an engine gives its documents in
// memory, and knows nothing of what they stand for: the caller says which
// ordinals may be returned and which of two comes first in a tie.
//
// Invariants:
//   - The matches are exactly the first K of all offered ones in the order of
//     descending score, then Scan.Before; the order of offering has no effect.
//   - Memory is bounded by the number of matches kept, not by K.
package topk
