// Package corpus makes what the benchmarks of the indexes store and search: real
// passages, queries and vectors of the test collections, and beyond their number
// mixtures of them, by recipes that reports quote.
//
// Vectors are made with the models that braid serves and kept, as all that takes
// long to make, in .local/bench of the checkout. Everything else depends on
// nothing but the collections: the same number yields the same passage.
//
// Nothing here is measured.
package corpus
