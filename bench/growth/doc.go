// Growth measures how what a collection costs grows with its passages: memory by
// structure, writing, opening, and searches of each branch.
//
//	go run ./bench/growth prepare
//	go run ./bench/growth -out bench/results/DATE-growth
//	go -C bench/plot run . ../results/DATE-growth.json
//
// prepare makes collections with the embedded engine in .local/bench/growth, each
// from a copy of the one before, which takes long and is not disturbed by other
// work: what it tells of writing is processor time. The second call opens each of
// them, searches, and writes OUT.json and OUT.md. It wants an idle machine.
//
// The passages are those of bench/corpus: real ones, and mixtures beyond their
// number.
package main
