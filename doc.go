// Package braid is the vocabulary the other packages share: what a document,
// a passage, a sparse vector, a ranking and an error are.
//
// It holds values and their validity rules, nothing that runs. It imports the
// standard library only, so every other package may import it.
//
// Terms follow the field: a document is what the caller stores and gets back;
// a passage is the piece of it that is encoded and retrieved; a hit is one
// entry of a ranking; a branch is one way of retrieving (dense, sparse,
// lexical).
package braid
