// Package rerank is the second stage of a search: it puts the first candidates
// of a ranking in the order a cross-encoder gives them.
//
// It takes the first Depth candidates, has each scored against the query by a
// [Scorer], and sorts them by descending logit. The others follow in the order
// they came in.
//
// Invariants:
//   - Every candidate that went in comes out once.
//   - The order is that of the logits. The probability is one sigmoid of the
//     logit, for people; far from 0 different logits have equal probabilities,
//     so nothing is ordered by it.
//   - Equal logits come by id.
//   - On an error there is no result: the caller still has the ranking it
//     passed, and that is the degraded answer.
//
// The package runs no model, fetches no passages and starts no goroutines.
package rerank
