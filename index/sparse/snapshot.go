package sparse

import (
	"math"

	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the vectors. It only reads the index.
func (p *Postings) Save(w *snapshot.Writer) {
	w.Uint64(math.Float64bits(p.top))
	p.index.Save(w, w.Float32s)
}

// Load reads what Save has written, an index whose ordinals are all below end.
// It fails with r's error, or with braid.Corrupt when what was read is not such
// an index.
func Load(r *snapshot.Reader, end uint64) (*Postings, error) {
	p := &Postings{top: math.Float64frombits(r.Uint64())}
	if fraction, _ := math.Frexp(p.top); fraction != 0.5 && p.top != 0 {
		r.Fail("the largest weight is given as %v, want a power of two", p.top)
	}
	var err error
	p.index, err = postings.Load(r, end, r.Float32s, func(part postings.Part[float32], i int) (uint8, bool) {
		w := part.Exact[i]
		if !(w > 0) || float64(w) > p.top {
			return 0, false
		}
		return p.code(w), true
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}
