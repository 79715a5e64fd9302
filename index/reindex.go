package index

import "context"

// Remake makes of documents, as they are stored, what is stored instead: the same
// documents in the same order with other fingerprints and passages. It must depend
// on nothing but the documents and the schema that Reindex was given.
type Remake func(ctx context.Context, entries []Entry) ([]Entry, error)

// Reindexed counts what Engine.Reindex did.
type Reindexed struct {
	// Remade is how many documents Remake was called for. One that is written
	// meanwhile counts again.
	Remade int `json:"remade"`
	// Kept is how many had been remade by a call that was interrupted.
	Kept int `json:"kept"`
}
