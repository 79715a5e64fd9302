// Dense measures how braid searches dense vectors beside its peers, on the same
// vectors and settings.
//
//	bench/peers/install dense
//	go run ./bench/dense -out bench/results/DATE-dense
//	go run ./bench/dense -out bench/results/DATE-dense -parts exact,churn
//	go -C bench/plot run . ../results/DATE-dense.json
//
// The parts are
//
//	graph    recall and time by ef, building and memory, beside hnswlib, usearch,
//	         FAISS and coder/hnsw
//	exact    comparing all, beside NumPy and FAISS
//	filter   searches in a part of the vectors
//	churn    recall after half of the vectors were replaced
//
// The third form measures two of them anew and leaves the rest of the report as
// it is. Peers run in processes of their own; a measurement goes round all of
// them, so that what else the machine does strikes them alike. A peer that is not
// installed is left out, and the report says so.
//
// The vectors are those of bench/corpus, the queries SciFact's claims. The report
// wants an idle machine.
package main
