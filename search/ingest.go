package search

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// IngestBatch is the number of documents encoded and written in one step. It is
// what an interrupted call can lose, and small enough that the texts in flight
// stay under IngestBatch × braid.MaxTextBytes.
const IngestBatch = 64

// IngestResult counts what became of the documents of one call.
type IngestResult struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"` // stored already with this very content: not encoded again
	// Tokens is what the dense model read, special tokens included.
	Tokens int `json:"tokens"`
	// Truncated counts documents of which the dense model read only the first
	// part. The lexical index has all of each text.
	Truncated int `json:"truncated"`
}

// Stored is the number of documents that are stored after the call.
func (r IngestResult) Stored() int { return r.Created + r.Replaced + r.Unchanged }

// Add counts other in.
func (r *IngestResult) Add(other IngestResult) {
	r.Created += other.Created
	r.Replaced += other.Replaced
	r.Unchanged += other.Unchanged
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
	if err := s.validateAll(docs); err != nil {
		return total, err
	}
	for len(docs) > 0 {
		n := min(IngestBatch, len(docs))
		result, err := s.ingestBatch(ctx, c, docs[:n])
		total.Add(result)
		if err != nil {
			return total, err
		}
		docs = docs[n:]
	}
	return total, nil
}

func (s *Service) validateAll(docs []braid.Document) error {
	seen := make(map[string]int, len(docs))
	for i, d := range docs {
		if err := d.Validate(); err != nil {
			return at(i, err)
		}
		if err := s.scope.mayStore(d); err != nil {
			return at(i, err)
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
	var entries []index.Entry
	for i, d := range docs {
		d.Payload = compact(d.Payload)
		sum := s.fingerprint(d, schema)
		if stored[i].OK && stored[i].Sum == sum {
			result.Unchanged++
			continue
		}
		entries = append(entries, index.Whole(d, sum))
	}
	if len(entries) == 0 {
		return result, nil
	}
	if err := s.canIngest(schema); err != nil {
		return result, err
	}
	usage, err := s.encode(ctx, schema, entries)
	if err != nil {
		return result, err
	}
	written, err := c.Write(ctx, index.Batch{Upserts: entries, Within: s.scope.Filter})
	if err != nil {
		return result, err
	}
	result.Add(usage)
	result.Created, result.Replaced = written.Created, written.Replaced
	return result, nil
}

// encode fills in what the models make of the entries' passages. The models run
// side by side; the scheduler shares the cores out among them.
func (s *Service) encode(ctx context.Context, schema index.Schema, entries []index.Entry) (IngestResult, error) {
	passages := make([]string, len(entries))
	for i, e := range entries {
		passages[i] = e.Read(0)
	}
	req := inference.Request{Texts: passages, Role: inference.RolePassage, Lane: inference.LaneIngest, Length: inference.LengthOne}
	var usage IngestResult
	g, ctx := errgroup.WithContext(ctx)
	if schema.Dense.Name != "" {
		g.Go(func() error {
			out, _, err := s.models.Dense.Embed(ctx, req)
			if err != nil {
				return fmt.Errorf("encode dense: %w", err)
			}
			for i, e := range out {
				entries[i].Passages[0].Dense = e.Vector
				usage.Tokens += e.Tokens
				if e.Truncated {
					usage.Truncated++
				}
			}
			return nil
		})
	}
	if schema.Sparse.Name != "" {
		g.Go(func() error {
			out, _, err := s.models.Sparse.Expand(ctx, req)
			if err != nil {
				return fmt.Errorf("encode sparse: %w", err)
			}
			for i, e := range out {
				entries[i].Passages[0].Sparse = e.Vector
			}
			return nil
		})
	}
	if s.keepsTokens(schema) {
		g.Go(func() error {
			tokens, err := s.models.Pair.Tokens(ctx, passages)
			if err != nil {
				return fmt.Errorf("tokenise for the reranker: %w", err)
			}
			for i, t := range tokens {
				entries[i].Passages[0].Tokens = t
			}
			return nil
		})
	}
	err := g.Wait()
	return usage, err
}

// keepsTokens reports whether the token ids the collection stores are those of
// the loaded reranker. Without them the reranker tokenises passages itself.
func (s *Service) keepsTokens(schema index.Schema) bool {
	return s.models.Pair != nil && schema.Pair == s.models.PairRef
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
	for _, part := range []string{d.Title, d.Text, string(d.Payload), schema.Dense.Digest, schema.Sparse.Digest, schema.Pair.Digest} {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}
