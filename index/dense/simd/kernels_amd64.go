package simd

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// What this processor has.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F
	hasVNNI   = hasAVX512 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI
)

// dot is the inner product of the n ≥ 1 components at a and at b.
func dot(a, b *float32, n int) float32 {
	switch {
	case hasAVX512:
		return dotAVX512(a, b, n)
	case hasAVX2:
		return dotAVX2(a, b, n)
	}
	return dotGo(a, b, n)
}

// dot4 is dot of q and each of four rows.
func dot4(q, a, b, c, d *float32, n int, out *[4]float32) {
	switch {
	case hasAVX512:
		dot4AVX512(q, a, b, c, d, n, out)
	case hasAVX2:
		dot4AVX2(q, a, b, c, d, n, out)
	default:
		dot4Go(q, a, b, c, d, n, out)
	}
}

func dotInt8(a, b *int8, n int) int32 {
	switch {
	case hasVNNI:
		return dotInt8VNNI(a, b, n)
	case hasAVX2:
		return dotInt8AVX2(a, b, n)
	}
	return dotInt8Go(a, b, n)
}

func dot4Int8(q, a, b, c, d *int8, n int, out *[4]int32) {
	switch {
	case hasVNNI:
		dot4Int8VNNI(q, a, b, c, d, n, out)
	case hasAVX2:
		dot4Int8AVX2(q, a, b, c, d, n, out)
	default:
		dot4Int8Go(q, a, b, c, d, n, out)
	}
}

// prefetch asks for n bytes at p to be brought near. It has no other effect,
// also where there is no memory.
//
//go:noescape
func prefetch(p unsafe.Pointer, n int)

//go:noescape
func dotAVX512(a, b *float32, n int) float32

//go:noescape
func dot4AVX512(q, a, b, c, d *float32, n int, out *[4]float32)

//go:noescape
func dotAVX2(a, b *float32, n int) float32

//go:noescape
func dot4AVX2(q, a, b, c, d *float32, n int, out *[4]float32)

//go:noescape
func dotInt8VNNI(a, b *int8, n int) int32

//go:noescape
func dot4Int8VNNI(q, a, b, c, d *int8, n int, out *[4]int32)

//go:noescape
func dotInt8AVX2(a, b *int8, n int) int32

//go:noescape
func dot4Int8AVX2(q, a, b, c, d *int8, n int, out *[4]int32)
