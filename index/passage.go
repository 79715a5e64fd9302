package index

import (
	"strings"
	"unicode/utf8"

	"github.com/braid-search/braid"
)

// MaxPassages bounds the passages of one document.
const MaxPassages = 4096

// MaxPassageBytes bounds the text of one passage: what a document that is not
// split may have, and a section.
const MaxPassageBytes = 2*braid.MaxTitleBytes + braid.MaxTextBytes + 2

// Entry is a document with what the encoders made of its passages.
type Entry struct {
	Document braid.Document
	// Fingerprint identifies the content that was encoded; see
	// Collection.Fingerprints.
	Fingerprint [32]byte
	// Passages are 1 to MaxPassages. A hit names one by its number here.
	Passages []Passage
}

// Passage is a part of a document that is encoded and ranked by itself.
type Passage struct {
	// Text is what the encoders and the lexical index read, title and section
	// included. It is empty in the one passage of a document that is not split,
	// and only there: what is read is then Document.Passage().
	Text string
	// Start and End say where the passage stands in Document.Text, in bytes.
	Start, End int
	// Section is the headings above the passage; "" is none.
	Section string
	// Dense has Schema.Dimensions finite components and length 1, or is nil in
	// a collection without a dense model.
	Dense []float32
	// Sparse may be empty: such a passage is never a hit of the sparse branch.
	Sparse braid.SparseVector
	// Tokens are the text's token ids for the cross-encoder, without special
	// tokens; may be nil.
	Tokens []uint32
}

// Whole returns the entry of a document that is not split, not encoded yet.
func Whole(d braid.Document, fingerprint [32]byte) Entry {
	return Entry{Document: d, Fingerprint: fingerprint, Passages: make([]Passage, 1)}
}

// Split reports whether the document is split, be it into one passage.
func (e Entry) Split() bool { return len(e.Passages) != 1 || e.Passages[0].Text != "" }

// Read returns what encoders and lexical index read of passage n.
func (e Entry) Read(n int) string { return readText(e.Document, e.Passages[n].Text) }

func readText(d braid.Document, own string) string {
	if own == "" {
		return d.Passage()
	}
	return own
}

// Stored is a document as it is kept, without its vectors.
type Stored struct {
	Document    braid.Document
	Fingerprint [32]byte // of this very content
	Passages    []StoredPassage
}

// StoredPassage is a Passage as it was given, without its vectors.
type StoredPassage struct {
	Text       string
	Start, End int
	Section    string
	Tokens     []uint32
}

// Read is Entry.Read.
func (s Stored) Read(n int) string { return readText(s.Document, s.Passages[n].Text) }

// Stored returns the entry without its vectors. It shares the entry's memory.
func (e Entry) Stored() Stored {
	s := Stored{Document: e.Document, Fingerprint: e.Fingerprint, Passages: make([]StoredPassage, len(e.Passages))}
	for i, p := range e.Passages {
		s.Passages[i] = StoredPassage{Text: p.Text, Start: p.Start, End: p.End, Section: p.Section, Tokens: p.Tokens}
	}
	return s
}

// validatePassages reports the first rule the entry's passages break in a
// collection of schema s, and the part at fault.
func (e Entry) validatePassages(s Schema) (field string, err error) {
	switch n := len(e.Passages); {
	case n == 0:
		return "passages", braid.Errorf(braid.InvalidArgument, "it has no passage")
	case n > MaxPassages:
		return "passages", braid.Errorf(braid.TooLarge, "it has %d passages, the limit is %d: split the document, or let passages be longer", n, MaxPassages)
	}
	for i, p := range e.Passages {
		field, err := p.validateEncodings(s)
		if err == nil && e.Split() {
			field, err = "passages", p.validateText(e.Document)
		} else if err == nil && (p.Start != 0 || p.End != 0 || p.Section != "") {
			field, err = "passages", braid.Errorf(braid.InvalidArgument, "it has a place and no text")
		}
		if err != nil && len(e.Passages) > 1 {
			err = braid.Errorf(braid.CodeOf(err), "passage %d: %w", i, err)
		}
		if err != nil {
			return field, err
		}
	}
	return "", nil
}

// validateText reports why p cannot be a passage of d.
func (p Passage) validateText(d braid.Document) error {
	switch {
	case strings.TrimSpace(p.Text) == "":
		return braid.Errorf(braid.InvalidArgument, "its text is empty")
	case len(p.Text) > MaxPassageBytes:
		return braid.Errorf(braid.TooLarge, "its text is %d bytes, the limit is %d", len(p.Text), MaxPassageBytes)
	case len(p.Section) > braid.MaxTitleBytes:
		return braid.Errorf(braid.TooLarge, "its section is %d bytes, the limit is %d", len(p.Section), braid.MaxTitleBytes)
	case !utf8.ValidString(p.Text) || !utf8.ValidString(p.Section):
		return braid.Errorf(braid.InvalidArgument, "it is not valid UTF-8")
	case p.Start < 0 || p.End < p.Start || p.End > len(d.Text):
		return braid.Errorf(braid.InvalidArgument, "it stands at %d to %d of a text of %d bytes", p.Start, p.End, len(d.Text))
	}
	return nil
}

// validateEncodings checks what the encoders made against the schema and names
// the part at fault.
func (p Passage) validateEncodings(s Schema) (field string, err error) {
	if s.Dense != (ModelRef{}) {
		err = s.unitVector(p.Dense)
	} else if len(p.Dense) > 0 {
		err = braid.Errorf(braid.InvalidArgument, "a dense vector in a collection without a dense model")
	}
	if err != nil {
		return "dense", err
	}
	if err := p.Sparse.Validate(); err != nil {
		return "sparse", err
	}
	if s.Sparse == (ModelRef{}) && len(p.Sparse.Indices) > 0 {
		return "sparse", braid.Errorf(braid.InvalidArgument, "a sparse vector in a collection without a sparse model")
	}
	if s.Pair == (ModelRef{}) && len(p.Tokens) > 0 {
		return "tokens", braid.Errorf(braid.InvalidArgument, "token ids in a collection without a cross-encoder")
	}
	return "", nil
}
