package lexical

import (
	"math"

	"github.com/braid-search/braid/index/postings"
)

// The code of a posting is the share that the term had of a score, weighed 1,
// when the average length was another one: code c stands for c/topCode, and up.
// While the average is below that one, shares are smaller than then; when it is
// above, they are larger by no more than the quotient of the two. So a window's
// codes stay right with a factor, and are computed anew when the factor is far
// from 1.

// topCode is the largest code; 0 is not used. Shares are below 1.
const topCode = 255

// tolerance is how far the average may move from the one that a window's codes
// were made with: so far as it does, searches compute more scores than they
// must. To make codes anew takes some milliseconds for a full window.
const tolerance = 0.03

// base and slope make the denominator of a share: tf + base + slope·length.
func (o Options) base() float64                 { return o.K1 * (1 - o.B) }
func (o Options) slope(average float64) float64 { return o.K1 * o.B / average }

// share is what a term of the given weight adds to a score.
func share(weight, frequency, base, slope, length float64) float64 {
	return weight * frequency / (frequency + base + slope*length)
}

// code returns the code of a posting at the given average length.
func (x *Index) code(frequency uint16, length uint32, average float64) uint8 {
	s := share(1, float64(frequency), x.opts.base(), x.opts.slope(average), float64(length))
	return uint8(math.Ceil(s * topCode))
}

// reference returns the average that the codes of a window are made with; a new
// window takes the present one.
func (x *Index) reference(window int, average float64) float64 {
	if missing := window + 1 - len(x.references); missing > 0 {
		x.references = append(x.references, make([]float64, missing)...)
	}
	if x.references[window] == 0 {
		x.references[window] = average
	}
	return x.references[window]
}

// factor is what a window's codes are to be multiplied with.
func (x *Index) factor(window int) float64 {
	if window >= len(x.references) || x.references[window] == 0 {
		return 1 // there is nothing in it
	}
	return max(1, float64(x.length)/float64(x.Len())/x.references[window])
}

// refresh makes the codes of a window anew if its reference is out of date, and
// of one other window: the next time it is another.
func (x *Index) refresh(window int) {
	if x.length == 0 {
		return
	}
	average := float64(x.length) / float64(x.Len())
	x.checked = (x.checked + 1) % len(x.references)
	for _, window := range [...]int{window, x.checked} {
		r := &x.references[window]
		if *r == 0 || math.Abs(average / *r - 1) <= tolerance {
			continue
		}
		*r = average
		x.index.Recode(window, func(part postings.Part[uint8], i int) uint8 {
			ord := part.First + uint32(part.Offsets[i])
			return x.code(x.frequency(part.Term, ord, part.Exact[i]), x.documents.lengths[ord], average)
		})
	}
}
