// Package postings finds the documents with the highest sums over the terms of
// a query: the inverted index that the sparse and the lexical branch share. It
// is exact and stays fast to millions of documents.
//
// A posting says that a document holds a term, and has two forms. The exact one
// is what the caller computes a share of the score from. The code, one byte,
// bounds that share from above, and is all that most searches see of a posting.
//
// A search adds up, term after term, the bounds of all documents that hold a
// term of the query; then it computes the scores of the documents with the
// highest sums, until no sum left reaches the K-th best score. So the codes
// decide how many scores are computed, never what is found.
//
// Documents are kept in windows of 65,536 consecutive ordinals: an offset into
// one takes two bytes, and its sums stay in the processor's cache. Within a
// window the lists lie one after another; those of documents added of late grow
// apart, until the window is full. Windows are searched one by one, or several
// together when they have few postings of the query's terms.
//
// Removing a document hides it. Its postings are dropped when a quarter of its
// window is dead. No statistics are kept, so none can be off.
package postings
