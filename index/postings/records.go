package postings

import (
	"encoding/binary"
	"iter"
	"slices"
)

// chunkBytes is how much memory records are given at a time: little enough that
// none of it is ever copied to grow.
const chunkBytes = 1 << 20

// records holds the records of a window, each after its length.
type records struct {
	chunks [][]byte
	// at says by offset where a record begins: 0 is nowhere, else one more than
	// the chunk in the upper half and the byte in the lower.
	at []uint64
}

// put stores a copy of record under offset.
func (r *records) put(offset uint32, record []byte) {
	need := binary.MaxVarintLen64 + len(record)
	last := len(r.chunks) - 1
	switch {
	case last < 0:
		r.chunks = append(r.chunks, nil) // of a small index: grows as it needs
		last = 0
	case len(r.chunks[last])+need > chunkBytes:
		r.chunks = append(r.chunks, make([]byte, 0, max(need, chunkBytes)))
		last++
	}
	if missing := int(offset) + 1 - len(r.at); missing > 0 {
		r.at = append(r.at, make([]uint64, missing)...)
	}
	r.at[offset] = 1 + uint64(last)<<32 + uint64(len(r.chunks[last]))
	chunk := binary.AppendUvarint(r.chunks[last], uint64(len(record)))
	r.chunks[last] = append(chunk, record...)
}

// known reports whether there is a record under offset, of a document that is
// live or not.
func (r *records) known(offset uint32) bool {
	return int(offset) < len(r.at) && r.at[offset] != 0
}

// get returns the record under offset, which is known.
func (r *records) get(offset uint32) []byte {
	at := r.at[offset] - 1
	rest := r.chunks[at>>32][uint32(at):]
	size, n := binary.Uvarint(rest)
	return rest[n : n+int(size)]
}

// keep forgets all records but those of offsets.
func (r *records) keep(offsets iter.Seq[uint32]) {
	var kept records
	for offset := range offsets {
		kept.put(offset, r.get(offset))
	}
	kept.at = slices.Clip(kept.at)
	*r = kept
}

func (r *records) memoryBytes() int64 {
	bytes := 8 * int64(cap(r.at))
	for _, chunk := range r.chunks {
		bytes += int64(cap(chunk))
	}
	return bytes
}
