package index

import (
	"context"
	"encoding/json"
	"time"

	"github.com/braid-search/braid"
)

// Engine keeps collections. All methods are safe for concurrent use.
type Engine interface {
	// Create makes an empty collection. It fails with braid.Conflict when the
	// name is taken, with braid.InvalidArgument when name (see ValidateName) or
	// schema is not usable.
	Create(ctx context.Context, name string, schema Schema) (Collection, error)
	// Open returns the collection called name, or braid.NotFound.
	Open(ctx context.Context, name string) (Collection, error)
	// Drop deletes the collection and its documents for good, or returns
	// braid.NotFound. Calls under way on the collection finish or fail with
	// braid.NotFound.
	Drop(ctx context.Context, name string) error
	// Reindex gives the collection called name another schema. It calls remake for
	// all documents, some at a time, and puts what comes of it in the collection's
	// place, durably and at one moment. Until then the collection answers and is
	// written as before; what is written is remade as well. A Collection that was
	// opened before the moment can be read for some time after, but not written:
	// that is braid.Unavailable.
	//
	// After an error the collection is as it was. What was remade is kept, also when
	// the process dies, until Reindex is called again: with the same schema it goes
	// on from there, with another it begins anew. A second call at a time for one
	// collection is braid.Conflict. progress, which may be nil, is called now and
	// then from one goroutine.
	Reindex(ctx context.Context, name string, schema Schema, remake Remake, progress func(done, total int)) (Reindexed, error)
	// List returns the collections by ascending name.
	List(ctx context.Context) ([]Info, error)
	// Close waits for calls under way, then releases the engine. Later calls on
	// it and on its collections fail with braid.Unavailable. Close is idempotent.
	Close() error
}

// Collection is one set of documents in which each id occurs once. All methods
// are safe for concurrent use; searches go on while a Write runs.
type Collection interface {
	// Info returns the collection's name, schema and counts. It does no I/O.
	Info() Info

	// Profile returns what the collection keeps for whoever searches it. It does
	// no I/O.
	Profile() Profile
	// SetProfile replaces the profile, durably; nil takes it away. It fails as
	// ValidateProfile says, and as Write where there is no room.
	SetProfile(ctx context.Context, profile json.RawMessage) (Profile, error)

	// Write stores, changes and deletes documents as one step: after a nil error
	// all of the batch is durable and visible in every branch, after an error
	// none of it is. The batch is not kept: its slices may be reused. It fails
	// with braid.InvalidArgument or braid.TooLarge, naming the document, when the
	// batch breaks a rule (see Batch.Validate), with braid.Conflict when what is
	// stored is not as the batch says (see Batch.Payloads and Batch.Within), with
	// braid.StorageFull when the disk is full; searches go on then.
	Write(ctx context.Context, batch Batch) (WriteResult, error)

	// Get returns the documents with the given ids in the order of ids, leaving
	// out those that do not exist.
	Get(ctx context.Context, ids []string) ([]Stored, error)

	// Encoded is Get with the vectors: for who writes documents again and wants to
	// keep what the encoders made of passages that are as before.
	Encoded(ctx context.Context, ids []string) ([]Entry, error)

	// Fingerprints returns, for each id in order, the fingerprint it was last
	// written with; ok is false for an id that does not exist. It is cheap: no
	// document is read.
	Fingerprints(ctx context.Context, ids []string) ([]Fingerprint, error)

	// Resolve returns the documents whose payload passes filter now, to be
	// searched in any number of times. It fails with braid.InvalidArgument when
	// filter is not valid.
	Resolve(ctx context.Context, filter braid.Filter) (Set, error)
	// IDs returns the first limit ids above after of the documents in within, nil
	// being all of them, by ascending bytes. limit is at least 1.
	IDs(ctx context.Context, after string, limit int, within Set) ([]string, error)

	// SearchDense ranks passages by the inner product of their dense vector
	// with vector (cosine, since stored vectors and queries have length 1, which
	// Schema.ValidateDense checks). A collection without a dense model answers
	// braid.InvalidArgument.
	SearchDense(ctx context.Context, vector []float32, q Query) ([]braid.Hit, error)

	// SearchSparse ranks passages by the inner product of their sparse vector
	// with vector. A passage that shares no index with it is not a hit. A
	// collection without a sparse model answers braid.InvalidArgument.
	SearchSparse(ctx context.Context, vector braid.SparseVector, q Query) ([]braid.Hit, error)

	// SearchLexical ranks passages by BM25 over the terms of text. A passage
	// that holds none of them is not a hit; text without terms finds nothing.
	SearchLexical(ctx context.Context, text string, q Query) ([]braid.Hit, error)

	Explainer
	Matcher
}

