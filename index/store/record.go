package store

import (
	"encoding/binary"
	"math"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// recordFormat is the first byte of every record. A record with another number
// was written by another version of this package.
const recordFormat = 1

// A record of format 1 is, after the format byte:
//
//	fingerprint  32 bytes
//	title, text, payload  each a uvarint length and its bytes
//	dense        uvarint count, count float32
//	sparse       uvarint count, count uvarint steps between indices, count float32
//	tokens       uvarint 0 for nil, else count+1 and count uvarints
//
// float32 are little-endian. The id is the key. There is no checksum of its
// own: pebble checks each block of a table and each record of its log.

// appendRecord appends e, which is valid, to b.
func appendRecord(b []byte, e index.Entry) []byte {
	b = append(b, recordFormat)
	b = append(b, e.Fingerprint[:]...)
	b = appendBytes(b, e.Document.Title)
	b = appendBytes(b, e.Document.Text)
	b = appendBytes(b, string(e.Document.Payload))
	b = binary.AppendUvarint(b, uint64(len(e.Dense)))
	b = appendFloats(b, e.Dense)
	b = binary.AppendUvarint(b, uint64(len(e.Sparse.Indices)))
	previous := uint32(0)
	for _, i := range e.Sparse.Indices {
		b = binary.AppendUvarint(b, uint64(i-previous))
		previous = i
	}
	b = appendFloats(b, e.Sparse.Values)
	if e.Tokens == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Tokens))+1)
	for _, t := range e.Tokens {
		b = binary.AppendUvarint(b, uint64(t))
	}
	return b
}

func appendBytes(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendFloats(b []byte, floats []float32) []byte {
	for _, f := range floats {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// decodeRecord reads what appendRecord wrote for the document called id. The
// entry shares no memory with record. Any record is safe to read: one of another
// format is braid.Conflict, one that is not whole braid.Corrupt.
func decodeRecord(id string, record []byte) (index.Entry, error) {
	switch {
	case len(record) == 0:
		return index.Entry{}, braid.Errorf(braid.Corrupt, "record of document %q is empty", id)
	case record[0] != recordFormat:
		return index.Entry{}, braid.Errorf(braid.Conflict, "record of document %q has format %d, this version reads %d: use the version that wrote it", id, record[0], recordFormat)
	}
	d := decoder{rest: record[1:]}
	e := index.Entry{Document: braid.Document{ID: id}}
	copy(e.Fingerprint[:], d.take(uint64(len(e.Fingerprint))))
	e.Document.Title = string(d.bytes())
	e.Document.Text = string(d.bytes())
	if payload := d.bytes(); len(payload) > 0 {
		e.Document.Payload = append([]byte(nil), payload...)
	}
	e.Dense = d.floats(d.uvarint())
	n := d.uvarint()
	e.Sparse.Indices = d.ascending(n)
	e.Sparse.Values = d.floats(n)
	if n := d.uvarint(); n > 0 {
		e.Tokens = d.uint32s(n - 1)
	}
	if d.broken || len(d.rest) > 0 {
		return index.Entry{}, braid.Errorf(braid.Corrupt, "record of document %q is damaged (%d bytes): restore the data folder from a backup", id, len(record))
	}
	return e, nil
}

// decoder reads a record front to back. Once broken it returns zero values.
type decoder struct {
	rest   []byte
	broken bool
}

// take returns the next n bytes of the record itself.
func (d *decoder) take(n uint64) []byte {
	if d.broken || n > uint64(len(d.rest)) {
		d.broken = true
		return nil
	}
	taken := d.rest[:n]
	d.rest = d.rest[n:]
	return taken
}

func (d *decoder) uvarint() uint64 {
	if d.broken {
		return 0
	}
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.broken = true
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) bytes() []byte { return d.take(d.uvarint()) }

// floats reads n float32, nil for none.
func (d *decoder) floats(n uint64) []float32 {
	if n > uint64(len(d.rest))/4 {
		d.broken = true
	}
	raw := d.take(4 * n)
	if len(raw) == 0 {
		return nil
	}
	floats := make([]float32, n)
	for i := range floats {
		floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return floats
}

// uint32s reads n uvarints. Each takes a byte at least, which bounds n before
// anything is allocated.
func (d *decoder) uint32s(n uint64) []uint32 {
	if n > uint64(len(d.rest)) {
		d.broken = true
	}
	if d.broken {
		return nil
	}
	values := make([]uint32, n)
	for i := range values {
		v := d.uvarint()
		d.broken = d.broken || v > math.MaxUint32
		values[i] = uint32(v)
	}
	return values
}

// ascending reads n steps and returns their running sums, nil for none.
func (d *decoder) ascending(n uint64) []uint32 {
	if n == 0 {
		return nil
	}
	values := d.uint32s(n)
	for i := 1; i < len(values); i++ {
		sum := values[i] + values[i-1]
		d.broken = d.broken || sum <= values[i-1]
		values[i] = sum
	}
	return values
}
