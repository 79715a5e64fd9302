// Package postings finds the documents with the highest sums over the terms of
// a query: the inverted index that the sparse and the lexical branch share. It
// is exact and stays fast to millions of documents.
//
// A document is a record and a list of terms. The record is what its score is
// computed from, in a form only the caller knows. Each term of a document has a
// code, one byte that bounds from above what the term can add to a score. The
// lists of a term hold nothing but places and codes, three bytes a posting.
//
// A search adds up, term after term, the bounds of all documents that hold a
// term of the query; then it computes the scores of the documents with the
// highest sums, until no sum left reaches the K-th best score. So the codes
// decide how many records are looked at, never what is found.
//
// Documents are kept in windows of 65,536 consecutive ordinals: an offset into
// one takes two bytes, and its sums stay in the processor's cache. Within a
// window the lists lie one after another in two arrays; those of the window
// that is being filled grow apart.
//
// Removing a document hides it. Its postings are dropped when a quarter of its
// window is dead. No statistics are kept, so none can be off.
//
// The lists can be built from the records at any time, and are when an index
// is loaded: only records are saved.
package postings
