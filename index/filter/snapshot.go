package filter

import (
	"maps"
	bits64 "math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the index: the ordinals that are there, the dictionary (keys,
// places, the lengths of lists with 0 for bitmaps, the arrays one after the
// other, the bitmaps' lengths and bytes in roaring's portable form), and by
// field the pairs of its numbers and instants. It only reads the index.
func (x *Index) Save(w *snapshot.Writer) {
	w.Uint64s(x.live)
	x.entries.save(w)
	fields := slices.Sorted(maps.Keys(x.orders))
	w.Strings(fields)
	for _, field := range fields {
		x.orders[field].numbers.save(w)
		x.orders[field].times.save(w)
	}
}

// Load reads what Save has written, an index whose ordinals are all below end.
// It fails with r's error, or with braid.Corrupt when what was read is not such
// an index.
func Load(r *snapshot.Reader, end uint64) (*Index, error) {
	x := New()
	x.live = r.Uint64s()
	if n := uint64(len(x.live)); n > (end+63)/64 || n == (end+63)/64 && end%64 != 0 && x.live[n-1]>>(end%64) != 0 {
		r.Fail("there are ordinals of %d and above", end)
	}
	x.entries.load(r, uint64(len(x.live))*64)
	for _, field := range r.Strings() {
		o := x.order(field)
		o.numbers.load(r, uint64(len(x.live))*64)
		o.times.load(r, uint64(len(x.live))*64)
		for _, order := range []order{o.numbers, o.times} {
			for _, run := range order.runs {
				x.pairs += int64(len(run))
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return x, nil
}

// Len returns the number of documents.
func (x *Index) Len() int {
	n := 0
	for _, word := range x.live {
		n += bits64.OnesCount64(word)
	}
	return n
}

func (d *dictionary) save(w *snapshot.Writer) {
	keys := make([]byte, 0, len(d.places)*len(key{}))
	places := make([]uint32, 0, len(d.places))
	lists := make([]list, 0, len(d.lists))
	for k, at := range d.places {
		keys = append(keys, k[:]...)
		if at&inList != 0 {
			lists = append(lists, d.lists[at&^inList])
			at = inList | place(len(lists)-1)
		}
		places = append(places, uint32(at))
	}
	w.Uint8s(keys)
	w.Uint32s(places)
	lengths := make([]uint32, len(lists))
	var few, sizes []uint32
	var many []byte
	for i, l := range lists {
		if l.many == nil {
			lengths[i] = uint32(len(l.few))
			few = append(few, l.few...)
			continue
		}
		b, err := l.many.ToBytes()
		if err != nil {
			w.Fail(err)
			return
		}
		sizes = append(sizes, uint32(len(b)))
		many = append(many, b...)
	}
	w.Uint32s(lengths)
	w.Uint32s(few)
	w.Uint32s(sizes)
	w.Uint8s(many)
}

func (d *dictionary) load(r *snapshot.Reader, end uint64) {
	keys, places := r.Uint8s(), r.Uint32s()
	lengths, few, sizes, many := r.Uint32s(), r.Uint32s(), r.Uint32s(), r.Uint8s()
	if r.Err() != nil {
		return
	}
	if len(keys) != len(places)*len(key{}) {
		r.Fail("%d bytes of keys for %d places", len(keys), len(places))
		return
	}
	if !d.loadLists(lengths, few, sizes, many, end) {
		r.Fail("the lists of ordinals do not fit together")
		return
	}
	d.places = make(map[key]place, len(places))
	used := make([]bool, len(d.lists))
	for i, at := range places {
		d.places[key(keys[i*len(key{}):])] = place(at)
		switch list := at &^ uint32(inList); {
		case place(at)&inList == 0:
			if uint64(at) >= end {
				r.Fail("ordinal %d, want below %d", at, end)
				return
			}
		case int(list) >= len(used) || used[list]:
			r.Fail("list %d of %d is not there, or has two keys", list, len(used))
			return
		default:
			used[list] = true
		}
	}
	if len(d.places) != len(places) || slices.Contains(used, false) {
		r.Fail("a key occurs twice, or a list has none")
	}
}

// loadLists reports whether the lists are what save writes.
func (d *dictionary) loadLists(lengths, few, sizes []uint32, many []byte, end uint64) bool {
	d.lists = make([]list, len(lengths))
	for i, n := range lengths {
		if n > 0 {
			if n < 2 || n > fewMost || int(n) > len(few) {
				return false
			}
			l := few[:n:n]
			few = few[n:]
			for j, ord := range l {
				if uint64(ord) >= end || j > 0 && ord <= l[j-1] {
					return false
				}
			}
			d.lists[i].few = l
			d.bytes += int64(n) * ordBytes
			continue
		}
		if len(sizes) == 0 || int(sizes[0]) > len(many) {
			return false
		}
		b := roaring.New()
		if err := b.UnmarshalBinary(many[:sizes[0]]); err != nil || b.Validate() != nil || b.IsEmpty() || uint64(b.Maximum()) >= end {
			return false
		}
		sizes, many = sizes[1:], many[sizes[0]:]
		d.lists[i].many = &bitmap{Bitmap: b}
		d.bytes += d.lists[i].many.measure(b.Maximum())
	}
	return len(few) == 0 && len(sizes) == 0 && len(many) == 0
}

// save writes all pairs, sorted.
func (o *order) save(w *snapshot.Writer) {
	pairs := slices.Clone(o.fresh)
	slices.SortFunc(pairs, comparePairs)
	for _, run := range slices.Backward(o.runs) {
		pairs = merge(run, pairs)
	}
	high, low, ords := make([]uint64, len(pairs)), make([]uint32, len(pairs)), make([]uint32, len(pairs))
	for i, p := range pairs {
		high[i], low[i], ords[i] = p.high, p.low, p.ord
	}
	w.Uint64s(high)
	w.Uint32s(low)
	w.Uint32s(ords)
}

func (o *order) load(r *snapshot.Reader, end uint64) {
	high, low, ords := r.Uint64s(), r.Uint32s(), r.Uint32s()
	if r.Err() != nil || len(high) == 0 && len(low) == 0 && len(ords) == 0 {
		return
	}
	if len(low) != len(high) || len(ords) != len(high) {
		r.Fail("%d, %d and %d parts of pairs", len(high), len(low), len(ords))
		return
	}
	run := make([]pair, len(high))
	for i := range run {
		run[i] = pair{high[i], low[i], ords[i]}
		if uint64(ords[i]) >= end || i > 0 && comparePairs(run[i-1], run[i]) > 0 {
			r.Fail("pair %d is out of order, or of ordinal %d, want below %d", i, ords[i], end)
			return
		}
	}
	o.runs = [][]pair{run}
}
