package sparse

import (
	"encoding/binary"
	"math"

	"github.com/braid-search/braid"
)

// A vector's record is the number of its indices, the distance of each from the
// one before, all as varints, and then the weights, four bytes each. Most of
// what a search reads of it is the distances.

func appendRecord(record []byte, v braid.SparseVector) []byte {
	record = binary.AppendUvarint(record, uint64(len(v.Indices)))
	previous := uint32(0)
	for _, index := range v.Indices {
		record = binary.AppendUvarint(record, uint64(index-previous))
		previous = index
	}
	for _, w := range v.Values {
		record = binary.LittleEndian.AppendUint32(record, math.Float32bits(w))
	}
	return record
}

// product returns the inner product of query and the vector of a record, summed
// up by ascending index.
func product(query braid.SparseVector, record []byte) float64 {
	n, at := binary.Uvarint(record)
	weights := record[len(record)-4*int(n):]
	indices, values := query.Indices, query.Values
	var index uint32
	var sum float64
	for ; len(weights) > 0; weights = weights[4:] {
		// Two thirds of the distances take one byte.
		distance := uint32(record[at])
		at++
		if distance >= 0x80 {
			rest, size := binary.Uvarint(record[at-1:])
			distance, at = uint32(rest), at-1+size
		}
		index += distance
		for len(indices) > 0 && indices[0] < index {
			indices, values = indices[1:], values[1:]
		}
		if len(indices) == 0 {
			break
		}
		if indices[0] == index {
			w := math.Float32frombits(binary.LittleEndian.Uint32(weights))
			sum += float64(values[0]) * float64(w)
		}
	}
	return sum
}
