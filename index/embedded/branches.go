package embedded

import (
	"math/bits"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/filter"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/sparse"
)

// branches are the documents of a collection in memory. Each passage has an
// ordinal; those of a document follow each other. Methods that change branches
// need exclusive access.
type branches struct {
	ords     map[string]uint32 // of first passages, by document id
	slots    []slot            // by ordinal
	firsts   []uint64          // bit i%64 of word i/64: ordinal i is or was a first passage
	passages int               // that are there
	patched  patchLog

	dense   *dense.Index     // nil in a collection without dense vectors
	sparse  *sparse.Postings // nil in a collection without sparse vectors
	lexical *lexical.Index
	filter  *filter.Index
}

// content is what the branches need of a document beside its vectors.
type content struct {
	words  []lexical.Analysis // of each passage
	fields braid.Fields
}

// slot is what is known of the passage under one ordinal; its zero value is one
// that is no more.
type slot struct {
	id          string
	fingerprint [32]byte // of the document, under its first ordinal
	passage     uint16   // its number
	count       uint16   // of passages of the document
}

// newBranches returns empty branches made for about so many passages.
func newBranches(schema index.Schema, expected int, opts dense.Options) *branches {
	b := &branches{ords: map[string]uint32{}, lexical: lexical.New(lexical.Options{}), filter: filter.New()}
	if schema.Dense != (index.ModelRef{}) {
		b.dense = dense.NewIndex(schema.Dimensions, expected, opts)
	}
	if schema.Sparse != (index.ModelRef{}) {
		b.sparse = sparse.New()
	}
	return b
}

// analyze takes the texts and payloads of entries apart. It needs no lock.
func (b *branches) analyze(entries []index.Entry) ([]content, error) {
	contents := make([]content, len(entries))
	for i, e := range entries {
		fields, err := braid.FieldsOf(e.Document.Payload)
		if err != nil {
			return nil, braid.Errorf(braid.CodeOf(err), "document %q: %w", e.Document.ID, err)
		}
		words := make([]lexical.Analysis, len(e.Passages))
		for n := range words {
			words[n] = b.lexical.Analyze(e.Read(n))
		}
		contents[i] = content{words, fields}
	}
	return contents, nil
}

// put makes entries, which hold the given contents, visible in place of the
// documents of their ids.
func (b *branches) put(entries []index.Entry, contents []content) {
	b.stage(entries)
	b.show(entries, contents)
}

// stage does of put what takes longest, and shows nothing. It needs no lock but
// against other changes: searches may go on. show has to follow, with the same
// entries.
func (b *branches) stage(entries []index.Entry) {
	if b.dense != nil {
		b.dense.Stage(uint32(len(b.slots)), vectorsOf(entries)...)
	}
}

// vectorsOf returns the dense vectors of the entries' passages, in their order.
func vectorsOf(entries []index.Entry) [][]float32 {
	vectors := make([][]float32, 0, len(entries))
	for _, e := range entries {
		for _, p := range e.Passages {
			vectors = append(vectors, p.Dense)
		}
	}
	return vectors
}

// show does the rest of put.
func (b *branches) show(entries []index.Entry, contents []content) {
	first := uint32(len(b.slots))
	for i, e := range entries {
		b.remove(e.Document.ID)
		ord := b.place(e)
		for n, p := range e.Passages {
			b.lexical.AddAnalysis(ord, contents[i].words[n])
			b.filter.Add(ord, contents[i].fields)
			if b.sparse != nil {
				b.sparse.Add(ord, p.Sparse)
			}
			ord++
		}
	}
	if b.dense != nil {
		b.dense.Show(first, vectorsOf(entries)...)
	}
}

// place gives the passages of a document that is not there ordinals and returns
// the first.
func (b *branches) place(e index.Entry) uint32 {
	first := uint32(len(b.slots))
	for n := range e.Passages {
		b.slots = append(b.slots, slot{id: e.Document.ID, passage: uint16(n), count: uint16(len(e.Passages))})
	}
	b.slots[first].fingerprint = e.Fingerprint
	b.begin(first)
	b.ords[e.Document.ID] = first
	b.passages += len(e.Passages)
	return first
}

// begin records that ord is that of a first passage.
func (b *branches) begin(ord uint32) {
	for len(b.firsts) <= int(ord/64) {
		b.firsts = append(b.firsts, 0)
	}
	b.firsts[ord/64] |= 1 << (ord % 64)
}

// remove hides the document called id, if it is there.
func (b *branches) remove(id string) {
	first, ok := b.ords[id]
	if !ok {
		return
	}
	end := first + uint32(b.slots[first].count)
	for ord := first; ord < end; ord++ {
		b.lexical.Remove(ord)
		b.filter.Remove(ord)
		if b.dense != nil {
			b.dense.Remove(ord)
		}
		if b.sparse != nil {
			b.sparse.Remove(ord)
		}
		b.slots[ord] = slot{}
	}
	delete(b.ords, id)
	b.passages -= int(end - first)
}

// documents counts those of which ords holds passages: all of a document's or
// none.
func (b *branches) documents(ords *docset.Set) int {
	n := 0
	for i, word := range ords.Words() {
		if i < len(b.firsts) {
			n += bits.OnesCount64(word & b.firsts[i])
		}
	}
	return n
}

// ordinal returns that of the passage a hit is about.
func (b *branches) ordinal(h braid.Hit) (ord uint32, ok bool) {
	first, ok := b.ords[h.ID]
	if !ok || h.Passage < 0 || h.Passage >= int(b.slots[first].count) {
		return 0, false
	}
	return first + uint32(h.Passage), true
}

// tolerableWaste is how many passages that are no more a small collection may
// hold: some hundred KB.
const tolerableWaste = 256

// outdated reports whether building the branches anew pays: most of the memory
// is taken by passages that are no more, or there are so many that they would
// get other indexes.
func (b *branches) outdated() bool {
	return len(b.slots)-b.passages > b.passages+tolerableWaste || b.dense != nil && b.dense.Outgrown()
}

// littered reports whether a vacuum of the graph pays: searches spend a quarter
// of their time on vectors that are no more.
func (b *branches) littered() bool {
	if b.dense == nil {
		return false
	}
	removed := b.dense.Removed()
	return removed > tolerableWaste && removed > b.dense.Len()/3
}
