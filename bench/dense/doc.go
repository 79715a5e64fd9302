// Dense measures braid's graph of neighbours beside hnswlib on the same vectors
// and settings, on one core, and prints a curve of recall and time.
//
//	bench/peers/install dense
//	go run ./bench/dense
//
// The vectors are real: passages, sentences and queries of the test collections
// in ../shared/data (or -data), embedded with the model that braid serves, and
// kept in .local/bench/dense. The queries are SciFact's claims.
package main
