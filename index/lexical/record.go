package lexical

import "encoding/binary"

// A document's record is its length and then, for each of its terms by number,
// the distance from the one before with a bit that says whether the document
// holds the term more than once, and if so how often. All are varints; most
// terms take one byte or two.

// recordWriter makes a record.
type recordWriter struct {
	bytes    []byte
	previous uint32
}

func startRecord(buf []byte, length uint32) recordWriter {
	return recordWriter{bytes: binary.AppendUvarint(buf, uint64(length))}
}

// add adds a term above those added before.
func (w *recordWriter) add(term uint32, frequency uint16) {
	distance := uint64(term-w.previous) << 1
	w.previous = term
	if frequency == 1 {
		w.bytes = binary.AppendUvarint(w.bytes, distance)
		return
	}
	w.bytes = binary.AppendUvarint(w.bytes, distance|1)
	w.bytes = binary.AppendUvarint(w.bytes, uint64(frequency))
}

// recordReader reads a record term by term.
type recordReader struct {
	rest      []byte
	length    uint32
	term      uint32
	frequency uint16
}

func read(record []byte) recordReader {
	length, n := binary.Uvarint(record)
	return recordReader{rest: record[n:], length: uint32(length)}
}

// next goes to the next term; false means that there is none.
func (r *recordReader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	distance := r.number()
	r.term += uint32(distance >> 1)
	r.frequency = 1
	if distance&1 != 0 {
		r.frequency = uint16(r.number())
	}
	return true
}

func (r *recordReader) number() uint64 {
	if b := r.rest[0]; b < 0x80 {
		r.rest = r.rest[1:]
		return uint64(b)
	}
	v, n := binary.Uvarint(r.rest)
	r.rest = r.rest[n:]
	return v
}
