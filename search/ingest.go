package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search/split"
)

// IngestBatch is the largest number of documents encoded and written in one step. It
// is what an interrupted call can lose, and small enough that the texts in flight
// stay under IngestBatch × braid.MaxTextBytes.
const IngestBatch = 64

// ingestPassages is how many passages make a step of fewer documents.
const ingestPassages = 512

// IngestResult counts what became of the documents of one call.
type IngestResult struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"` // stored already with this very content: not encoded again
	// Encoded is the number of passages the models read. A document that is not
	// split is one.
	Encoded int `json:"passages_encoded"`
	// Reused is the number of passages of changed documents that were encoded
	// before: they are as they were.
	Reused int `json:"passages_reused"`
	// Tokens is what the dense model read, special tokens included.
	Tokens int `json:"tokens"`
	// Truncated counts documents of which the dense model read only the first
	// part, of the whole or of a passage. The lexical index has all of each text.
	Truncated int `json:"truncated"`
}

// Stored is the number of documents that are stored after the call.
func (r IngestResult) Stored() int { return r.Created + r.Replaced + r.Unchanged }

// Add counts other in.
func (r *IngestResult) Add(other IngestResult) {
	r.Created += other.Created
	r.Replaced += other.Replaced
	r.Unchanged += other.Unchanged
	r.Encoded += other.Encoded
	r.Reused += other.Reused
	r.Tokens += other.Tokens
	r.Truncated += other.Truncated
}

// Ingest stores docs in order, IngestBatch at a time, each batch durable and
// visible in every branch before the next begins. All documents are validated
// before the first is stored. On a later error the result counts what had been
// stored; sending the same documents again is safe and encodes only the rest.
func (s *Service) Ingest(ctx context.Context, name string, docs []braid.Document) (IngestResult, error) {
	var total IngestResult
	c, err := s.openToWrite(ctx, name)
	if err != nil {
		return total, err
	}
	docs = slices.Clone(docs)
	if err := s.validateAll(c.Info().Schema, docs); err != nil {
		return total, err
	}
	for len(docs) > 0 {
		n := min(IngestBatch, len(docs))
		result, err := s.using(c).ingestBatch(ctx, c, docs[:n])
		if now := s.moved(ctx, name, c, err); now != nil {
			c = now
			continue
		}
		total.Add(result)
		if err != nil {
			return total, err
		}
		docs = docs[n:]
	}
	return total, nil
}

func (s *Service) validateAll(schema index.Schema, docs []braid.Document) error {
	seen := make(map[string]int, len(docs))
	for i, d := range docs {
		if err := d.Validate(); err != nil {
			return at(i, err)
		}
		if err := s.scope.mayStore(d); err != nil {
			return at(i, err)
		}
		if schema.Passages.Tokens > 0 && !split.Readable(d) {
			return at(i, braid.Errorf(braid.InvalidArgument, "document %q: there is nothing to read in the text but markup: send a title or a text", d.ID).In("text"))
		}
		if first, dup := seen[d.ID]; dup {
			return at(i, braid.Errorf(braid.InvalidArgument, "document id %q is used twice, at positions %d and %d: send each id once", d.ID, first, i).In("id"))
		}
		seen[d.ID] = i
	}
	return nil
}

// at names the position of a document in the call in the error's field.
func at(i int, err error) error {
	var e *braid.Error
	if !errors.As(err, &e) {
		return err
	}
	return e.In(fmt.Sprintf("documents[%d].%s", i, e.Field))
}

func (s *Service) canIngest(schema index.Schema) error {
	if schema.Dense.Name != "" {
		if err := s.fitsDense(schema); err != nil {
			return err
		}
	}
	if schema.Sparse.Name != "" {
		if err := s.fitsSparse(schema); err != nil {
			return err
		}
	}
	return nil
}

// ingestBatch stores one batch. After an error the result counts the documents
// that had been stored before with the same content.
func (s *Service) ingestBatch(ctx context.Context, c index.Collection, docs []braid.Document) (IngestResult, error) {
	schema := c.Info().Schema
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	stored, err := c.Fingerprints(ctx, ids)
	if err != nil {
		return IngestResult{}, err
	}
	var result IngestResult
	var changed []int
	sums := make([][32]byte, len(docs))
	for i, d := range docs {
		docs[i].Payload = compact(d.Payload)
		if sums[i] = s.fingerprint(docs[i], schema); stored[i].OK && stored[i].Sum == sums[i] {
			result.Unchanged++
			continue
		}
		changed = append(changed, i)
	}
	if len(changed) == 0 {
		return result, nil
	}
	if err := s.canIngest(schema); err != nil {
		return result, err
	}
	w := writer{s: s, c: c, schema: schema}
	for _, i := range changed {
		e, err := s.entryOf(ctx, schema, docs[i], sums[i])
		if err == nil {
			err = w.add(ctx, e, stored[i].OK)
		}
		if err != nil {
			result.Add(w.result)
			return result, err
		}
	}
	err = w.flush(ctx)
	result.Add(w.result)
	return result, err
}

// compact returns a valid JSON value without the white space between its parts,
// so that the same payload is the same content however it was written.
func compact(payload json.RawMessage) json.RawMessage {
	if payload == nil {
		return nil
	}
	var b bytes.Buffer
	if json.Compact(&b, payload) != nil {
		return payload // not JSON: Document.Validate has refused it before
	}
	return b.Bytes()
}

// fingerprint identifies the content of a document together with all that
// decides what is stored for it.
func (s *Service) fingerprint(d braid.Document, schema index.Schema) [32]byte {
	h := sha256.New()
	parts := []string{d.Title, d.Text, string(d.Payload), schema.Dense.Digest, schema.Sparse.Digest, schema.Pair.Digest}
	if size := schema.Passages; size.Tokens > 0 || d.Format != "" {
		parts = append(parts, string(d.Format), fmt.Sprintf("%d %d %d", split.Version, size.Tokens, size.Overlap))
	}
	for _, part := range parts {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
