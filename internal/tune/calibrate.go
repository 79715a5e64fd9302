package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/internal/eval"
	"github.com/braid-search/braid/search"
)

// CalibrationOptions say how to calibrate.
type CalibrationOptions struct {
	Reranker index.ModelRef // the cross-encoder that is loaded
	HeldOut  float64        // share of the queries that is held out
	Seed     uint64         // of the split
	Limit    int            // hits of an answer that are looked at for a relevant one
	// Progress, if not nil, is called after each answer, from one goroutine at a time.
	Progress func(asked, total int)
}

// Calibrated is a calibration and how good it is on the queries held out.
type Calibrated struct {
	Calibration search.Calibration `json:"calibration"`
	// Removed says that unanswerable queries were made by removing the relevant
	// documents.
	Removed bool `json:"removed"`
	Dev     int  `json:"dev"`      // answers it was fitted on
	HeldOut int  `json:"held_out"` // answers it was tested on
	// Found is the share of the answers held out that hold something relevant.
	Found float64 `json:"found"`
	// AUC is the area under the ROC curve: how often of two answers, one with
	// something relevant and one without, the former is more confident.
	AUC float64 `json:"auc"`
	// ECE is the expected calibration error in ten bins of equal width: Naeini,
	// Cooper, Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian
	// Binning", AAAI 2015.
	ECE float64 `json:"ece"`
	// Brier is the mean squared error of the probability, and Base that of Found,
	// one probability for all.
	Brier float64 `json:"brier"`
	Base  float64 `json:"base"`
	// Bins are the ten bins of ECE that hold an answer.
	Bins []Bin `json:"bins"`
}

// Bin is what is said and what is true of the answers of about one confidence.
type Bin struct {
	Answers    int     `json:"answers"`
	Confidence float64 `json:"confidence"` // mean
	Found      float64 `json:"found"`      // share that holds something relevant
}

// Useful says whether the calibration says more than one probability for all.
func (c Calibrated) Useful() bool { return c.Brier < c.Base }

// Calibrate fits the probability that an answer holds something relevant, under
// profile p, on one part of the queries and tests it on the other. Where no query
// is unanswerable, each is asked a second time as if its relevant documents were
// not in the collection: both versions are in the same part.
//
// It fails with braid.InvalidArgument when there are too few queries, answers of
// one kind only, or logits that say nothing; with braid.Unavailable when answers
// are not reranked.
func Calibrate(ctx context.Context, b *Bench, p search.Profile, answerable, unanswerable []eval.Query, opts CalibrationOptions) (*Calibrated, error) {
	c := &Calibrated{Removed: len(unanswerable) == 0}
	dev, heldOut, err := Split(slices.Concat(answerable, unanswerable), opts.HeldOut, opts.Seed)
	if err != nil {
		return nil, err
	}
	times := 1
	if c.Removed {
		times = 2
	}
	count := opts.counter(times * (len(dev) + len(heldOut)))
	fitted, err := b.examples(ctx, p, dev, opts.Limit, c.Removed, count)
	if err != nil {
		return nil, err
	}
	c.Calibration.Reranker = opts.Reranker
	if c.Calibration.Slope, c.Calibration.Intercept, err = platt(fitted); err != nil {
		return nil, err
	}
	tested, err := b.examples(ctx, p, heldOut, opts.Limit, c.Removed, count)
	if err != nil {
		return nil, err
	}
	c.Dev, c.HeldOut = len(fitted), len(tested)
	c.test(tested)
	return c, nil
}

// counter returns what is to be called after each of total answers.
func (o CalibrationOptions) counter(total int) func() {
	var mu sync.Mutex
	asked := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if asked++; o.Progress != nil {
			o.Progress(asked, total)
		}
	}
}

