package topk

import (
	"math"

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

// Collector keeps the best K matches offered to it: in the order they come until
// K are held, then as a heap with the worst at its root. It is not safe for
// concurrent use: a split scan has one collector a part and offers their matches
// to a last one.
type Collector struct {
	scan Scan
	held []Match
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
	full := len(c.held) == c.scan.K
	if full && !c.before(m, c.held[0]) {
		return
	}
	if c.scan.Allowed != nil && !c.scan.Allowed.Contains(ord) {
		return
	}
	if full {
		c.replace(0, m)
	} else {
		if len(c.held) == cap(c.held) {
			c.grow()
		}
		c.held = append(c.held, m)
		if len(c.held) < c.scan.K {
			return
		}
		for i := c.scan.K/2 - 1; i >= 0; i-- {
			c.replace(i, c.held[i])
		}
	}
	c.floor = c.held[0].Score
}

// grow makes room for more matches. Most searches find very few or K.
func (c *Collector) grow() {
	const few, most = 16, 1 << 10
	room := few
	if len(c.held) > 0 {
		room = max(most, 2*len(c.held))
	}
	c.held = append(make([]Match, 0, min(room, c.scan.K)), c.held...)
}

// Floor returns the score a match must reach to be kept: -Inf until K are
// held. A scan may skip whatever is certain to stay strictly below it; a match
// that equals it may still win its tie.
func (c *Collector) Floor() float64 { return c.floor }

// Matches returns the kept matches, best first, and empties the collector. The
// slice is the caller's.
func (c *Collector) Matches() []Match {
	matches := c.held
	c.held, c.floor = nil, math.Inf(-1)
	c.sort(matches)
	return matches
}

// before reports whether a ranks before b.
func (c *Collector) before(a, b Match) bool {
	if a.Score != b.Score {
		return a.Score > b.Score
	}
	return c.scan.Before(a.Ord, b.Ord)
}

// replace puts m into the heap below i, which has lost what was there. Which of
// two children is worse cannot be foreseen, so the way down does not branch on it:
// it leads to a leaf, and m, which seldom stays near the root, rises from there.
func (c *Collector) replace(root int, m Match) {
	heap, i := c.held, root
	for child := 2*i + 1; child < len(heap); child = 2*i + 1 {
		if right := child + 1; right < len(heap) {
			child += c.worse(heap[child], heap[right])
		}
		heap[i] = heap[child]
		i = child
	}
	for i > root {
		parent := (i - 1) / 2
		if !c.before(heap[parent], m) {
			break
		}
		heap[i] = heap[parent]
		i = parent
	}
	heap[i] = m
}

// worse is 0 if the first is the worse of two, 1 if the second is.
func (c *Collector) worse(first, second Match) int {
	n := 0
	if second.Score < first.Score {
		n = 1
	}
	if second.Score == first.Score && c.scan.Before(first.Ord, second.Ord) {
		n = 1
	}
	return n
}
