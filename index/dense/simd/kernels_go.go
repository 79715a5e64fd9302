package simd

import "unsafe"

// dotGo is the portable kernel. Four sums, so that one addition need not wait
// for the one before.
func dotGo(a, b *float32, n int) float32 {
	x, y := unsafe.Slice(a, n), unsafe.Slice(b, n)
	var s0, s1, s2, s3 float32
	for len(x) >= 4 && len(y) >= 4 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		x, y = x[4:], y[4:]
	}
	for i := range x {
		s0 += x[i] * y[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func dot4Go(q, a, b, c, d *float32, n int, out *[4]float32) {
	*out = [4]float32{dotGo(q, a, n), dotGo(q, b, n), dotGo(q, c, n), dotGo(q, d, n)}
}

func dotInt8Go(a, b *int8, n int) int32 {
	x, y := unsafe.Slice(a, n), unsafe.Slice(b, n)
	var sum int32
	for i := range x {
		sum += int32(x[i]) * int32(y[i])
	}
	return sum
}

func dot4Int8Go(q, a, b, c, d *int8, n int, out *[4]int32) {
	*out = [4]int32{dotInt8Go(q, a, n), dotInt8Go(q, b, n), dotInt8Go(q, c, n), dotInt8Go(q, d, n)}
}
