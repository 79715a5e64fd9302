// Package index says what a search engine must do for braid: keep collections
// of documents durably and answer three kinds of query over them (dense,
// sparse, lexical).
//
// The interfaces here are the contract; index/contract is the test suite every
// engine passes. index/embedded is the engine that lives in this process,
// built from index/store (durable records), index/dense, index/sparse,
// index/lexical and index/filter.
//
// Invariants of every engine:
//   - A Write that returned nil survives the death of the process.
//   - The branches are in step: a document is in all of them or in none.
//   - A document has one passage or more, which are ranked each by itself and come
//     and go together.
//   - Rankings are sorted as braid.Hit.Before says and hold each passage once.
//   - A document set given as Query.Allowed bounds retrieval itself, it is not
//     applied to its result.
//
// The package does not encode text into vectors and does not fuse rankings.
package index
