package eval

import (
	"math"
	"slices"

	"github.com/braid-search/braid"
)

// Judgments are the grades of the documents judged for one query, by id. A
// grade above 0 means relevant, more is better; 0 and below mean not relevant,
// as does the absence of a judgment.
type Judgments map[string]int

// relevant is how many documents are relevant.
func (j Judgments) relevant() int {
	n := 0
	for _, grade := range j {
		if grade > 0 {
			n++
		}
	}
	return n
}

// checkOnce fails with braid.InvalidArgument when an id occurs twice, since it
// would count twice.
func checkOnce(ranked []string) error {
	seen := make(map[string]int, len(ranked))
	for i, id := range ranked {
		if first, twice := seen[id]; twice {
			return braid.Errorf(braid.InvalidArgument, "measure ranking: %q stands at ranks %d and %d: an id may occur once", id, first, i+1)
		}
		seen[id] = i + 1
	}
	return nil
}

// NDCG is the discounted cumulative gain of the first k ids over that of the
// best possible ranking of all judged documents. The gain of a document is its
// grade and its discount log2(rank+1): Järvelin, Kekäläinen, "Cumulated
// gain-based evaluation of IR techniques", TOIS 2002, in the form trec_eval
// computes. Without a relevant document it is 0.
func (j Judgments) NDCG(ranked []string, k int) float64 {
	gains := make([]int, 0, k)
	for _, id := range first(ranked, k) {
		gains = append(gains, j[id])
	}
	ideal := make([]int, 0, len(j))
	for _, grade := range j {
		ideal = append(ideal, grade)
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	best := discounted(first(ideal, k))
	if best == 0 {
		return 0
	}
	return discounted(gains) / best
}

func discounted(grades []int) float64 {
	var sum float64
	for i, grade := range grades {
		if grade > 0 {
			sum += float64(grade) / math.Log2(float64(i+2))
		}
	}
	return sum
}

// ReciprocalRank is 1/rank of the first relevant document among the first k
// ids, and 0 where there is none. Its mean over queries is MRR@k.
func (j Judgments) ReciprocalRank(ranked []string, k int) float64 {
	for i, id := range first(ranked, k) {
		if j[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Recall is the share of the relevant documents that is among the first k ids.
// Without a relevant document it is 0.
func (j Judgments) Recall(ranked []string, k int) float64 {
	relevant, found := j.relevant(), 0
	for _, id := range first(ranked, k) {
		if j[id] > 0 {
			found++
		}
	}
	if relevant == 0 {
		return 0
	}
	return float64(found) / float64(relevant)
}

func first[E any](s []E, k int) []E { return s[:min(k, len(s))] }
