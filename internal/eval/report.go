package eval

import "github.com/braid-search/braid"

// Run is what a system answered: for each query id the ids of its ranking, best
// first.
type Run map[string][]string

// Result is how good a run is.
type Result struct {
	Mean    Scores
	Queries []QueryScores // one per query of the dataset, in its order
}

// QueryScores are the scores of one query.
type QueryScores struct {
	ID string
	Scores
}

// Evaluate scores a run on every query of the dataset. A query the run does not
// answer scores 0; answers to queries that are not judged are ignored.
func (d *Dataset) Evaluate(run Run) (Result, error) {
	result := Result{Queries: make([]QueryScores, 0, len(d.Queries))}
	for _, q := range d.Queries {
		scores, err := Measure(q.Judgments, run[q.ID])
		if err != nil {
			return Result{}, braid.Errorf(braid.CodeOf(err), "query %q: %w", q.ID, err)
		}
		result.Queries = append(result.Queries, QueryScores{q.ID, scores})
	}
	result.Mean = mean(result.Queries)
	return result, nil
}

func mean(queries []QueryScores) Scores {
	var sum Scores
	for _, q := range queries {
		sum.NDCG10 += q.NDCG10
		sum.MRR10 += q.MRR10
		sum.Recall20 += q.Recall20
		sum.Recall100 += q.Recall100
	}
	n := float64(max(len(queries), 1))
	return Scores{sum.NDCG10 / n, sum.MRR10 / n, sum.Recall20 / n, sum.Recall100 / n}
}
