package filter

import (
	"slices"

	"github.com/braid-search/braid"
)

// Replace gives ord, which is there, the fields now in place of those it was
// stored with. Like Add it needs exclusive access. Sets that were resolved before
// know nothing of it.
func (x *Index) Replace(ord uint32, before, now braid.Fields) {
	for field, values := range before {
		kept, there := now[field]
		if !there {
			x.entries.remove(existsKey(field), ord)
		}
		if !slices.Equal(values, kept) {
			x.withdraw(ord, field, values)
		}
	}
	for field, values := range now {
		kept, there := before[field]
		if !there {
			x.entries.add(existsKey(field), ord)
		}
		if !slices.Equal(values, kept) {
			x.enter(ord, field, values)
		}
	}
}

// enter stores values of a field under ord.
func (x *Index) enter(ord uint32, field string, values []braid.Value) {
	for _, v := range values {
		if v.IsNumber() {
			x.order(field).numbers.add(numberRank(v), ord)
			x.pairs++
			continue
		}
		x.entries.add(valueKey(field, v), ord)
		if t, ok := v.Time(); ok {
			x.order(field).times.add(timeRank(t), ord)
			x.pairs++
		}
	}
}

// withdraw undoes enter.
func (x *Index) withdraw(ord uint32, field string, values []braid.Value) {
	for _, v := range values {
		if v.IsNumber() {
			x.pairs -= int64(x.order(field).numbers.remove(numberRank(v), ord))
			continue
		}
		x.entries.remove(valueKey(field, v), ord)
		if t, ok := v.Time(); ok {
			x.pairs -= int64(x.order(field).times.remove(timeRank(t), ord))
		}
	}
}
