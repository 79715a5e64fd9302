package eval

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/braid-search/braid"
)

// MaxCutoff bounds k of a metric.
const MaxCutoff = 1000

// Metric is one measure of a ranking, by the name ir-measures gives it: nDCG@k,
// RR@k, R@k (recall), P@k (precision), Success@k and AP. Without @k the whole
// ranking counts, which nDCG, RR and AP allow. The zero value is not a metric.
type Metric struct {
	name   string
	cutoff int // 0: none
}

// DefaultMetrics returns the metrics measured where none are named.
func DefaultMetrics() []Metric {
	return []Metric{{"nDCG", 10}, {"RR", 10}, {"R", 20}, {"R", 100}}
}

// ParseMetric reads the name of a metric. It fails with braid.InvalidArgument.
func ParseMetric(name string) (Metric, error) {
	base, cut, hasCut := strings.Cut(name, "@")
	if !slices.Contains([]string{"nDCG", "RR", "R", "P", "Success", "AP"}, base) {
		return Metric{}, braid.Errorf(braid.InvalidArgument, "metric %q: use nDCG@k, RR@k, R@k, P@k, Success@k and AP", name)
	}
	if !hasCut {
		if slices.Contains([]string{"R", "P", "Success"}, base) {
			return Metric{}, braid.Errorf(braid.InvalidArgument, "metric %q needs a cut-off: %s@10 for one", name, base)
		}
		return Metric{name: base}, nil
	}
	k, err := strconv.Atoi(cut)
	if err != nil || k < 1 || k > MaxCutoff || strconv.Itoa(k) != cut {
		return Metric{}, braid.Errorf(braid.InvalidArgument, "metric %q: the cut-off is a whole number from 1 to %d", name, MaxCutoff)
	}
	return Metric{base, k}, nil
}

// String returns the name that ParseMetric reads.
func (m Metric) String() string { return m.at(m.name) }

// Key returns the name of the metric in reports: ndcg@10, mrr@10, recall@20.
func (m Metric) Key() string {
	switch m.name {
	case "RR":
		return m.at("mrr")
	case "R":
		return m.at("recall")
	case "P":
		return m.at("precision")
	}
	return m.at(strings.ToLower(m.name))
}

func (m Metric) at(name string) string {
	if m.cutoff == 0 {
		return name
	}
	return name + "@" + strconv.Itoa(m.cutoff)
}

// rankingDepth is how long a ranking is measured without a cut-off.
const rankingDepth = 100

// Depth is how many documents a ranking must have to be measured: the cut-off,
// or 100 without one.
func (m Metric) Depth() int {
	if m.cutoff == 0 {
		return rankingDepth
	}
	return m.cutoff
}

// Score measures the ranking of one query, ids best first and each once. The
// score is within 0..1, and 0 where no document is relevant.
func (m Metric) Score(j Judgments, ranked []string) float64 {
	k := m.cutoff
	if k == 0 {
		k = max(len(ranked), len(j))
	}
	switch m.name {
	case "nDCG":
		return j.NDCG(ranked, k)
	case "RR":
		return j.ReciprocalRank(ranked, k)
	case "R":
		return j.Recall(ranked, k)
	case "P":
		return j.Precision(ranked, k)
	case "Success":
		return j.Success(ranked, k)
	}
	return j.AveragePrecision(ranked, k)
}

// Precision is the share of relevant documents among the first k ranks; ranks
// that hold no document count as not relevant.
func (j Judgments) Precision(ranked []string, k int) float64 {
	found := 0
	for _, id := range first(ranked, k) {
		if j[id] > 0 {
			found++
		}
	}
	return float64(found) / float64(max(k, 1))
}

// Success is 1 where one of the first k ids is relevant, and 0 elsewhere.
func (j Judgments) Success(ranked []string, k int) float64 {
	if j.ReciprocalRank(ranked, k) > 0 {
		return 1
	}
	return 0
}

// AveragePrecision is the mean, over all relevant documents, of the precision
// at the rank of each; one that is not among the first k ids adds 0. Its mean
// over queries is MAP.
func (j Judgments) AveragePrecision(ranked []string, k int) float64 {
	found := 0
	var sum float64
	for i, id := range first(ranked, k) {
		if j[id] > 0 {
			found++
			sum += float64(found) / float64(i+1)
		}
	}
	return sum / float64(max(j.relevant(), 1))
}

// RankByScore orders the documents of one query as trec_eval does: by score as
// a float32, highest first, and equal scores by descending id.
func RankByScore(scores map[string]float64) []string {
	ids := make([]string, 0, len(scores))
	for id := range scores {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(float32(scores[b]), float32(scores[a])), cmp.Compare(b, a))
	})
	return ids
}
