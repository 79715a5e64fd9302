// Package ranking has heaps of scored ordinals, for what runs through an index so
// often that a score and its ordinal have to be one number.
//
// The heaps are slices: their owner makes and empties them, and keeps them to
// itself while a search is under way.
package ranking
