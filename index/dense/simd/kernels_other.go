//go:build !amd64

package simd

import "unsafe"

// dot is the inner product of the n ≥ 1 components at a and at b.
func dot(a, b *float32, n int) float32 { return dotGo(a, b, n) }

// dot4 is dot of q and each of four rows.
func dot4(q, a, b, c, d *float32, n int, out *[4]float32) { dot4Go(q, a, b, c, d, n, out) }

func dotInt8(a, b *int8, n int) int32 { return dotInt8Go(a, b, n) }

func dot4Int8(q, a, b, c, d *int8, n int, out *[4]int32) { dot4Int8Go(q, a, b, c, d, n, out) }

// prefetch does nothing here.
func prefetch(unsafe.Pointer, int) {}
