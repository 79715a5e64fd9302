package search

import (
	"context"
	"encoding/json"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Limits on a page of documents.
const (
	DefaultPage  = 100
	MaxPage      = 1000
	MaxPageBytes = 16 << 20 // of texts and payloads; a page has one document at least
)

// Document returns the document stored under id, or braid.NotFound.
func (s *Service) Document(ctx context.Context, name, id string) (braid.Document, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return braid.Document{}, err
	}
	stored, err := s.stored(ctx, c, id)
	return stored.Document, err
}

// stored returns the document called id if it is in the scope.
func (s *Service) stored(ctx context.Context, c index.Collection, id string) (index.Stored, error) {
	found, err := c.Get(ctx, []string{id})
	if err != nil {
		return index.Stored{}, err
	}
	if len(found) == 0 {
		return index.Stored{}, noDocument(c, id)
	}
	switch ok, err := passes(s.scope.Filter, found[0].Document); {
	case err != nil:
		return index.Stored{}, err
	case !ok:
		return index.Stored{}, noDocument(c, id)
	}
	return found[0], nil
}

func noDocument(c index.Collection, id string) error {
	return braid.Errorf(braid.NotFound, "collection %q has no document %q", c.Info().Name, id)
}

// Delete removes the document stored under id, or returns braid.NotFound.
func (s *Service) Delete(ctx context.Context, name, id string) error {
	c, err := s.openToWrite(ctx, name)
	if err != nil {
		return err
	}
	result, err := c.Write(ctx, index.Batch{Deletes: []string{id}, Within: s.scope.Filter})
	if err != nil {
		return err
	}
	if result.Deleted == 0 {
		return noDocument(c, id)
	}
	return nil
}

// Count returns the number of documents that pass filter.
func (s *Service) Count(ctx context.Context, name string, filter braid.Filter) (int, error) {
	c, err := s.open(ctx, name)
	if err != nil {
		return 0, err
	}
	set, err := c.Resolve(ctx, braid.AllOf(s.scope.Filter, filter))
	if err != nil {
		return 0, err
	}
	return set.Len(), nil
}

// deleteBatch is the number of documents that go in one step of DeleteWhere.
const deleteBatch = 1000

// DeleteWhere removes the documents that pass filter and returns how many it
// removed. It goes by deleteBatch documents, each such step durable and at one
// moment: of documents that are written meanwhile, those that pass the filter may
// be left, and no other is removed. After an error the count is of what was
// removed before. An empty filter is braid.InvalidArgument: it is more often a
// mistake than meant.
func (s *Service) DeleteWhere(ctx context.Context, name string, filter braid.Filter) (int, error) {
	if filter.Empty() {
		return 0, braid.Errorf(braid.InvalidArgument, `the filter is empty and would delete every document: say which ones, or that you mean all of them with {"must": [{}]}`).In("filter")
	}
	c, err := s.openToWrite(ctx, name)
	if err != nil {
		return 0, err
	}
	within := braid.AllOf(s.scope.Filter, filter)
	set, err := c.Resolve(ctx, within)
	if err != nil {
		return 0, err
	}
	deleted, after := 0, ""
	for {
		ids, err := c.IDs(ctx, after, deleteBatch, set)
		if err != nil || len(ids) == 0 {
			return deleted, err
		}
		result, err := c.Write(ctx, index.Batch{Deletes: ids, Within: within})
		if err != nil {
			return deleted, err
		}
		deleted += result.Deleted
		after = ids[len(ids)-1]
	}
}

// PageRequest asks for documents in the order of their ids.
type PageRequest struct {
	// After is the id the page begins behind: Page.Next of the page before.
	After string `json:"after,omitempty"`
	// Limit is the largest number of documents: 1 to MaxPage, DefaultPage if nil.
	Limit *int `json:"limit,omitempty"`
	// Filter is what the documents pass; nil is all of them.
	Filter *braid.Filter `json:"filter,omitempty"`
}

// Page is some documents by ascending ids (in bytes).
type Page struct {
	Documents []braid.Document `json:"documents"`
	// Next is what After is for the next page; absent when there is none.
	Next string `json:"next,omitempty"`
}

