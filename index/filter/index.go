package filter

import (
	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/docset"
)

// Index knows the payloads of documents. Resolve, MemoryBytes and Save may run
// at the same time as each other, not as Add, Remove or Replace: the caller holds a lock.
type Index struct {
	live    []uint64 // bit i%64 of word i/64: ordinal i is there
	entries dictionary
	orders  map[string]*orders // by field
	pairs   int64              // in all orders
}

// orders are the numbers and the instants of one field.
type orders struct{ numbers, times order }

// New returns an empty index.
func New() *Index {
	return &Index{entries: dictionary{places: map[key]place{}}, orders: map[string]*orders{}}
}

// Add stores the payload with these fields under ord, which is below 1<<31 and
// larger than every ordinal added before.
func (x *Index) Add(ord uint32, fields braid.Fields) {
	for len(x.live) <= int(ord/64) {
		x.live = append(x.live, 0)
	}
	x.live[ord/64] |= 1 << (ord % 64)
	for field, values := range fields {
		x.entries.add(existsKey(field), ord)
		x.enter(ord, field, values)
	}
}

func (x *Index) order(field string) *orders {
	o := x.orders[field]
	if o == nil {
		o = &orders{}
		x.orders[field] = o
	}
	return o
}

// Remove leaves ord out of every set resolved from now on.
func (x *Index) Remove(ord uint32) {
	if int(ord/64) < len(x.live) {
		x.live[ord/64] &^= 1 << (ord % 64)
	}
}

// Resolve returns the ordinals that pass f, which is valid.
func (x *Index) Resolve(f braid.Filter) *docset.Set {
	r := resolver{index: x}
	passed := r.filter(f)
	for i, word := range x.live {
		passed[i] &= word
	}
	return docset.FromWords(passed)
}

// MemoryBytes estimates what the index holds in memory.
func (x *Index) MemoryBytes() int64 {
	// An order has its place in the map, its field's name, and room for fresh
	// pairs.
	const pairBytes, ordersBytes = 16, 800
	return int64(cap(x.live))*8 + x.entries.memoryBytes() + x.pairs*pairBytes + int64(len(x.orders))*ordersBytes
}
