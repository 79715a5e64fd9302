// Retrieval measures the sparse and the lexical index on one core, at sizes from
// a thousand to a million passages, with real queries; the lexical one beside
// bm25s and tantivy.
//
//	bench/peers/install retrieval
//	go run ./bench/retrieval prepare                        # once, fifteen minutes
//	go run ./bench/retrieval -out bench/results/retrieval
//	go run ./bench/retrieval -out bench/results/retrieval -parts lexical -sizes 1000000
//	go run ./bench/retrieval -out bench/results/retrieval -parts blocks -sizes 100000
//
// The third form measures a part anew and leaves the rest of the report as it is.
// The last one tells what an index could spare that skips blocks of passages.
//
// The passages are those of the test collections in ../shared/data (or -data).
// Beyond their number there are mixtures of them, by the recipe in bench/corpus that
// the report quotes. SPLADE vectors are made with the model that braid serves.
// All that takes long to make is kept in .local/bench/retrieval.
//
// The peers get what braid's analyser made of texts and queries, so that all
// search for the same terms in the same documents. They keep the time of each
// search themselves. One that is not installed is left out, and the report says
// so. Rankings of braid are compared with brute force, and a difference is an
// error; those of the peers, whose arithmetic is another, are compared with
// braid's, and the report says how much they share.
package main
