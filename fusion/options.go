package fusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/braid-search/braid"
)

// Method is one way of turning rankings into votes. Its value is the name used
// on the wire.
type Method string

const (
	// RRF is weighted reciprocal rank fusion, Σ w / (k + rank) with ranks from
	// 1. Cormack, Clarke, Büttcher, "Reciprocal Rank Fusion outperforms
	// Condorcet and individual Rank Learning Methods", SIGIR 2009.
	RRF Method = "rrf"

	// MinMax scales the scores of each ranking linearly so that its first hit
	// gets 1 and its last 0, then adds them by weight. Where all scores of a
	// ranking are equal (a lone hit, too) each gets 1: every hit is the best of
	// its branch. Fox, Shaw, "Combination of Multiple Searches", TREC-2 1994
	// (CombSUM); Lee, "Analyses of Multiple Evidence Combination", SIGIR 1997
	// (the scaling).
	MinMax Method = "minmax"

	// DBSF is distribution-based score fusion: the mean of each ranking's scores
	// gets 0.5, three standard deviations above it 1 and three below it 0, and
	// scores further out are held to that range. σ is the population's (divided
	// by n): the hits at hand are the distribution, not a sample. Where all
	// scores are equal each is the mean and gets 0.5. Mazzeschi,
	// "Distribution-Based Score Fusion (DBSF)", 2023.
	DBSF Method = "dbsf"
)

// Methods returns every method in the order they are shown.
func Methods() []Method { return []Method{RRF, MinMax, DBSF} }

// DefaultK is the k of RRF where none is given, the value of the paper.
const DefaultK = 60

// Options says how to fuse. The zero value is RRF with DefaultK and returns
// every document. K and Limit are pointers so that a 0 that was asked for is
// told from one that was not, and refused.
type Options struct {
	Method Method // "" is RRF
	K      *int   // of RRF, at least 1; nil is DefaultK; only RRF has a k
	Limit  *int   // the most results to return, at least 1; nil is all
}

// Validate reports every rule the options break in one *braid.Error whose
// Field names the first option at fault.
func (o Options) Validate() error {
	var fields, problems []string
	report := func(field, format string, args ...any) {
		fields = append(fields, field)
		problems = append(problems, fmt.Sprintf(format, args...))
	}
	if o.Method != "" && !slices.Contains(Methods(), o.Method) {
		report("method", "method %q is not one of %q", o.Method, Methods())
	}
	if o.K != nil {
		if *o.K < 1 {
			report("k", "k is %d, want at least 1", *o.K)
		}
		if o.method() != RRF {
			report("k", "k belongs to %s, method %s has none: leave it out", RRF, o.Method)
		}
	}
	if o.Limit != nil && *o.Limit < 1 {
		report("limit", "limit is %d, want at least 1", *o.Limit)
	}
	if problems == nil {
		return nil
	}
	return braid.Errorf(braid.InvalidArgument, "fusion options: %s", strings.Join(problems, "; ")).In(fields[0])
}

func (o Options) method() Method {
	if o.Method == "" {
		return RRF
	}
	return o.Method
}

func (o Options) k() float64 {
	if o.K == nil {
		return DefaultK
	}
	return float64(*o.K)
}
