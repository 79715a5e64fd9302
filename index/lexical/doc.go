// Package lexical ranks documents by BM25 over words, and turns text into the
// words it ranks by.
//
// It has two halves. Analyzer maps text to terms: Unicode is normalised, case
// and Latin accents are folded, English words are stemmed, scripts written
// without spaces become pairs of characters, and identifiers (ERR-104, v2.1,
// C++, node.js, user_id, softLogout) stay whole and can be found by their
// parts. Index is an inverted index in memory over those terms: package postings
// does the searching, and this one keeps the statistics and computes the scores.
//
// Invariants:
//   - A document is a hit exactly if it holds a term of the query, and then its
//     score is above zero; idf is positive however common the term is.
//   - Number of documents, document frequencies and average length are those of
//     the live documents at every moment, not estimates.
//   - Scores depend on the query and on the documents, never on the order in
//     which documents were added; documents with equal terms get equal bits.
//   - Every term the analyser makes is valid UTF-8 of at most MaxTermBytes.
//   - No text panics or takes more than linear time, whatever bytes it holds.
//
// The package stores nothing durably, knows documents by ordinal only, and has
// no query language: operators and quotes in a query are punctuation.
package lexical
