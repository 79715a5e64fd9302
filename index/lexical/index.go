package lexical

import (
	"math"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/postings"
)

// The usual BM25 parameters.
const (
	DefaultK1 = 1.2
	DefaultB  = 0.75
)

// Options are BM25's parameters. The zero value of each means its default.
type Options struct {
	K1 float64 // how soon repetitions of a term stop counting; above 0
	B  float64 // how much length counts; above 0, at most 1
}

// Validate reports every parameter out of range.
func (o Options) Validate() error {
	o = o.withDefaults()
	k1 := o.K1 > 0 && !math.IsInf(o.K1, 0)
	b := o.B > 0 && o.B <= 1
	switch {
	case !k1 && !b:
		return braid.Errorf(braid.InvalidArgument, "bm25: k1 is %v, want above 0; b is %v, want above 0 and at most 1", o.K1, o.B)
	case !k1:
		return braid.Errorf(braid.InvalidArgument, "bm25: k1 is %v, want above 0", o.K1)
	case !b:
		return braid.Errorf(braid.InvalidArgument, "bm25: b is %v, want above 0 and at most 1", o.B)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.K1 == 0 {
		o.K1 = DefaultK1
	}
	if o.B == 0 {
		o.B = DefaultB
	}
	return o
}

// Index is an inverted index over documents known by ordinal. Add, AddAnalysis
// and Remove need exclusive access; all else may run concurrently.
type Index struct {
	opts     Options
	analyzer *Analyzer

	terms dictionary
	// index has how often documents hold terms, up to manyTimes, under the terms'
	// numbers.
	index *postings.Index[uint8]
	// often is how often a document holds a term, where it is manyTimes or more.
	often     map[occurrences]uint16
	documents documents
	length    uint64 // sum of the documents' lengths
	// references are the average lengths that codes were made with, by window; 0
	// is none yet.
	references []float64
	checked    int // the window whose reference is looked at next

	added struct { // AddAnalysis's buffers
		all    []uint32 // the document's terms, repeated
		terms  []uint32
		codes  []uint8
		counts []uint8
	}
}

// manyTimes stands for itself and all above.
const manyTimes = math.MaxUint8

// occurrences are those of a term in a document.
type occurrences struct{ term, ord uint32 }

// New returns an empty index. Options that Validate rejects give scores
// without meaning.
func New(opts Options) *Index {
	return &Index{
		opts:     opts.withDefaults(),
		analyzer: NewAnalyzer(),
		terms:    newDictionary(),
		index:    postings.New[uint8](),
		often:    map[occurrences]uint16{},
	}
}

// Len returns the number of documents.
func (x *Index) Len() int { return x.index.Len() }

// Analysis is what AddAnalysis needs to know of a text.
type Analysis struct {
	terms  []byte   // one after another, each as often as it occurs
	ends   []uint32 // of each term, in bytes
	length uint32
}

// Analyze does the part of Add that takes long and needs no exclusive access.
func (x *Index) Analyze(text string) Analysis {
	a := Analysis{terms: make([]byte, 0, len(text)), ends: make([]uint32, 0, len(text)/6)}
	x.analyzer.scan(text, forIndex, func(t token) {
		a.terms = append(a.terms, t.text...)
		a.ends = append(a.ends, uint32(len(a.terms)))
		if counts(t.kind) {
			a.length++
		}
	})
	return a
}

// Add indexes text as document ord, in place of what ord was before. Ordinals
// should be dense, and each above those used before: to use one again takes
// long (see postings.Index.Add).
func (x *Index) Add(ord uint32, text string) { x.AddAnalysis(ord, x.Analyze(text)) }

// AddAnalysis is Add for a text that Analyze has seen.
func (x *Index) AddAnalysis(ord uint32, a Analysis) {
	x.Remove(ord)
	buf := &x.added
	buf.all, buf.terms, buf.codes, buf.counts = buf.all[:0], buf.terms[:0], buf.codes[:0], buf.counts[:0]
	start := uint32(0)
	for _, end := range a.ends {
		buf.all = append(buf.all, x.terms.number(a.terms[start:end]))
		start = end
	}
	slices.Sort(buf.all)
	x.length += uint64(a.length)
	reference := x.reference(x.index.Window(ord), float64(x.length)/float64(x.Len()+1))
	for terms := buf.all; len(terms) > 0; {
		term, count := terms[0], 1
		for count < len(terms) && terms[count] == term {
			count++
		}
		terms = terms[count:]
		frequency := uint16(min(count, math.MaxUint16)) // where BM25 has long levelled off
		if frequency >= manyTimes {
			x.often[occurrences{term, ord}] = frequency
		}
		x.terms.hold(term)
		buf.terms = append(buf.terms, term)
		buf.codes = append(buf.codes, x.code(frequency, a.length, reference))
		buf.counts = append(buf.counts, uint8(min(frequency, manyTimes)))
	}
	x.index.Add(ord, buf.terms, buf.codes, buf.counts)
	x.documents.add(ord, a.length, buf.terms)
	x.refresh(x.index.Window(ord))
}

// counts reports whether a term of kind k makes its document longer: each word
// and each compound does once. Counting the parts as well, or leaving out stop
// words, made no ranking better.
func counts(k Kind) bool { return k == Word || k == Whole }

// Remove takes document ord out; removing what is not there does nothing. All
// statistics are afterwards as if the document had never been added.
func (x *Index) Remove(ord uint32) {
	if !x.index.Remove(ord) {
		return
	}
	for term := range x.documents.terms(ord) {
		x.terms.release(term)
		if len(x.often) > 0 {
			delete(x.often, occurrences{term, ord})
		}
	}
	x.length -= uint64(x.documents.lengths[ord])
	x.documents.remove(ord)
	if x.Len() == 0 {
		x.documents, x.references = documents{}, nil
	}
	x.refresh(x.index.Window(ord))
}

// frequency returns how often document ord holds a term whose posting says
// count.
func (x *Index) frequency(term, ord uint32, count uint8) uint16 {
	if count < manyTimes {
		return uint16(count)
	}
	return x.often[occurrences{term, ord}]
}

// MemoryBytes estimates what the index holds in memory.
func (x *Index) MemoryBytes() int64 {
	const oftenBytes = 24
	return x.terms.memoryBytes() + x.index.MemoryBytes() + x.documents.memoryBytes() + oftenBytes*int64(len(x.often))
}
