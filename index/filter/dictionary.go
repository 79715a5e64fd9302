package filter

import (
	"crypto/sha256"
	"encoding/binary"
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
	bytes  int64 // of what lists refer to
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

// add puts ord, which is not below any other, under k.
func (d *dictionary) add(k key, ord uint32) {
	at, ok := d.places[k]
	switch {
	case !ok:
		d.places[k] = place(ord)
	case at&inList != 0:
		d.bytes += d.lists[at&^inList].add(ord)
	case uint32(at) != ord:
		d.places[k] = inList | place(len(d.lists))
		d.lists = append(d.lists, list{few: []uint32{uint32(at), ord}})
		d.bytes += 2 * ordBytes
	}
}

// add puts ord into the list and returns how many bytes that took.
func (l *list) add(ord uint32) int64 {
	switch {
	case l.many != nil:
		l.many.Add(ord)
		if ord>>16 != l.many.newest {
			return l.many.measure(ord)
		}
	case l.few[len(l.few)-1] == ord:
	case len(l.few) < fewMost:
		before := cap(l.few)
		l.few = append(l.few, ord)
		return int64(cap(l.few)-before) * ordBytes
	default:
		before := int64(cap(l.few)) * ordBytes
		l.many, l.few = &bitmap{Bitmap: roaring.BitmapOf(append(l.few, ord)...)}, nil
		return l.many.measure(ord) - before
	}
	return 0
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
