package lexical

import (
	"math"
	"slices"
	"sync"

	"github.com/braid-search/braid"
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

	terms    map[string]uint32 // term to position in postings
	postings []postings
	free     []uint32 // positions whose term no document holds any more

	documents []document // by ordinal
	lengths   []uint32   // by ordinal; apart, since scoring reads nothing else
	live      int        // documents added and not removed
	length    uint64     // sum of their lengths

	termBytes, entries int64 // of all live terms and postings, for MemoryBytes

	accumulators sync.Pool // of *accumulator
	added        []uint32  // AddAnalysis's buffer: the document's terms, repeated
}

// postings are the documents that hold a term, by ascending ordinal:
// documents[ordinals[i]] holds it counts[i] times.
type postings struct {
	term     string
	ordinals []uint32
	counts   []uint16 // at most math.MaxUint16, where BM25 has long levelled off
}

// document is what the index remembers of a document: its distinct terms, so
// that it can be removed exactly.
type document struct {
	terms []uint32
	live  bool
}

// New returns an empty index. Options that Validate rejects give scores
// without meaning.
func New(opts Options) *Index {
	return &Index{
		opts:         opts.withDefaults(),
		analyzer:     NewAnalyzer(),
		terms:        make(map[string]uint32),
		accumulators: sync.Pool{New: func() any { return new(accumulator) }},
	}
}

// Len returns the number of documents.
func (x *Index) Len() int { return x.live }

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

// Add indexes text as document ord, in place of what ord was before. Memory
// grows with the largest ordinal, so ordinals should be dense.
func (x *Index) Add(ord uint32, text string) { x.AddAnalysis(ord, x.Analyze(text)) }

// AddAnalysis is Add for a text that Analyze has seen.
func (x *Index) AddAnalysis(ord uint32, a Analysis) {
	x.Remove(ord)
	if need := int(ord) + 1; need > len(x.documents) {
		x.lengths = append(x.lengths, make([]uint32, need-len(x.documents))...)
		x.documents = append(x.documents, make([]document, need-len(x.documents))...)
	}
	x.added = x.added[:0]
	start := uint32(0)
	for _, end := range a.ends {
		x.added = append(x.added, x.termID(a.terms[start:end]))
		start = end
	}
	slices.Sort(x.added)
	x.documents[ord] = document{terms: x.post(ord, x.added), live: true}
	x.lengths[ord] = a.length
	x.live++
	x.length += uint64(a.length)
}

// counts reports whether a term of kind k makes its document longer: each word
// and each compound does once. Counting the parts as well, or leaving out stop
// words, made no ranking better.
func counts(k Kind) bool { return k == Word || k == Whole }

// termID returns the position of the term's postings, making them if needed.
func (x *Index) termID(term []byte) uint32 {
	if id, ok := x.terms[string(term)]; ok {
		return id
	}
	p := postings{term: string(term)}
	var id uint32
	if n := len(x.free); n > 0 {
		id, x.free = x.free[n-1], x.free[:n-1]
		x.postings[id] = p
	} else {
		id = uint32(len(x.postings))
		x.postings = append(x.postings, p)
	}
	x.terms[p.term] = id
	x.termBytes += int64(len(p.term))
	return id
}

// post records that ord holds the terms of ids, sorted and repeated as often
// as the document has them, and returns the distinct ones.
func (x *Index) post(ord uint32, ids []uint32) []uint32 {
	distinct := 0
	for i, id := range ids {
		if i == 0 || id != ids[i-1] {
			distinct++
		}
	}
	terms := make([]uint32, 0, distinct)
	for len(ids) > 0 {
		count := 1
		for count < len(ids) && ids[count] == ids[0] {
			count++
		}
		terms = append(terms, ids[0])
		x.postings[ids[0]].insert(ord, uint16(min(count, math.MaxUint16)))
		ids = ids[count:]
	}
	x.entries += int64(distinct)
	return terms
}

func (p *postings) insert(ord uint32, count uint16) {
	at := len(p.ordinals)
	if at > 0 && p.ordinals[at-1] > ord { // documents mostly come in order
		at, _ = slices.BinarySearch(p.ordinals, ord)
	}
	p.ordinals = slices.Insert(p.ordinals, at, ord)
	p.counts = slices.Insert(p.counts, at, count)
}

func (p *postings) remove(ord uint32) {
	if at, ok := slices.BinarySearch(p.ordinals, ord); ok {
		p.ordinals = slices.Delete(p.ordinals, at, at+1)
		p.counts = slices.Delete(p.counts, at, at+1)
	}
	if n := len(p.ordinals); n > 0 && n < cap(p.ordinals)/4 {
		p.ordinals, p.counts = slices.Clone(p.ordinals), slices.Clone(p.counts)
	}
}

// Remove takes document ord out; removing what is not there does nothing. All
// statistics are afterwards as if the document had never been added.
func (x *Index) Remove(ord uint32) {
	if int(ord) >= len(x.documents) || !x.documents[ord].live {
		return
	}
	d := x.documents[ord]
	for _, id := range d.terms {
		p := &x.postings[id]
		p.remove(ord)
		if len(p.ordinals) == 0 {
			delete(x.terms, p.term)
			x.termBytes -= int64(len(p.term))
			*p = postings{}
			x.free = append(x.free, id)
		}
	}
	x.documents[ord] = document{}
	x.live--
	x.length -= uint64(x.lengths[ord])
	x.entries -= int64(len(d.terms))
}

// MemoryBytes estimates what the index holds in memory, apart from the spare
// room of growing slices. It takes constant time.
func (x *Index) MemoryBytes() int64 {
	const (
		termBytes     = 160 // map entry, postings struct and the least two allocations
		entryBytes    = 4 + 2 + 4
		documentBytes = 48
	)
	return int64(len(x.terms))*termBytes + x.termBytes + x.entries*entryBytes + int64(len(x.documents))*documentBytes
}
