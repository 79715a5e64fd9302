package bench

import (
	"cmp"
	"fmt"
	"slices"
)

// AtOnce is the time for both vectors made at once over the times of others,
// round by round: below 1 at once is faster.
type AtOnce struct {
	Cores     string `json:"cores"`
	Quantile  string `json:"quantile"` // of the queries of a round
	OverDense Figure `json:"over_dense_alone"`
	// OverSerial is over the same program with the same threads, one after the other.
	OverSerial Figure `json:"over_serial"`
	// Best is the fastest by the median of all ways to make one after the other.
	Best     string `json:"best_serial"`
	OverBest Figure `json:"over_best_serial"`
}

// atOnceOver compares; the first of serial is braid's own.
func atOnceOver(cores string, q float64, atOnce, dense *contestant, serial []*contestant) AtOnce {
	both := quantiles(atOnce.rounds, q)
	over := func(c *contestant) Figure {
		ratios := slices.Clone(both)
		for i, ms := range quantiles(c.rounds, q) {
			ratios[i] /= ms
		}
		return figure(ratios)
	}
	median := func(c *contestant) float64 { return quantile(quantiles(c.rounds, q), 0.5) }
	best := slices.MinFunc(serial, func(a, b *contestant) int { return cmp.Compare(median(a), median(b)) })
	return AtOnce{
		Cores: cores, Quantile: fmt.Sprintf("p%.0f", 100*q), OverDense: over(dense), OverSerial: over(serial[0]),
		Best: best.name, OverBest: over(best),
	}
}

// noSlower says whether at once is no slower than the best of the others, and in
// how many rounds.
func (a AtOnce) noSlower() string {
	slower := 0
	for _, ratio := range a.OverBest.Rounds {
		if ratio > 1 {
			slower++
		}
	}
	verdict := "yes"
	if a.OverBest.Median > 1 {
		verdict = "**no**"
	}
	return fmt.Sprintf("%s: slower in %d of %d rounds", verdict, slower, len(a.OverBest.Rounds))
}

// atOnce shows what making vectors at once costs and saves.
func (d *document) atOnce(r *Report) {
	if len(r.AtOnce) == 0 {
		return
	}
	d.table("Both vectors at once, time over that of", "cores", "", "dense alone", "one after the other, the same threads", "the best serial plan", "", "no slower than the best serial plan")
	for _, a := range r.AtOnce {
		d.row(a.Cores, a.Quantile, ratio(a.OverDense), ratio(a.OverSerial), a.Best, ratio(a.OverBest), a.noSlower())
	}
}