// Query bounds one retrieval.
type Query struct {
	// K is the largest number of hits to return, at least 1. The hits are the K
	// best passages, or all there are; a dense search of many passages may miss some of
	// the best, see Method.
	K int
	// Method, if not nil, is set to how a dense search found its hits.
	Method *Method
	// Allowed is the set of documents to search in; nil is all of them. A set
	// that another collection resolved is braid.InvalidArgument.
	Allowed Set
}

// Method is how hits were found.
type Method string

const (
	MethodExact Method = "exact" // all passages that may be hits were compared
	MethodGraph Method = "graph" // through a graph of neighbours, which may miss some
)

// Set is a set of documents of one collection, as Collection.Resolve returns
// it; another kind of Set is of no use. It does not change with later writes,
// except in one way: a document that is deleted or written again is in it no
// longer, unless what was written passes the filter. Whatever is found in a Set
// passed its filter when it was found. A Set may be used from several goroutines
// at once.
type Set interface {
	// Len is the number of documents when the set was resolved.
	Len() int
}

// Schema is what a collection is made for. The models' digests are recorded so
// that vectors of another model are refused rather than compared.
type Schema struct {
	// Dense names the dense model; its zero value means the collection has no
	// dense branch and entries carry no dense vector.
	Dense ModelRef `json:"dense,omitzero"`
	// Dimensions is the length of every dense vector, 1 to MaxDimensions, and 0
	// without a dense model.
	Dimensions int `json:"dimensions,omitempty"`
	// Sparse names the sparse model; its zero value means no sparse branch.
	Sparse ModelRef `json:"sparse,omitzero"`
	// Pair names the cross-encoder whose token ids are stored with each
	// passage; its zero value means none are.
	Pair ModelRef `json:"pair,omitzero"`
	// Passages is how documents are split. The engine keeps it for the callers and
	// does not read it; its zero value is for those who do not split.
	Passages PassageSize `json:"passages,omitzero"`
}

// PassageSize is how long the passages of split documents are, in tokens of the
// dense model.
type PassageSize struct {
	Tokens  int `json:"tokens"`
	Overlap int `json:"overlap,omitempty"` // tokens that a passage has in common with the one before
}

// MaxDimensions bounds Schema.Dimensions.
const MaxDimensions = 8192

// ModelRef identifies a model: its name, for people, and the digest of its
// files and settings, which decides equality.
type ModelRef struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Batch is one atomic write. An id may occur once in it.
type Batch struct {
	Upserts  []Entry
	Payloads []PayloadChange
	Deletes  []string // ids that do not exist are ignored
	// Within is what the batch may touch of what is stored. A document that does
	// not pass it is not deleted, as if it did not exist, and neither replaced
	// nor changed: that is braid.Conflict. The zero Filter lets it touch all.
	Within braid.Filter
}

// PayloadChange gives a document that exists another payload. Its texts and what
// the encoders made of them stay.
type PayloadChange struct {
	ID string
	// From is the fingerprint of the document whose payload is to change. When
	// the document has another, or is no more, the batch is a braid.Conflict.
	From [32]byte
	// Payload and Fingerprint are what it has from then on.
	Payload     json.RawMessage
	Fingerprint [32]byte
}

// WriteResult counts what a batch changed.
type WriteResult struct {
	Created, Replaced, Changed, Deleted int
}

// Fingerprint is one answer of Collection.Fingerprints.
type Fingerprint struct {
	Sum [32]byte
	OK  bool
}

// Info describes a collection.
type Info struct {
	Name      string    `json:"name"`
	Schema    Schema    `json:"schema"`
	Documents int       `json:"documents"`
	Passages  int       `json:"passages"` // of all documents
	Created   time.Time `json:"created"`
	// MemoryBytes is what the collection's indexes hold in memory, per branch.
	MemoryBytes map[braid.Branch]int64 `json:"memory_bytes"`
	// FilterBytes is what the index of payloads holds in memory.
	FilterBytes int64 `json:"filter_bytes"`
}

// MaxNameBytes bounds the name of a collection.
const MaxNameBytes = 64

// ValidateName reports why name cannot name a collection, or nil. Names are
// letters, digits, '-', '_' and '.', begin with a letter or digit, and are
// case-sensitive.
func ValidateName(name string) error {
	if name == "" || len(name) > MaxNameBytes {
		return braid.Errorf(braid.InvalidArgument, "collection name %.80q has %d bytes, want 1 to %d", name, len(name), MaxNameBytes).In("name")
	}
	for i := range len(name) {
		c := name[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '-' && c != '_' && c != '.') {
			return braid.Errorf(braid.InvalidArgument, "collection name %q: use letters, digits, '-', '_' and '.', starting with a letter or digit", name).In("name")
		}
	}
	return nil
}
