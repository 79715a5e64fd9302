package topk

import (
	"math"
	"slices"

	"github.com/braid-search/braid/index/docset"
)

// Match is one retrieved ordinal. A higher score is better.
type Match struct {
	Ord   uint32
	Score float64
}

// Scan bounds one retrieval over ordinals.
type Scan struct {
	// K is the largest number of matches to return; below 1 there are none.
	K int
	// Allowed holds the ordinals that may be returned; nil allows all that are
	// live.
	Allowed *docset.Set
	// Before says whether ordinal a stands before b when their scores are
	// equal: a strict total order. Nil is ascending ordinals. It may be called
	// from several goroutines at once.
	Before func(a, b uint32) bool
}

// Collector keeps the best K matches offered to it, as a heap with the worst
// at its root. It is not safe for concurrent use: a split scan has one
// collector a part and offers their matches to a last one.
type Collector struct {
	scan Scan
	heap []Match
	// floor is the score of the worst match once K are held and -Inf before:
	// nothing below it can be kept.
	floor float64
}

// NewCollector returns an empty collector for q.
func NewCollector(q Scan) *Collector {
	if q.Before == nil {
		q.Before = func(a, b uint32) bool { return a < b }
	}
	return &Collector{scan: q, floor: math.Inf(-1)}
}

// Offer considers one ordinal, which must be live and offered only once. A
// score that is not a number is no match.
func (c *Collector) Offer(ord uint32, score float64) {
	// Written so that NaN fails it.
	if !(score >= c.floor) || c.scan.K < 1 {
		return
	}
	m := Match{Ord: ord, Score: score}
	full := len(c.heap) == c.scan.K
	if full && !c.before(m, c.heap[0]) {
		return
	}
	if c.scan.Allowed != nil && !c.scan.Allowed.Contains(ord) {
		return
	}
	if full {
		c.heap[0] = m
		c.down(0)
	} else {
		c.heap = append(c.heap, m)
		c.up(len(c.heap) - 1)
	}
	if len(c.heap) == c.scan.K {
		c.floor = c.heap[0].Score
	}
}

// Floor returns the score a match must reach to be kept: -Inf until K are
// held. A scan may skip whatever is certain to stay strictly below it; a match
// that equals it may still win its tie.
func (c *Collector) Floor() float64 { return c.floor }

// Matches returns the kept matches, best first, and empties the collector. The
// slice is the caller's.
func (c *Collector) Matches() []Match {
	matches := c.heap
	c.heap, c.floor = nil, math.Inf(-1)
	slices.SortFunc(matches, func(a, b Match) int {
		if c.before(a, b) {
			return -1
		}
		return 1
	})
	return matches
}

// before reports whether a ranks before b.
func (c *Collector) before(a, b Match) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return c.scan.Before(a.Ord, b.Ord)
}

func (c *Collector) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !c.before(c.heap[parent], c.heap[i]) {
			return
		}
		c.heap[parent], c.heap[i] = c.heap[i], c.heap[parent]
		i = parent
	}
}

func (c *Collector) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.before(c.heap[worst], c.heap[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		c.heap[worst], c.heap[i] = c.heap[i], c.heap[worst]
		i = worst
	}
}
