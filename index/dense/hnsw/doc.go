// Package hnsw finds near neighbours among many dense vectors: a hierarchical
// navigable small world graph (Malkov and Yashunin 2016) in flat memory.
//
// A node is a vector, its number the ordinal. Each layer is a graph with links
// from a node to near ones in different directions; the bottom has all nodes, a
// layer above one in M of those below. A search walks from the top down and, at
// the bottom, from the best candidate to its neighbours until nothing better
// comes. Walks compare vectors quantised to int8; what they find is compared
// again exactly, so scores are true and only the choice is approximate.
//
// Where the graph has nothing to win, because few vectors may be returned or
// because those that may lie far from the query, a search scans instead and is
// exact: codes first, and then exactly what the bound of their error leaves among
// the best (index/dense/quant). It decides by itself, at every so many steps of the
// walk anew.
//
// Beyond the paper:
//   - Equal vectors share one node; the others hang from it as twins. A search
//     returns the first of them in the order of ties, however many there are,
//     and copies of one text do not tear the graph apart.
//   - The last link to a node at the bottom is never given up, so that what is
//     stored can be found.
//   - Removing is a mark; Vacuum mends the links around what was removed.
//
// Invariants:
//   - Matches are live, allowed, and as many as were asked for or there are;
//     their scores are inner products in float32, the same as package dense has.
//   - Without concurrency, the same calls make the same graph.
//   - Searches take no lock. Any number of goroutines may call any method.
//
// Memory is, for a vector of d components, 5d bytes and 8M + 18 for links and
// the rest, in segments of about 1 MiB. The row of a removed vector stays: who
// has removed more than is left builds a new graph.
//
// The package does not normalise vectors; that of inner products with vectors
// of different lengths is another problem.
package hnsw
