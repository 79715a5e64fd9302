package embedded

import (
	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/filter"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/sparse"
)

// branches are the documents of a collection in memory. Methods that change
// them need exclusive access.
type branches struct {
	ords  map[string]uint32 // by document id
	slots []slot            // by ordinal

	dense   *dense.Index     // nil in a collection without dense vectors
	sparse  *sparse.Postings // nil in a collection without sparse vectors
	lexical *lexical.Index
	filter  *filter.Index
}

// content is what the branches need of a document beside its vectors.
type content struct {
	words  lexical.Analysis
	fields braid.Fields
}

// slot is what is known of the document under one ordinal; its zero value is
// a document that is no more.
type slot struct {
	id          string
	fingerprint [32]byte
}

// newBranches returns empty branches made for about so many documents.
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
		contents[i] = content{b.lexical.Analyze(e.Document.Passage()), fields}
	}
	return contents, nil
}

// put makes entries, which hold the given contents, visible in place of the
// documents of their ids.
func (b *branches) put(entries []index.Entry, contents []content) {
	first := uint32(len(b.slots))
	vectors := make([][]float32, len(entries))
	for i, e := range entries {
		b.remove(e.Document.ID)
		ord := b.place(e)
		b.lexical.AddAnalysis(ord, contents[i].words)
		b.filter.Add(ord, contents[i].fields)
		if b.sparse != nil {
			b.sparse.Add(ord, e.Sparse)
		}
		vectors[i] = e.Dense
	}
	if b.dense != nil {
		b.dense.Put(first, vectors...)
	}
}

// place gives a document that is not there an ordinal.
func (b *branches) place(e index.Entry) uint32 {
	ord := uint32(len(b.slots))
	b.slots = append(b.slots, slot{id: e.Document.ID, fingerprint: e.Fingerprint})
	b.ords[e.Document.ID] = ord
	return ord
}

// remove hides the document called id, if it is there.
func (b *branches) remove(id string) {
	ord, ok := b.ords[id]
	if !ok {
		return
	}
	b.lexical.Remove(ord)
	b.filter.Remove(ord)
	if b.dense != nil {
		b.dense.Remove(ord)
	}
	if b.sparse != nil {
		b.sparse.Remove(ord)
	}
	delete(b.ords, id)
	b.slots[ord] = slot{}
}

// tolerableWaste is how many documents that are no more a small collection may
// hold: some hundred KB.
const tolerableWaste = 256

// outdated reports whether building the branches anew pays: most of the memory
// is taken by documents that are no more, or there are so many that they would
// get other indexes.
func (b *branches) outdated() bool {
	return len(b.slots)-len(b.ords) > len(b.ords)+tolerableWaste || b.dense != nil && b.dense.Outgrown()
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
