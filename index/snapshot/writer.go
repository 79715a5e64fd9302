package snapshot

import (
	"encoding/binary"
	"io"
	"slices"
	"unsafe"
)

// Writer writes one stream. It is not safe for concurrent use.
type Writer struct {
	w       io.Writer
	section uint64
	written int64
	err     error
}

// NewWriter starts a stream on w. Arrays go to w as they are, in calls of any
// size: give it a buffer when there are many small ones. kind names what is
// written, and version, at least 1, its form.
func NewWriter(w io.Writer, kind string, version uint64) *Writer {
	s := &Writer{w: w}
	s.put([]byte(magic))
	writeSection(s, typeHeader, []byte(kind))
	s.Uint64(version)
	return s
}

// Uint8s writes v.
func (s *Writer) Uint8s(v []byte) { writeSection(s, typeUint8, v) }

// Int8s writes v.
func (s *Writer) Int8s(v []int8) { writeSection(s, typeInt8, v) }

// Uint16s writes v.
func (s *Writer) Uint16s(v []uint16) { writeSection(s, typeUint16, v) }

// Uint32s writes v.
func (s *Writer) Uint32s(v []uint32) { writeSection(s, typeUint32, v) }

// Uint64s writes v.
func (s *Writer) Uint64s(v []uint64) { writeSection(s, typeUint64, v) }

// Float32s writes v.
func (s *Writer) Float32s(v []float32) { writeSection(s, typeFloat32, v) }

// Uint64 writes an array of one.
func (s *Writer) Uint64(v uint64) { s.Uint64s([]uint64{v}) }

// Strings writes v, which is at most 4 GiB long together, as two arrays.
func (s *Writer) Strings(v []string) {
	ends := make([]uint32, len(v))
	total := 0
	for i, text := range v {
		total += len(text)
		ends[i] = uint32(total)
	}
	all := make([]byte, 0, total)
	for _, text := range v {
		all = append(all, text...)
	}
	s.Uint32s(ends)
	s.Uint8s(all)
}

// Err returns the first error of the underlying writer, or nil.
func (s *Writer) Err() error { return s.err }

// Fail makes err the Writer's error, unless it has one: what was to be written
// cannot be.
func (s *Writer) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// Written returns the number of bytes written.
func (s *Writer) Written() int64 { return s.written }

// Close ends the stream and returns Err. It does not close the underlying
// writer.
func (s *Writer) Close() error {
	writeSection[uint8](s, typeEnd, nil)
	return s.err
}

func writeSection[T number](s *Writer, kind byte, v []T) {
	head := binary.LittleEndian.AppendUint64([]byte{kind}, uint64(len(v)))
	body := asBytes(v)
	if size := int(unsafe.Sizeof(*new(T))); size > 1 && !littleEndian() {
		body = slices.Clone(body)
		swap(body, size)
	}
	sum := startSum(s.section, head)
	_, _ = sum.Write(body)
	s.section++
	s.put(head)
	s.put(body)
	s.put(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
}

func (s *Writer) put(b []byte) {
	if s.err != nil {
		return
	}
	n, err := s.w.Write(b)
	s.written += int64(n)
	s.err = err
}
