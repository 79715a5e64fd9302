package lexical

import (
	"encoding/binary"
	"math"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the index: the version of the analyser, the terms by number and
// the documents. It only reads the index.
func (x *Index) Save(w *snapshot.Writer) {
	w.Uint64(AnalyzerVersion)
	w.Strings(x.terms.names)
	x.index.Save(w)
}

// Load reads what Save has written, an index whose ordinals are all below end.
// It fails with r's error, with braid.Conflict when another version of the
// analyser made the terms, and with braid.Corrupt when what was read is not such
// an index.
func Load(r *snapshot.Reader, end uint64, opts Options) (*Index, error) {
	version := r.Uint64()
	if r.Err() == nil && version != AnalyzerVersion {
		return nil, braid.Errorf(braid.Conflict, "the terms were made by version %d of the analyser, this program has %d: analyse the texts again", version, AnalyzerVersion)
	}
	x := New(opts)
	x.terms.names = r.Strings()
	if err := r.Err(); err != nil {
		return nil, err
	}
	var err error
	if x.index, err = postings.Load(r, end, x.decode); err != nil {
		return nil, err
	}
	x.terms.holders = make([]uint32, len(x.terms.names))
	for term, documents := range x.index.Counts() {
		x.terms.holders[term] += uint32(documents)
	}
	if !x.terms.restore() {
		r.Fail("the names of terms are not those of the terms that documents hold")
		return nil, r.Err()
	}
	for record := range x.index.Records() {
		x.length += uint64(read(record).length)
	}
	return x, nil
}

// restore fills in what follows from names and holders. It reports whether the
// terms with holders have different names and the others none.
func (d *dictionary) restore() bool {
	for n, name := range d.names {
		if (name == "") != (d.holders[n] == 0) {
			return false
		}
		if name == "" {
			d.free = append(d.free, uint32(n))
			continue
		}
		d.numbers[name] = uint32(n)
		d.bytes += int64(len(name))
	}
	return len(d.numbers)+len(d.free) == len(d.names)
}

// decode is a postings.Decode.
func (x *Index) decode(record []byte, terms []uint32, codes []uint8) ([]uint32, []uint8, bool) {
	length, at := binary.Uvarint(record)
	if at <= 0 || length > math.MaxUint32 || length == 0 && len(record) > at {
		return nil, nil, false
	}
	term := uint64(0)
	for first := true; at < len(record); first = false {
		distance, size := binary.Uvarint(record[at:])
		if size <= 0 {
			return nil, nil, false
		}
		at += size
		frequency := uint64(1)
		if distance&1 != 0 {
			if frequency, size = binary.Uvarint(record[at:]); size <= 0 || frequency < 2 || frequency > math.MaxUint16 {
				return nil, nil, false
			}
			at += size
		}
		distance >>= 1
		if distance == 0 && !first || distance >= uint64(len(x.terms.names)) || term+distance >= uint64(len(x.terms.names)) {
			return nil, nil, false
		}
		term += distance
		terms, codes = append(terms, uint32(term)), append(codes, code(uint16(frequency), uint32(length)))
	}
	return terms, codes, true
}
