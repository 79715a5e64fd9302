package store

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// The first byte of a record is its format. A record with another number was
// written by another version of this package.
const (
	formatWhole  = 1 // a document that is not split, of no format
	formatSplit  = 2 // any other
	newestFormat = formatSplit
)

// A record of format 1 is, after the format byte:
//
//	fingerprint  32 bytes
//	title, text, payload  each a uvarint length and its bytes
//	encodings:
//	  dense   uvarint count, count float32
//	  sparse  uvarint count, count uvarint steps between indices, count float32
//	  tokens  uvarint 0 for nil, else count+1 and count uvarints
//
// and of format 2:
//
//	fingerprint  32 bytes
//	title, text, payload, format  each a uvarint length and its bytes
//	passages     uvarint count, and of each:
//	  start    uvarint, in the document's text
//	  length   uvarint
//	  section  uvarint length and its bytes
//	  own      uvarint length and its bytes
//	  tail     1 when the passage's text goes on after own with what stands
//	           between start and its end, else 0
//	  encodings as above
//
// float32 are little-endian. The id is the key. There is no checksum of its
// own: pebble checks each block of a table and each record of its log.

// appendRecord appends e, which is valid, to b.
func appendRecord(b []byte, e index.Entry) []byte {
	d := e.Document
	split := e.Split() || d.Format != ""
	if split {
		b = append(b, formatSplit)
	} else {
		b = append(b, formatWhole)
	}
	b = append(b, e.Fingerprint[:]...)
	b = appendBytes(b, d.Title)
	b = appendBytes(b, d.Text)
	b = appendBytes(b, string(d.Payload))
	if !split {
		return appendEncodings(b, e.Passages[0])
	}
	b = appendBytes(b, string(d.Format))
	b = binary.AppendUvarint(b, uint64(len(e.Passages)))
	for _, p := range e.Passages {
		b = binary.AppendUvarint(b, uint64(p.Start))
		b = binary.AppendUvarint(b, uint64(p.End-p.Start))
		b = appendBytes(b, p.Section)
		own, cut := p.Text, false
		if p.End > p.Start {
			own, cut = strings.CutSuffix(p.Text, d.Text[p.Start:p.End])
		}
		b = appendBytes(b, own)
		if cut {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		b = appendEncodings(b, p)
	}
	return b
}

func appendEncodings(b []byte, p index.Passage) []byte {
	b = binary.AppendUvarint(b, uint64(len(p.Dense)))
	b = appendFloats(b, p.Dense)
	b = binary.AppendUvarint(b, uint64(len(p.Sparse.Indices)))
	previous := uint32(0)
	for _, i := range p.Sparse.Indices {
		b = binary.AppendUvarint(b, uint64(i-previous))
		previous = i
	}
	b = appendFloats(b, p.Sparse.Values)
	if p.Tokens == nil {
		return binary.AppendUvarint(b, 0)
	}
	b = binary.AppendUvarint(b, uint64(len(p.Tokens))+1)
	for _, t := range p.Tokens {
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

// decodeRecord reads what appendRecord wrote for the document called id, without
// its vectors if they are not wanted. The entry shares no memory with record. Any
// record is safe to read: one of another format is braid.Conflict, one that is not
// whole braid.Corrupt.
func decodeRecord(id string, record []byte, vectors bool) (index.Entry, error) {
	switch {
	case len(record) == 0:
		return index.Entry{}, braid.Errorf(braid.Corrupt, "record of document %q is empty", id)
	case record[0] < formatWhole || record[0] > newestFormat:
		return index.Entry{}, braid.Errorf(braid.Conflict, "record of document %q has format %d, this version reads 1 to %d: use the version that wrote it", id, record[0], newestFormat)
	}
	d := decoder{rest: record[1:], vectors: vectors}
	e := index.Entry{Document: braid.Document{ID: id}}
	copy(e.Fingerprint[:], d.take(uint64(len(e.Fingerprint))))
	e.Document.Title = string(d.bytes())
	e.Document.Text = string(d.bytes())
	if payload := d.bytes(); len(payload) > 0 {
		e.Document.Payload = append([]byte(nil), payload...)
	}
	if record[0] == formatWhole {
		e.Passages = make([]index.Passage, 1)
		d.encodings(&e.Passages[0])
	} else {
		e.Document.Format = braid.Format(d.bytes())
		e.Passages = d.passages(e.Document.Text)
	}
	if d.broken || len(d.rest) > 0 {
		return index.Entry{}, braid.Errorf(braid.Corrupt, "record of document %q is damaged (%d bytes): restore the data folder from a backup", id, len(record))
	}
	return e, nil
}

// passagesIn counts the passages in a record, without a look at what they are; a
// record that cannot be read has none.
func passagesIn(record []byte) int {
	switch {
	case len(record) == 0:
		return 0
	case record[0] == formatWhole:
		return 1
	}
	d := decoder{rest: record[1:]}
	d.take(uint64(len(index.Entry{}.Fingerprint)))
	for range 4 { // title, text, payload, format
		d.bytes()
	}
	return int(min(d.uvarint(), index.MaxPassages))
}

// passages reads the passages of a document with the given text.
func (d *decoder) passages(text string) []index.Passage {
	n := d.uvarint()
	if n < 1 || n > index.MaxPassages {
		d.broken = true
		return nil
	}
	var passages []index.Passage
	for range n {
		start, length := d.uvarint(), d.uvarint()
		if start > uint64(len(text)) || length > uint64(len(text))-start {
			d.broken = true
		}
		p := index.Passage{Section: string(d.bytes()), Text: string(d.bytes())}
		tail := d.take(1)
		if d.broken || tail[0] > 1 {
			d.broken = true
			return nil
		}
		p.Start, p.End = int(start), int(start+length)
		switch body := text[p.Start:p.End]; {
		case tail[0] == 0:
		case p.Text == "":
			p.Text = body // shared with the document's
		default:
			p.Text += body
		}
		d.encodings(&p)
		passages = append(passages, p)
	}
	return passages
}

func (d *decoder) encodings(p *index.Passage) {
	dense, n := d.floats(d.uvarint()), d.uvarint()
	indices := d.ascending(n)
	values := d.floats(n)
	if d.vectors {
		p.Dense, p.Sparse = dense, braid.SparseVector{Indices: indices, Values: values}
	}
	if n := d.uvarint(); n > 0 {
		p.Tokens = d.uint32s(n - 1)
	}
}

// decoder reads a record front to back. Once broken it returns zero values.
type decoder struct {
	rest    []byte
	broken  bool
	vectors bool // whether they are wanted
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
	if len(raw) == 0 || !d.vectors {
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
