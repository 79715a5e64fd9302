// Command rerank scores every way of reranking once and writes what it saw, so
// that rules (windows, early stop, blends, abstention) are compared offline.
//
// For each query of a test collection, in a shuffled order, it takes the first
// candidates of the fused ranking (min-max, equal weights), scores the whole
// passages and then windows of them at sentence borders, and writes one JSON
// line. Lines are flushed one by one: a run that was stopped is a sample.
//
//	go run ./bench/rerank -set ../shared/data/nq-utd -data FOLDER -out nq.jsonl
//	python3 bench/rerank/analyse.py nq.jsonl …
//
// FOLDER holds the collection as `braid eval DIR --data FOLDER` leaves it.
package main
