package filter

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/braid-search/braid"
)

// key stands for a field that exists, or for a value of a field.
type key [16]byte

func existsKey(field string) key { return hashKey(field, 0, "") }

// valueKey is the key of a keyword or boolean.
func valueKey(field string, v braid.Value) key {
	text := v.Text()
	if v.Kind() == braid.Boolean {
		text = strconv.FormatBool(v.Bool())
	}
	return hashKey(field, v.Kind(), text)
}

func hashKey(field string, kind braid.Kind, text string) key {
	b := make([]byte, 0, 128)
	b = binary.AppendUvarint(b, uint64(len(field)))
	b = append(b, field...)
	b = append(b, byte(kind))
	b = append(b, text...)
	sum := sha256.Sum256(b)
	return key(sum[:len(key{})])
}

// fewMost is the largest number of ordinals that are kept as an array. A bitmap
// of as many takes as much memory, since it has some 50 bytes for each 65,536
// ordinals that it has one of.
const fewMost = 512

// dictionary leads from keys to ordinals.
type dictionary struct {
	places map[key]place
	lists  []list
	unused []uint32 // indexes of lists that no key has
	bytes  int64    // of what lists refer to
}

// place is where the ordinals of a key are: a single one is here itself, more
// are in the list whose index follows the topmost bit.
type place uint32

const inList place = 1 << 31

// list holds the ordinals of a key, as an array or as a bitmap.
type list struct {
	few  []uint32 // ascending, 2 to fewMost; nil when there are many
	many *bitmap
}

// bitmap knows its size as of the time when it came to its newest container,
// which is 8 KiB at most.
type bitmap struct {
	*roaring.Bitmap
	newest uint32 // container, that is ordinal / 65,536
	bytes  int64
}

// add puts ord under k. It takes least when no other is above ord.
func (d *dictionary) add(k key, ord uint32) {
	at, ok := d.places[k]
	switch {
	case !ok:
		d.places[k] = place(ord)
	case at&inList != 0:
		d.bytes += d.lists[at&^inList].add(ord)
	case uint32(at) != ord:
		d.places[k] = inList | d.unusedList()
		d.lists[d.places[k]&^inList].few = []uint32{min(uint32(at), ord), max(uint32(at), ord)}
		d.bytes += 2 * ordBytes
	}
}

// unusedList returns the index of an empty list that no key has.
func (d *dictionary) unusedList() place {
	if n := len(d.unused); n > 0 {
		at := d.unused[n-1]
		d.unused = d.unused[:n-1]
		return place(at)
	}
	d.lists = append(d.lists, list{})
	return place(len(d.lists) - 1)
}

// remove takes ord from under k, if it is there.
func (d *dictionary) remove(k key, ord uint32) {
	at, ok := d.places[k]
	if !ok {
		return
	}
	if at&inList == 0 {
		if uint32(at) == ord {
			delete(d.places, k)
		}
		return
	}
	n := uint32(at &^ inList)
	l := &d.lists[n]
	l.remove(ord)
	switch {
	case len(l.few) == 1:
		d.places[k] = place(l.few[0])
	case l.many != nil && l.many.IsEmpty():
		delete(d.places, k)
	default:
		return
	}
	d.bytes -= l.bytes()
	*l = list{}
	d.unused = append(d.unused, n)
}

// add puts ord into the list and returns how many bytes that took.
func (l *list) add(ord uint32) int64 {
	if l.many != nil {
		l.many.Add(ord)
		if ord>>16 != l.many.newest {
			return l.many.measure(ord)
		}
		return 0
	}
	at := len(l.few)
	if l.few[at-1] >= ord {
		var there bool
		if at, there = slices.BinarySearch(l.few, ord); there {
			return 0
		}
	}
	before := l.bytes()
	l.few = slices.Insert(l.few, at, ord)
	if len(l.few) <= fewMost {
		return l.bytes() - before
	}
	l.many, l.few = &bitmap{Bitmap: roaring.BitmapOf(l.few...)}, nil
	return l.many.measure(ord) - before
}

// remove takes ord out of the list, if it is there. A bitmap stays one.
func (l *list) remove(ord uint32) {
	if l.many != nil {
		l.many.Remove(ord)
		return
	}
	if at, there := slices.BinarySearch(l.few, ord); there {
		l.few = slices.Delete(l.few, at, at+1)
	}
}

// bytes is what the list refers to, as far as it is known.
func (l *list) bytes() int64 {
	if l.many != nil {
		return l.many.bytes
	}
	return int64(cap(l.few)) * ordBytes
}

// measure returns how much larger the bitmap is than when it was last measured.
func (b *bitmap) measure(ord uint32) int64 {
	const emptyBytes, containerBytes = 100, 50
	before := b.bytes
	b.newest = ord >> 16
	b.bytes = emptyBytes + int64(b.Stats().Containers)*containerBytes + int64(b.GetSizeInBytes())
	return b.bytes - before
}

// get returns the ordinals under k, none if k is not there: a list or, where
// single is true, one ordinal.
func (d *dictionary) get(k key) (l list, ord uint32, single bool) {
	at, ok := d.places[k]
	switch {
	case !ok:
		return list{}, 0, false
	case at&inList == 0:
		return list{}, uint32(at), true
	}
	return d.lists[at&^inList], 0, false
}

const ordBytes = 4

// memoryBytes estimates: a map of Go takes its slots and a byte each, and on
// average three fifths of them are in use.
func (d *dictionary) memoryBytes() int64 {
	const slotBytes, listBytes = 16 + 4 + 1, 32
	return int64(len(d.places))*slotBytes*5/3 + int64(cap(d.lists))*listBytes + d.bytes
}
