package snapshot

import (
	"encoding/binary"
	"hash"
	"unsafe"

	"github.com/cespare/xxhash/v2"
)

const magic = "braidsnp"

// Types of sections.
const (
	typeHeader = iota + 1
	typeUint8
	typeUint16
	typeUint32
	typeUint64
	typeFloat32
	typeEnd
	typeInt8
)

// sectionHead is the size of a section's type and length, sumBytes that of its
// checksum.
const (
	sectionHead = 9
	sumBytes    = 8
)

// number is what sections are made of.
type number interface {
	~int8 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32
}

// asBytes returns the memory of s, which stays in use by both.
func asBytes[T number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// littleEndian reports whether numbers in memory are as they are in a stream.
func littleEndian() bool {
	return binary.NativeEndian.Uint16([]byte{1, 0}) == 1
}

// swap turns the elements of size bytes in b round.
func swap(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		for i := range size / 2 {
			b[i], b[size-1-i] = b[size-1-i], b[i]
		}
	}
}

// startSum begins a section's checksum with its number in the stream.
func startSum(section uint64, head []byte) hash.Hash64 {
	sum := xxhash.New()
	_, _ = sum.Write(binary.LittleEndian.AppendUint64(nil, section))
	_, _ = sum.Write(head)
	return sum
}