// Page returns documents in the order of their ids. Pages may be shorter than
// asked for where documents are large or go meanwhile. A document that is there
// from the first page to the last one is on exactly one.
func (s *Service) Page(ctx context.Context, name string, req PageRequest) (Page, error) {
	limit := DefaultPage
	if req.Limit != nil {
		limit = *req.Limit
	}
	if limit < 1 || limit > MaxPage {
		return Page{}, braid.Errorf(braid.InvalidArgument, "limit is %d, want 1 to %d", limit, MaxPage).In("limit")
	}
	c, err := s.open(ctx, name)
	if err != nil {
		return Page{}, err
	}
	filter := s.filter(req.Filter)
	set, err := s.resolve(ctx, c, filter)
	if err != nil {
		return Page{}, err
	}
	ids, err := c.IDs(ctx, req.After, limit+1, set)
	if err != nil {
		return Page{}, err
	}
	return readPage(ctx, c, ids, limit, filter)
}

// readPage reads the first limit of ids, as far as MaxPageBytes reach.
func readPage(ctx context.Context, c index.Collection, ids []string, limit int, filter braid.Filter) (Page, error) {
	page := Page{Documents: []braid.Document{}}
	size := 0
	for i, id := range ids {
		if i == limit || size >= MaxPageBytes {
			page.Next = ids[i-1]
			break
		}
		stored, err := c.Get(ctx, []string{id})
		if err != nil {
			return Page{}, err
		}
		for _, found := range stored { // one, or none when it is gone
			d := found.Document
			ok, err := passes(filter, d)
			if err != nil {
				return Page{}, err
			}
			if ok {
				page.Documents = append(page.Documents, d)
				size += len(d.Title) + len(d.Text) + len(d.Payload)
			}
		}
	}
	return page, nil
}

// passes reports whether d passes filter. What was found by a filter is asked
// once more when it has been read, since it may have been written in between.
func passes(filter braid.Filter, d braid.Document) (bool, error) {
	if filter.Empty() {
		return true, nil
	}
	fields, err := braid.FieldsOf(d.Payload)
	return err == nil && filter.Passes(fields), err
}

// filter is what documents have to pass for the caller and the request.
func (s *Service) filter(asked *braid.Filter) braid.Filter {
	if asked == nil {
		return s.scope.Filter
	}
	return braid.AllOf(s.scope.Filter, *asked)
}

// resolve returns the documents that pass filter, nil for all of them.
func (s *Service) resolve(ctx context.Context, c index.Collection, filter braid.Filter) (index.Set, error) {
	if filter.Empty() {
		return nil, nil
	}
	return c.Resolve(ctx, filter)
}

// updateAttempts bounds how often UpdatePayload starts again because the document
// was written meanwhile.
const updateAttempts = 10

// UpdatePayload merges patch, a JSON object, into the payload of the document
// called id, as JSON Merge Patch does (RFC 7396): keys replace those of the
// payload, objects are merged into objects, and null removes a key. Nothing is
// encoded again. It returns the document as it is then.
func (s *Service) UpdatePayload(ctx context.Context, name, id string, patch json.RawMessage) (braid.Document, error) {
	c, err := s.openToWrite(ctx, name)
	if err != nil {
		return braid.Document{}, err
	}
	for range updateAttempts {
		stored, err := s.stored(ctx, c, id)
		if err != nil {
			return braid.Document{}, err
		}
		d := stored.Document
		if d.Payload, err = mergePayload(d.Payload, patch); err != nil {
			return braid.Document{}, err
		}
		if err := d.Validate(); err != nil {
			return braid.Document{}, err
		}
		if err := s.scope.mayStore(d); err != nil {
			return braid.Document{}, err
		}
		change := index.PayloadChange{ID: id, From: stored.Fingerprint, Payload: d.Payload, Fingerprint: s.fingerprint(d, c.Info().Schema)}
		if change.Fingerprint == change.From {
			return d, nil
		}
		_, err = c.Write(ctx, index.Batch{Payloads: []index.PayloadChange{change}, Within: s.scope.Filter})
		if braid.CodeOf(err) != braid.Conflict {
			return d, err
		}
	}
	return braid.Document{}, braid.Errorf(braid.Conflict, "document %q is written all the time: try again", id)
}
