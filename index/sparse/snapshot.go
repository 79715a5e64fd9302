package sparse

import (
	"encoding/binary"
	"math"

	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the vectors. It only reads the index.
func (p *Postings) Save(w *snapshot.Writer) {
	w.Uint64(math.Float64bits(p.top))
	p.index.Save(w)
}

// Load reads what Save has written, an index whose ordinals are all below end.
// It fails with r's error, or with braid.Corrupt when what was read is not such
// an index.
func Load(r *snapshot.Reader, end uint64) (*Postings, error) {
	p := &Postings{top: math.Float64frombits(r.Uint64())}
	if fraction, _ := math.Frexp(p.top); fraction != 0.5 && p.top != 0 {
		r.Fail("the largest weight is given as %v, want a power of two", p.top)
	}
	var err error
	p.index, err = postings.Load(r, end, p.decode)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// decode is a postings.Decode.
func (p *Postings) decode(record []byte, indices []uint32, codes []uint8) ([]uint32, []uint8, bool) {
	n, at := binary.Uvarint(record)
	if at <= 0 || n == 0 || n > uint64(len(record)-at)/5 { // a byte at least for an index, four for its weight
		return nil, nil, false
	}
	weights := record[len(record)-4*int(n):]
	record = record[:len(record)-len(weights)]
	previous := uint64(0)
	for i := range n {
		distance, size := binary.Uvarint(record[at:])
		index := previous + distance
		w := math.Float32frombits(binary.LittleEndian.Uint32(weights[4*i:]))
		if size <= 0 || i > 0 && distance == 0 || distance > math.MaxUint32 || index > math.MaxUint32 || !(w > 0) || float64(w) > p.top {
			return nil, nil, false
		}
		at += size
		previous = index
		indices, codes = append(indices, uint32(index)), append(codes, code(w, p.top))
	}
	return indices, codes, at == len(record)
}
