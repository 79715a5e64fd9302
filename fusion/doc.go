// Package fusion merges the rankings of several branches into one.
//
// It holds pure functions: no state, no I/O, the same input always gives the
// same bits. Three methods are offered, all sums over the rankings b that
// hold document d, with weight w_b:
//
//   - [RRF]: Σ w_b / (k + rank_b(d)). It looks at ranks only.
//   - [MinMax]: Σ w_b · (s − min) / (max − min).
//   - [DBSF]: Σ w_b · (s − (μ − 3σ)) / 6σ, held to 0..1.
//
// where s is the document's score in the branch and min, max, μ and σ are
// taken over the hits of that ranking. There is a ranking for each branch and, where
// a query is asked in several wordings, for each of them: scores of two wordings are
// scaled apart, since a sum over words grows with their number.
//
// Invariants:
//   - The result is sorted as braid.Hit.Before says: ties come by id.
//   - A document's score depends on neither the order in which the rankings
//     are given nor on rankings that are empty or have weight 0.
//   - The votes of a result explain its score exactly; see [Result].
//   - A branch that did not find a document has no vote for it: no rank, and
//     nothing is assumed in its place.
//
// The package does not retrieve, does not rerank and does not deduplicate: a
// passage is its document's id and its number.
package fusion
