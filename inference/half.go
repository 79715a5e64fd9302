package inference

import (
	"encoding/binary"
	"math"
)

// widen converts float16 values (IEEE 754 binary16, little-endian) to float32,
// exactly. to has one value for two bytes of from.
func widen(to []float32, from []byte) {
	for i := range to {
		to[i] = fromHalf(binary.LittleEndian.Uint16(from[2*i:]))
	}
}

func fromHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero, or subnormal: fraction times 2 to the -24th
		value := math.Float32bits(float32(fraction) * (1.0 / (1 << 24)))
		return math.Float32frombits(sign | value)
	case 0x1f: // infinite, or NaN
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
