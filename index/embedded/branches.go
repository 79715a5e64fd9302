package embedded

import (
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/dense"
	"github.com/braid-search/braid/index/lexical"
	"github.com/braid-search/braid/index/sparse"
)

// branches are the documents of a collection in memory. Methods that change
// them need exclusive access.
type branches struct {
	ords  map[string]uint32 // by document id
	slots []slot            // by ordinal

	dense   *dense.Exact     // nil in a collection without dense vectors
	sparse  *sparse.Postings // nil in a collection without sparse vectors
	lexical *lexical.Index
}

// slot is what is known of the document under one ordinal; its zero value is
// a document that is no more.
type slot struct {
	id          string
	fingerprint [32]byte
}

func newBranches(schema index.Schema) *branches {
	b := &branches{ords: map[string]uint32{}, lexical: lexical.New(lexical.Options{})}
	if schema.Dense != (index.ModelRef{}) {
		b.dense = dense.New(schema.Dimensions)
	}
	if schema.Sparse != (index.ModelRef{}) {
		b.sparse = sparse.New()
	}
	return b
}

// analyze takes the texts of entries apart. It needs no lock.
func (b *branches) analyze(entries []index.Entry) []lexical.Analysis {
	words := make([]lexical.Analysis, len(entries))
	for i, e := range entries {
		words[i] = b.lexical.Analyze(e.Document.Passage())
	}
	return words
}

// plan counts what batch would change and returns its deletions that exist.
func (b *branches) plan(batch index.Batch) (result index.WriteResult, deletes []string) {
	for _, e := range batch.Upserts {
		if _, ok := b.ords[e.Document.ID]; ok {
			result.Replaced++
		} else {
			result.Created++
		}
	}
	for _, id := range batch.Deletes {
		if _, ok := b.ords[id]; ok {
			deletes = append(deletes, id)
		}
	}
	result.Deleted = len(deletes)
	return result, deletes
}

// put makes e, whose text has the given words, visible in place of the document
// of its id.
func (b *branches) put(e index.Entry, words lexical.Analysis) {
	b.remove(e.Document.ID)
	ord := b.place(e)
	b.lexical.AddAnalysis(ord, words)
	if b.dense != nil {
		b.dense.Put(ord, e.Dense)
	}
	if b.sparse != nil {
		b.sparse.Add(ord, e.Sparse)
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

// wasteful reports whether most of the memory is taken by documents that are no
// more, so that building the branches anew pays.
func (b *branches) wasteful() bool {
	return len(b.slots)-len(b.ords) > len(b.ords)+tolerableWaste
}
