package filter

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/braid-search/braid"
)

// rank is the place of a number or an instant among its like: ranks compare as
// they do, and equal ranks are equal values.
type rank struct {
	high uint64
	low  uint32
}

func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(r.high, other.high), cmp.Compare(r.low, other.low))
}

// numberRank is the nearest float64, in whose order integers are never
// misplaced, then how much more the number is than that: up to 512 for large
// integers.
func numberRank(v braid.Value) rank {
	const middle = 1 << 31
	f, more := v.Float(), int64(0)
	if v.Kind() == braid.Integer {
		i := v.Int()
		f = float64(i)
		if f == 1<<63 { // no int64
			more = i - math.MaxInt64 - 1
		} else {
			more = i - int64(f)
		}
	}
	high := math.Float64bits(f)
	if f < 0 {
		high = ^high
	} else {
		high |= 1 << 63
	}
	return rank{high, uint32(middle + more)}
}

func timeRank(t time.Time) rank {
	return rank{uint64(t.Unix()) ^ 1<<63, uint32(t.Nanosecond())}
}

// instantRank is timeRank of a keyword that is a time.
func instantRank(v braid.Value) rank {
	t, _ := v.Time()
	return timeRank(t)
}

// pair is one value of one document. It is flat so that it takes 16 bytes. One
// that is no more has the bit gone in ord and stays where it is in its run, until
// that is merged.
type pair struct {
	high     uint64
	low, ord uint32
}

const gone = 1 << 31

func (p pair) rank() rank { return rank{p.high, p.low} }

// limit is one end of an interval; open leaves out its rank itself.
type limit struct {
	rank
	open bool
}

// freshMost is the largest number of pairs that are searched one by one.
const freshMost = 64

// order is a set of pairs in which those of an interval are found quickly.
type order struct {
	runs  [][]pair // each sorted, and at least twice as long as the next
	fresh []pair   // the newest, unsorted
}

func (o *order) add(r rank, ord uint32) {
	o.fresh = append(o.fresh, pair{r.high, r.low, ord})
	if len(o.fresh) < freshMost {
		return
	}
	run := slices.Clone(o.fresh)
	slices.SortFunc(run, comparePairs)
	n := len(o.runs)
	for n > 0 && len(o.runs[n-1]) < 2*len(run) {
		n--
		run = merge(o.runs[n], run)
	}
	clear(o.runs[n:])
	o.runs = append(o.runs[:n], run)
	o.fresh = o.fresh[:0]
}

func comparePairs(a, b pair) int {
	return cmp.Or(a.rank().compare(b.rank()), cmp.Compare(a.ord&^gone, b.ord&^gone))
}

// remove takes the pairs of r and ord out and returns how many there were.
func (o *order) remove(r rank, ord uint32) (removed int) {
	p := pair{r.high, r.low, ord}
	for _, run := range o.runs {
		for at, _ := slices.BinarySearchFunc(run, p, comparePairs); at < len(run) && comparePairs(run[at], p) == 0; at++ {
			if run[at].ord&gone == 0 {
				run[at].ord |= gone
				removed++
			}
		}
	}
	before := len(o.fresh)
	o.fresh = slices.DeleteFunc(o.fresh, func(q pair) bool { return q == p })
	return removed + before - len(o.fresh)
}

// merge returns the pairs of two runs, but for those that are no more.
func merge(a, b []pair) []pair {
	merged := make([]pair, 0, len(a)+len(b))
	for len(a)+len(b) > 0 {
		from := &a
		if len(a) == 0 || len(b) > 0 && comparePairs(a[0], b[0]) > 0 {
			from = &b
		}
		if p := (*from)[0]; p.ord&gone == 0 {
			merged = append(merged, p)
		}
		*from = (*from)[1:]
	}
	return merged
}

// collect adds the ordinals with a value between the limits to found; nil is no
// limit.
func (o *order) collect(found bits, from, to *limit) {
	starts := func(p pair) bool { // p is not before the interval
		if from == nil {
			return true
		}
		order := p.rank().compare(from.rank)
		return order > 0 || order == 0 && !from.open
	}
	ended := func(p pair) bool { // p is after the interval
		if to == nil {
			return false
		}
		order := p.rank().compare(to.rank)
		return order > 0 || order == 0 && to.open
	}
	for _, run := range o.runs {
		first := sort.Search(len(run), func(i int) bool { return starts(run[i]) })
		run = run[first:]
		for _, p := range run[:sort.Search(len(run), func(i int) bool { return ended(run[i]) })] {
			if p.ord&gone == 0 {
				found.set(p.ord)
			}
		}
	}
	for _, p := range o.fresh {
		if starts(p) && !ended(p) {
			found.set(p.ord)
		}
	}
}
