package lexical

import (
	"math"
	"slices"
)

// A code says how often a document holds a term and how long it is, both
// roughly: 6 classes of frequency times 42 of length. What it stands for
// depends on the average length and is computed for each search, so that codes
// stay right whatever happens to the statistics.

// frequencies are the least of each class. The last class has no end: at tf 10
// BM25 is within a tenth of its limit.
var frequencies = [...]uint16{1, 2, 3, 4, 6, 10}

const (
	lengthClasses = 42
	// Lengths up to shortest are one class; from there on it is four to an
	// octave, up to 8,000 words.
	shortest  = 8
	perOctave = 4
)

// code returns the code of a document of the given length that holds a term
// frequency times.
func code(frequency uint16, length uint32) uint8 {
	f, exact := slices.BinarySearch(frequencies[:], frequency)
	if !exact {
		f--
	}
	return uint8(f*lengthClasses + lengthClass(length))
}

func lengthClass(length uint32) int {
	if length < shortest {
		return 0
	}
	class := 1 + int(perOctave*math.Log2(float64(length)/shortest))
	return min(class, lengthClasses-1)
}

// leastLength returns a length no document of the class is below.
func leastLength(class int) float64 {
	if class == 0 {
		return 0
	}
	// A little less, for what is lost in the logarithm.
	return shortest * math.Exp2(float64(class-1)/perOctave) * (1 - 1e-9)
}

// mostFrequency returns a frequency that none in the class is above.
func mostFrequency(class int) float64 {
	if class == len(frequencies)-1 {
		return math.MaxUint16
	}
	return float64(frequencies[class+1] - 1)
}

// values returns what each code stands for: the most that a document with it
// gets for a term of weight 1.
func (s *scoring) values() *[256]float64 {
	var values [256]float64
	for f := range frequencies {
		for l := range lengthClasses {
			values[f*lengthClasses+l] = s.share(1, mostFrequency(f), leastLength(l))
		}
	}
	return &values
}