// examples asks the queries under p, and if removed says so a second time without
// their relevant documents.
func (b *Bench) examples(ctx context.Context, p search.Profile, queries []eval.Query, limit int, removed bool, count func()) ([]example, error) {
	depth := search.DefaultRerankDepth
	if p.RerankDepth != nil {
		depth = *p.RerankDepth
	}
	perQuery := make([][]example, len(queries))
	whole := func(i int, answer *search.Response) {
		count()
		logit, ok := search.BestLogit(answer.Hits)
		if !ok {
			return
		}
		found := slices.ContainsFunc(answer.Hits[:min(limit, len(answer.Hits))], func(h search.Hit) bool { return queries[i].Judgments[h.ID] > 0 })
		perQuery[i] = append(perQuery[i], example{logit, found})
	}
	if err := b.Answers(ctx, p, queries, max(limit, depth), whole); err != nil {
		return nil, err
	}
	if removed {
		if err := b.removed(ctx, p, queries, depth, perQuery, count); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(perQuery...)
	if len(all) == 0 {
		return nil, braid.Errorf(braid.Unavailable, "calibrate: no answer was reranked: load a reranker, and do not switch it off in the profile")
	}
	return all, nil
}

// removed adds an example of each query without its relevant documents: of the
// fused candidates that are not relevant, the first depth, as the cross-encoder
// sees them. Their order is that of the whole collection.
func (b *Bench) removed(ctx context.Context, p search.Profile, queries []eval.Query, depth int, perQuery [][]example, count func()) error {
	relevant := 0
	for _, q := range queries {
		n := 0
		for _, grade := range q.Judgments {
			if grade > 0 {
				n++
			}
		}
		relevant = max(relevant, n)
	}
	deeper := depth + min(relevant, depth)
	if deeper > search.MaxRerankDepth {
		return braid.Errorf(braid.InvalidArgument, "calibrate: rerank_depth is %d, and with %d more, in the place of relevant documents, it is over the limit of %d: lower it", depth, deeper-depth, search.MaxRerankDepth)
	}
	p.RerankDepth = &deeper
	return b.Answers(ctx, p, queries, deeper, func(i int, answer *search.Response) {
		count()
		rest := slices.DeleteFunc(slices.Clone(answer.Hits), func(h search.Hit) bool {
			return queries[i].Judgments[h.ID] > 0 || h.Fused == nil
		})
		slices.SortFunc(rest, func(a, b search.Hit) int { return cmp.Compare(a.Fused.Rank, b.Fused.Rank) })
		if logit, ok := search.BestLogit(rest[:min(depth, len(rest))]); ok {
			perQuery[i] = append(perQuery[i], example{logit, false})
		}
	})
}

// test measures the calibration on examples it was not fitted on.
func (c *Calibrated) test(examples []example) {
	const bins = 10
	var confidence, found [bins]float64
	var count [bins]int
	n := float64(len(examples))
	for _, e := range examples {
		p := c.Calibration.Confidence(e.logit)
		at := min(int(p*bins), bins-1)
		count[at]++
		confidence[at] += p
		truth := 0.0
		if e.found {
			truth = 1
		}
		found[at] += truth
		c.Found += truth
		c.Brier += (p - truth) * (p - truth) / n
	}
	c.Found /= n
	c.Base = c.Found * (1 - c.Found)
	for i := range count {
		if count[i] == 0 {
			continue
		}
		k := float64(count[i])
		c.ECE += math.Abs(confidence[i]-found[i]) / n
		c.Bins = append(c.Bins, Bin{Answers: count[i], Confidence: confidence[i] / k, Found: found[i] / k})
	}
	c.AUC = auc(examples)
}

// auc is the share of pairs of an answer with and one without something relevant
// whose logits are in that order; equal ones count half.
func auc(examples []example) float64 {
	var right, pairs float64
	for _, yes := range examples {
		if !yes.found {
			continue
		}
		for _, no := range examples {
			if no.found {
				continue
			}
			pairs++
			switch {
			case yes.logit > no.logit:
				right++
			case yes.logit == no.logit:
				right += 0.5
			}
		}
	}
	return right / max(pairs, 1)
}
