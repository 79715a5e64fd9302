package lexical

import (
	"cmp"
	"maps"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/postings"
	"github.com/braid-search/braid/index/snapshot"
)

// Save writes the index: the version of the analyser, the terms by number, the
// lengths of documents by ordinal, the number of documents, what often holds,
// and the postings. It only reads the index.
func (x *Index) Save(w *snapshot.Writer) {
	w.Uint64(AnalyzerVersion)
	w.Strings(x.terms.names)
	w.Uint32s(x.documents.lengths)
	w.Uint64(uint64(x.Len()))
	var terms, ords []uint32
	var counts []uint16
	for _, o := range slices.SortedFunc(maps.Keys(x.often), occurrences.compare) {
		terms, ords, counts = append(terms, o.term), append(ords, o.ord), append(counts, x.often[o])
	}
	w.Uint32s(terms)
	w.Uint32s(ords)
	w.Uint16s(counts)
	x.index.Save(w, w.Uint8s)
}

func (o occurrences) compare(p occurrences) int {
	return cmp.Or(cmp.Compare(o.term, p.term), cmp.Compare(o.ord, p.ord))
}

// Load reads what Save has written, an index whose ordinals are all below end.
// It fails with r's error, with braid.Conflict when another version of the
// analyser made the terms, and with braid.Corrupt when what was read is not such
// an index.
func Load(r *snapshot.Reader, end uint64, opts Options) (*Index, error) {
	version := r.Uint64()
	if r.Err() == nil && version != AnalyzerVersion {
		return nil, braid.Errorf(braid.Conflict, "the terms were made by version %d of the analyser, this program has %d: analyse the texts again", version, AnalyzerVersion)
	}
	x := New(opts)
	x.terms.names = r.Strings()
	x.documents.lengths = r.Uint32s()
	live := r.Uint64()
	x.loadOften(r)
	lengths := x.documents.lengths
	if n := uint64(len(lengths)); r.Err() == nil && (n > end || live > n) {
		r.Fail("%d documents have %d lengths, want no ordinal from %d on", live, n, end)
	}
	for _, length := range lengths {
		x.length += uint64(length)
	}
	average := float64(x.length) / float64(live)
	var err error
	x.index, err = postings.Load(r, uint64(len(lengths)), r.Uint8s, func(part postings.Part[uint8], i int) (uint8, bool) {
		ord := part.First + uint32(part.Offsets[i])
		frequency := x.frequency(part.Term, ord, part.Exact[i])
		if frequency == 0 || lengths[ord] == 0 || uint64(part.Term) >= uint64(len(x.terms.names)) {
			return 0, false
		}
		return x.code(frequency, lengths[ord], average), true
	})
	if err != nil {
		return nil, err
	}
	x.references = slices.Repeat([]float64{average}, x.index.Windows())
	if uint64(x.Len()) != live || !x.restore() || !x.terms.restore() {
		r.Fail("terms, lengths and postings are not of the same documents")
		return nil, r.Err()
	}
	return x, nil
}

func (x *Index) loadOften(r *snapshot.Reader) {
	terms, ords, counts := r.Uint32s(), r.Uint32s(), r.Uint16s()
	if r.Err() == nil && (len(terms) != len(ords) || len(terms) != len(counts)) {
		r.Fail("%d terms, %d documents and %d counts, want as many", len(terms), len(ords), len(counts))
	}
	if r.Err() != nil {
		return
	}
	for i, term := range terms {
		if counts[i] < manyTimes {
			r.Fail("a document holds term %d %d times, want %d or more", term, counts[i], manyTimes)
			return
		}
		x.often[occurrences{term, ords[i]}] = counts[i]
	}
	if len(x.often) != len(terms) {
		r.Fail("a document holds a term in two ways")
	}
}

// restore fills in what follows from the postings: how many documents hold each
// term, and the terms of each document. It reports whether only documents that
// are there have lengths, and postings what often has.
func (x *Index) restore() bool {
	x.terms.holders = make([]uint32, len(x.terms.names))
	often := 0
	var parts []postings.Part[uint8]
	var ends []int // by ordinal in the window: of its terms in all
	var all []uint32
	ord := uint32(0)
	for window := range x.index.Windows() {
		parts, ends = parts[:0], ends[:0]
		size := 0
		for part := range x.index.Parts(window) {
			parts = append(parts, part)
			x.terms.holders[part.Term] += uint32(len(part.Offsets))
			size = max(size, int(part.Offsets[len(part.Offsets)-1])+1)
			for _, count := range part.Exact {
				if count == manyTimes {
					often++
				}
			}
		}
		// A counting sort of the postings by document.
		ends = slices.Grow(ends, size+1)[:size+1]
		clear(ends)
		for _, part := range parts {
			for _, offset := range part.Offsets {
				ends[int(offset)+1]++
			}
		}
		for i := range size {
			ends[i+1] += ends[i]
		}
		all = slices.Grow(all[:0], ends[size])[:ends[size]]
		for _, part := range parts {
			for _, offset := range part.Offsets {
				all[ends[offset]] = part.Term
				ends[offset]++
			}
		}
		start, first := 0, ord
		for ; int(ord) < len(x.documents.lengths) && x.index.Window(ord) == window; ord++ {
			var terms []uint32
			if place := int(ord - first); place < size {
				terms = all[start:ends[place]]
				start = ends[place]
			}
			length := x.documents.lengths[ord]
			if x.index.Has(ord) {
				x.documents.add(ord, length, terms)
			} else if length > 0 {
				return false
			}
		}
	}
	for ; int(ord) < len(x.documents.lengths); ord++ {
		if x.documents.lengths[ord] > 0 {
			return false
		}
	}
	return often == len(x.often)
}
