package inference

import (
	"encoding/binary"
	"math"
	"testing"
)

// Every finite float16 is sign · fraction · power of two, computed here the
// slow way.
func TestWidenIsExact(t *testing.T) {
	from := make([]byte, 2<<16)
	for h := range 1 << 16 {
		binary.LittleEndian.PutUint16(from[2*h:], uint16(h))
	}
	to := make([]float32, 1<<16)
	widen(to, from)
	for h, got := range to {
		exponent, fraction := h>>10&0x1f, float64(h&0x3ff)/1024
		want := math.Ldexp(1+fraction, exponent-15)
		switch {
		case exponent == 0x1f && fraction > 0:
			if !math.IsNaN(float64(got)) {
				t.Errorf("%#04x is %g, want NaN", h, got)
			}
			continue
		case exponent == 0x1f:
			want = math.Inf(1)
		case exponent == 0:
			want = math.Ldexp(fraction, -14)
		}
		if h>>15 == 1 {
			want = -want
		}
		if float64(got) != want || math.Signbit(float64(got)) != (h>>15 == 1) {
			t.Errorf("%#04x is %g, want %g", h, got, want)
		}
	}
}
