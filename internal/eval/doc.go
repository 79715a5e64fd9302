// Package eval measures how good rankings are: it reads test collections in
// BEIR layout and files of labelled queries, computes metrics as trec_eval does, and compares results.
//
// A dataset is a folder with corpus.jsonl, queries.jsonl and qrels/NAME.tsv,
// as described by Thakur et al., "BEIR: A Heterogeneous Benchmark for Zero-shot
// Evaluation of Information Retrieval Models", NeurIPS 2021.
//
// Invariants:
//   - Rankings are lists of ids, best first. trec_eval re-sorts by score and
//     breaks ties by descending id; here the order is the order, ties included,
//     but for run files, whose scores ReadRun sorts as trec_eval does.
//   - Only judged queries count, and each of them does: one without hits, or
//     without a relevant document, counts as 0. A file of labelled queries may
//     say that nothing answers a query; such a query stands apart.
//   - A fault in a file is named with file and line.
//
// The package does not search and does not print.
package eval
