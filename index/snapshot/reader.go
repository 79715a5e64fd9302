package snapshot

import (
	"encoding/binary"
	"errors"
	"io"
	"unsafe"

	"github.com/braid-search/braid"
)

// Reader reads one stream. It is not safe for concurrent use.
type Reader struct {
	r       io.Reader
	left    int64 // bytes that may follow
	section uint64
	version uint64
	err     error
}

// NewReader starts to read a stream of the given kind from r, which holds size
// bytes: no array is allocated that could not be in them. Versions above newest
// are refused.
func NewReader(r io.Reader, size int64, kind string, newest uint64) *Reader {
	s := &Reader{r: r, left: size}
	start := make([]byte, len(magic))
	s.take(start)
	if s.err == nil && string(start) != magic {
		s.err = braid.Errorf(braid.Corrupt, "not a snapshot: it begins with %q", start)
	}
	found := readSection[uint8](s, typeHeader)
	s.version = s.Uint64()
	switch {
	case s.err != nil:
	case string(found) != kind:
		s.err = braid.Errorf(braid.Conflict, "a snapshot of kind %.40q, want %q", found, kind)
	case s.version < 1 || s.version > newest:
		s.err = braid.Errorf(braid.Conflict, "a snapshot of %q in version %d, this program reads 1 to %d", kind, s.version, newest)
	}
	return s
}

// Version returns the version of what is read.
func (s *Reader) Version() uint64 { return s.version }

// Uint8s returns the next array; it is the caller's.
func (s *Reader) Uint8s() []byte { return readSection[uint8](s, typeUint8) }

// Int8s returns the next array; it is the caller's.
func (s *Reader) Int8s() []int8 { return readSection[int8](s, typeInt8) }

// Uint16s returns the next array; it is the caller's.
func (s *Reader) Uint16s() []uint16 { return readSection[uint16](s, typeUint16) }

// Uint32s returns the next array; it is the caller's.
func (s *Reader) Uint32s() []uint32 { return readSection[uint32](s, typeUint32) }

// Uint64s returns the next array; it is the caller's.
func (s *Reader) Uint64s() []uint64 { return readSection[uint64](s, typeUint64) }

// Float32s returns the next array; it is the caller's.
func (s *Reader) Float32s() []float32 { return readSection[float32](s, typeFloat32) }

// Uint64 returns the one element of the next array.
func (s *Reader) Uint64() uint64 {
	v := s.Uint64s()
	if s.err == nil && len(v) != 1 {
		s.Fail("an array of %d numbers, want 1", len(v))
	}
	if s.err != nil {
		return 0
	}
	return v[0]
}

// Strings returns the next strings. They share one piece of memory.
func (s *Reader) Strings() []string {
	ends := s.Uint32s()
	all := s.Uint8s()
	if s.err != nil {
		return nil
	}
	texts := make([]string, len(ends))
	start := uint32(0)
	for i, end := range ends {
		if end < start || int(end) > len(all) {
			s.Fail("string %d of %d ends at byte %d, want %d to %d", i, len(ends), end, start, len(all))
			return nil
		}
		if end > start {
			texts[i] = unsafe.String(&all[start], end-start)
		}
		start = end
	}
	if int(start) != len(all) {
		s.Fail("%d bytes belong to no string", len(all)-int(start))
		return nil
	}
	return texts
}

// Err returns the first error, or nil.
func (s *Reader) Err() error { return s.err }

// Fail records that what was read makes no sense, as braid.Corrupt, unless
// there is an error already.
func (s *Reader) Fail(format string, args ...any) {
	if s.err == nil {
		s.err = braid.Errorf(braid.Corrupt, format, args...)
	}
}

// Close checks that the stream ends here, and returns Err.
func (s *Reader) Close() error {
	if end := readSection[uint8](s, typeEnd); s.err == nil && (len(end) > 0 || s.left > 0) {
		s.Fail("%d bytes follow the end", int64(len(end))+s.left)
	}
	return s.err
}

func readSection[T number](s *Reader, kind byte) []T {
	var head [sectionHead]byte
	s.take(head[:])
	if s.err != nil {
		return nil
	}
	size := int64(unsafe.Sizeof(*new(T)))
	count := binary.LittleEndian.Uint64(head[1:])
	if head[0] != kind {
		s.Fail("section %d has type %d, want %d", s.section, head[0], kind)
		return nil
	}
	if s.left < sumBytes || count > uint64((s.left-sumBytes)/size) {
		s.Fail("section %d claims %d elements of %d bytes, %d bytes are left", s.section, count, size, s.left)
		return nil
	}
	v := make([]T, count)
	body := asBytes(v)
	sum := startSum(s.section, head[:])
	// A piece at a time, which is summed while it is in the processor's cache.
	for piece := range pieces(body) {
		s.take(piece)
		_, _ = sum.Write(piece)
	}
	var want [sumBytes]byte
	s.take(want[:])
	if s.err == nil && binary.LittleEndian.Uint64(want[:]) != sum.Sum64() {
		s.Fail("section %d is not as it was written: its checksum differs", s.section)
	}
	if s.err != nil {
		return nil
	}
	if size > 1 && !littleEndian() {
		swap(body, int(size))
	}
	s.section++
	return v
}

// pieces yields b in parts.
func pieces(b []byte) func(func([]byte) bool) {
	const size = 256 << 10
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

// take fills b.
func (s *Reader) take(b []byte) {
	if s.err != nil {
		return
	}
	n, err := io.ReadFull(s.r, b)
	s.left -= int64(n)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		s.Fail("it ends early, in section %d", s.section)
	default:
		s.err = err
	}
}
