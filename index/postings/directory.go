package postings

import (
	"math/bits"
	"slices"
)

// directory finds terms among ascending ones. Terms are small numbers, most of
// them taken: a bit each, and for every 64 how many come before them, so that a
// search reads one line of memory where halving the terms reads ten.
type directory []block

type block struct {
	has    uint64 // the terms there are of these 64, one bit each
	before uint32 // the terms of the blocks before
}

// A directory takes no more than blocksATerm blocks for each of its terms.
// Larger numbers with wide gaps have none.
const blocksATerm = 4

// newDirectory returns the directory of terms, which ascend; nil if they are too
// far apart.
func newDirectory(terms []uint32) directory {
	if len(terms) == 0 {
		return nil
	}
	blocks := int(terms[len(terms)-1]/64) + 1
	if blocks > blocksATerm*len(terms) {
		return nil
	}
	d := make(directory, blocks)
	for _, term := range terms {
		d[term/64].has |= 1 << (term % 64)
	}
	before := 0
	for i := range d {
		d[i].before = uint32(before)
		before += bits.OnesCount64(d[i].has)
	}
	return d
}

// find returns the place of term among terms, those d was made of.
func (d directory) find(terms []uint32, term uint32) (place int, ok bool) {
	if d == nil {
		return slices.BinarySearch(terms, term)
	}
	if int(term/64) >= len(d) {
		return 0, false
	}
	b, bit := d[term/64], uint64(1)<<(term%64)
	if b.has&bit == 0 {
		return 0, false
	}
	return int(b.before) + bits.OnesCount64(b.has&(bit-1)), true
}
