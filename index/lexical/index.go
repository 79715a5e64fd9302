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

// Index is an inverted index over documents known by ordinal. Add and Remove
// need exclusive access; Search, Len and MemoryBytes may run concurrently with
// each other.
type Index struct {
	opts     Options
	analyzer *Analyzer

	terms    map[string]uint32 // term to position in postings
	postings []postings
	free     []uint32 // positions whose term no document holds any more

	documents []document // by ordinal
	live      int        // documents added and not removed
	length    uint64     // sum of their lengths

	accumulators sync.Pool // of *accumulator
	added        []uint32  // Add's buffer: the document's terms, repeated
}

// postings are the documents that hold a term, by ascending ordinal:
// documents[ordinals[i]] holds it counts[i] times.
type postings struct {
	term     string
	ordinals []uint32
	counts   []uint16 // at most math.MaxUint16, where BM25 has long levelled off
}

// document is what the index remembers of a document: its distinct terms, so
// that it can be removed exactly, and its length.
type document struct {
	terms  []uint32
	length uint32
	live   bool
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

// Add indexes text as document ord, in place of what ord was before. Memory
// grows with the largest ordinal, so ordinals should be dense.
func (x *Index) Add(ord uint32, text string) {
	x.Remove(ord)
	if need := int(ord) + 1; need > len(x.documents) {
		x.documents = append(x.documents, make([]document, need-len(x.documents))...)
	}
	length := uint32(0)
	x.added = x.added[:0]
	x.analyzer.scan(text, forIndex, func(t token) {
		x.added = append(x.added, x.termID(t.text))
		if counts(t.kind) {
			length++
		}
	})
	slices.Sort(x.added)
	x.documents[ord] = document{terms: x.post(ord, x.added), length: length, live: true}
	x.live++
	x.length += uint64(length)
}

// counts reports whether a term of kind k makes its document longer.
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
	for start, end := 0, 0; start < len(ids); start = end {
		for end = start; end < len(ids) && ids[end] == ids[start]; end++ {
		}
		terms = append(terms, ids[start])
		x.postings[ids[start]].insert(ord, uint16(min(end-start, math.MaxUint16)))
	}
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
			*p = postings{}
			x.free = append(x.free, id)
		}
	}
	x.documents[ord] = document{}
	x.live--
	x.length -= uint64(d.length)
}

// MemoryBytes estimates what the index holds in memory. It visits every term.
func (x *Index) MemoryBytes() int64 {
	const (
		mapEntryBytes = 32 // a string header and an id at a typical load
		postingsBytes = 64 // the struct
		documentBytes = 32
	)
	total := int64(cap(x.postings))*postingsBytes + int64(cap(x.documents))*documentBytes + int64(cap(x.free))*4
	for i := range x.postings {
		p := &x.postings[i]
		total += int64(len(p.term)) + mapEntryBytes + int64(cap(p.ordinals))*4 + int64(cap(p.counts))*2
	}
	for i := range x.documents {
		total += int64(cap(x.documents[i].terms)) * 4
	}
	return total
}
