package filter

import "github.com/braid-search/braid"

// bits are ordinals, as docset has them. Those of a resolver reach as far as
// its index; bits of ordinals that are not there may be anything.
type bits []uint64

func (b bits) set(ord uint32) { b[ord/64] |= 1 << (ord % 64) }

// resolver computes one set. Bits it is done with are used again: a filter
// needs as many as it is deep, not as many as it has conditions.
type resolver struct {
	index *Index
	spare []bits
}

// none returns bits that are all 0.
func (r *resolver) none() bits {
	if n := len(r.spare); n > 0 {
		b := r.spare[n-1]
		r.spare = r.spare[:n-1]
		clear(b)
		return b
	}
	return make(bits, len(r.index.live))
}

func (r *resolver) done(b bits) { r.spare = append(r.spare, b) }

// or adds other to b, and is then done with it.
func (r *resolver) or(b, other bits) {
	for i, word := range other {
		b[i] |= word
	}
	r.done(other)
}

func (r *resolver) filter(f braid.Filter) bits {
	var passed bits // nil for everything
	must := func(clause bits) {
		if passed == nil {
			passed = clause
			return
		}
		for i, word := range clause {
			passed[i] &= word
		}
		r.done(clause)
	}
	for _, c := range f.Must {
		must(r.clause(c))
	}
	if len(f.Should) > 0 {
		some := r.none()
		for _, c := range f.Should {
			r.or(some, r.clause(c))
		}
		must(some)
	}
	if len(f.MustNot) > 0 || passed == nil {
		not := r.none()
		for _, c := range f.MustNot {
			r.or(not, r.clause(c))
		}
		must(inverted(not))
	}
	return passed
}

// inverted turns b around, in place.
func inverted(b bits) bits {
	for i := range b {
		b[i] = ^b[i]
	}
	return b
}

func (r *resolver) clause(c braid.Clause) bits {
	if f, ok := c.(braid.Filter); ok {
		return r.filter(f)
	}
	return r.condition(c.(braid.Condition))
}

func (r *resolver) condition(c braid.Condition) bits {
	found := r.none()
	switch {
	case c.Exists != nil:
		r.entry(found, existsKey(c.Field))
		if !*c.Exists {
			return inverted(found)
		}
	case c.Match != nil:
		r.values(found, c.Field, *c.Match)
	case c.Range != nil:
		r.interval(found, c.Field, *c.Range)
	default:
		r.values(found, c.Field, c.In...)
	}
	return found
}

// entry adds the ordinals that the dictionary has under k.
func (r *resolver) entry(found bits, k key) {
	l, ord, single := r.index.entries.get(k)
	switch {
	case single:
		found.set(ord)
	case l.many != nil && l.many.GetCardinality() > uint64(len(found)):
		dense := r.none() // WriteDenseTo overwrites
		l.many.WriteDenseTo(dense)
		r.or(found, dense)
	case l.many != nil:
		var ords [256]uint32
		for it := l.many.ManyIterator(); ; {
			n := it.NextMany(ords[:])
			if n == 0 {
				break
			}
			for _, ord := range ords[:n] {
				found.set(ord)
			}
		}
	}
	for _, ord := range l.few {
		found.set(ord)
	}
}

// values adds the ordinals that have any of values in field.
func (r *resolver) values(found bits, field string, values ...braid.Value) {
	for _, v := range values {
		if !v.IsNumber() {
			r.entry(found, valueKey(field, v))
		}
	}
	o := r.index.orders[field]
	if o == nil {
		return
	}
	for _, v := range values {
		if v.IsNumber() {
			at := limit{rank: numberRank(v)}
			o.numbers.collect(found, &at, &at)
		}
	}
}

// interval adds the ordinals that have a value between the bounds in field.
func (r *resolver) interval(found bits, field string, bounds braid.Range) {
	o := r.index.orders[field]
	if o == nil {
		return
	}
	among, rank := &o.numbers, numberRank
	for _, b := range []*braid.Value{bounds.GT, bounds.GTE, bounds.LT, bounds.LTE} {
		if b != nil && !b.IsNumber() {
			among, rank = &o.times, instantRank
		}
	}
	at := func(closed, open *braid.Value) *limit {
		switch {
		case closed != nil:
			return &limit{rank: rank(*closed)}
		case open != nil:
			return &limit{rank: rank(*open), open: true}
		}
		return nil
	}
	among.collect(found, at(bounds.GTE, bounds.GT), at(bounds.LTE, bounds.LT))
}
