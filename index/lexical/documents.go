package lexical

import (
	"encoding/binary"
	"iter"
	"slices"
)

// documents remembers of each document what takes it out again: its length and
// its terms.
type documents struct {
	lengths []uint32 // by ordinal, 0 where there is none; apart, since scores need them
	blocks  []block  // of blockDocuments ordinals each
}

// block holds the terms of consecutive documents, as varints: their number, then
// the distance of each from the one before. Most take a byte or two.
type block struct {
	at    []uint32 // by ordinal in the block: one more than where it begins, or 0
	bytes []byte
	waste int // bytes of documents that were removed
}

// blockDocuments is so few that a block of the largest documents there are is
// shorter than what at can count.
const blockDocuments = 1 << 10

// add remembers document ord, which is not there. Its terms ascend.
func (d *documents) add(ord, length uint32, terms []uint32) {
	if missing := int(ord) + 1 - len(d.lengths); missing > 0 {
		d.lengths = append(d.lengths, make([]uint32, missing)...)
	}
	d.lengths[ord] = length
	if missing := int(ord/blockDocuments) + 1 - len(d.blocks); missing > 0 {
		d.begin(missing)
	}
	b := &d.blocks[ord/blockDocuments]
	place := int(ord % blockDocuments)
	if missing := place + 1 - len(b.at); missing > 0 {
		b.at = append(b.at, make([]uint32, missing)...)
	}
	b.at[place] = uint32(len(b.bytes)) + 1
	b.bytes = binary.AppendUvarint(b.bytes, uint64(len(terms)))
	previous := uint32(0)
	for _, term := range terms {
		b.bytes = binary.AppendUvarint(b.bytes, uint64(term-previous))
		previous = term
	}
}

// begin makes so many more blocks. The one that was last will hardly grow again:
// its bytes move to memory of their size, and where they grew the next ones do.
func (d *documents) begin(missing int) {
	var room []byte
	if last := len(d.blocks) - 1; last >= 0 {
		room = d.blocks[last].bytes
		d.blocks[last].bytes = slices.Clone(room)
	}
	d.blocks = append(d.blocks, make([]block, missing)...)
	d.blocks[len(d.blocks)-1].bytes = room[:0]
}

// terms yields the terms of document ord, which is there.
func (d *documents) terms(ord uint32) iter.Seq[uint32] {
	b := &d.blocks[ord/blockDocuments]
	rest := b.bytes[b.at[ord%blockDocuments]-1:]
	return func(yield func(uint32) bool) {
		n, size := binary.Uvarint(rest)
		term := uint32(0)
		for at := size; n > 0; n-- {
			distance, size := binary.Uvarint(rest[at:])
			at += size
			term += uint32(distance)
			if !yield(term) {
				return
			}
		}
	}
}

// remove forgets document ord, which is there.
func (d *documents) remove(ord uint32) {
	d.lengths[ord] = 0
	b := &d.blocks[ord/blockDocuments]
	place := int(ord % blockDocuments)
	b.waste += b.size(place)
	b.at[place] = 0
	if b.waste <= len(b.bytes)/2 {
		return
	}
	kept := block{at: make([]uint32, len(b.at))}
	for place, at := range b.at {
		if at > 0 {
			kept.at[place] = uint32(len(kept.bytes)) + 1
			kept.bytes = append(kept.bytes, b.bytes[at-1:][:b.size(place)]...)
		}
	}
	if len(kept.bytes) == 0 {
		kept = block{}
	}
	*b = kept
}

// size is how many bytes the document at place takes.
func (b *block) size(place int) int {
	rest := b.bytes[b.at[place]-1:]
	n, size := binary.Uvarint(rest)
	for ; n > 0; n-- {
		_, one := binary.Uvarint(rest[size:])
		size += one
	}
	return size
}

func (d *documents) memoryBytes() int64 {
	const blockBytes = 56
	bytes := 4*int64(cap(d.lengths)) + blockBytes*int64(cap(d.blocks))
	for i := range d.blocks {
		bytes += int64(cap(d.blocks[i].bytes)) + 4*int64(cap(d.blocks[i].at))
	}
	return bytes
}
