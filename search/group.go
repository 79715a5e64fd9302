package search

import (
	"context"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/search/split"
)

// GroupBy says what a hit of an answer is.
type GroupBy string

const (
	GroupDocument GroupBy = "document" // a document, with the best of its passages
	GroupPassage  GroupBy = "passage"  // a passage; a document may be there several times
)

func (r Request) validateGroupBy() error {
	switch r.GroupBy {
	case "", GroupDocument, GroupPassage:
		return nil
	}
	return braid.Errorf(braid.InvalidArgument, "group_by is %q: use document or passage", r.GroupBy).In("group_by")
}

// Passage says where in a document the text of a hit stands.
type Passage struct {
	Number int `json:"number"` // in the document, from 0
	Of     int `json:"of"`     // how many passages it has
	// Start and End are bytes of the document's text as it was sent.
	Start int `json:"start"`
	End   int `json:"end"`
	// Section is the headings above the passage, joined by " > "; absent without
	// any.
	Section string `json:"section,omitempty"`
}

// passagesPerHit is how many passages a branch retrieves by default for each hit
// where several may be of one document.
const passagesPerHit = 4

// widen raises the default number of candidates where documents are split, so that
// a few long documents do not make the answer shorter than was asked for.
func (p *plan) widen(schema index.Schema) {
	if p.Candidates == nil && p.byDocument() && schema.Passages.Tokens > 0 {
		p.candidates = max(p.candidates, min(MaxCandidates, passagesPerHit*p.limit))
	}
}

func (p plan) byDocument() bool { return p.GroupBy != GroupPassage }

// group leaves the first passage of each document, if hits are documents.
func (p plan) group(hits []Hit) []Hit {
	if !p.byDocument() {
		return hits
	}
	seen := make(map[string]bool, len(hits))
	kept := hits[:0]
	for _, h := range hits {
		if !seen[h.ID] {
			seen[h.ID] = true
			kept = append(kept, h)
		}
	}
	return kept
}

// place is where a hit stands: a passage in its document.
type place struct {
	in     *index.Stored
	number int
}

// show fills in what the hit shows of its document.
func (at place) show(h *Hit) {
	d := at.in.Document
	h.Title, h.Text, h.Payload = d.Title, d.Text, d.Payload
	p := at.in.Passages[at.number]
	if p.Text == "" {
		return // the document is not split
	}
	h.Passage = &Passage{Number: at.number, Of: len(at.in.Passages), Start: p.Start, End: p.End, Section: p.Section}
	h.Text = d.Text[p.Start:p.End]
	if d.Format == braid.FormatHTML {
		h.Text = split.Text(d.Title, p.Section, p.Text)
	}
}

// shelf holds the documents that were read for an answer, nil those that are no hit
// any more.
type shelf map[string]*index.Stored

// read gets the documents of hits that are not on the shelf, and leaves out those
// that do not pass the filter or hold what the query asks for.
func (s shelf) read(ctx context.Context, c index.Collection, p plan, hits []Hit) error {
	var ids []string
	for _, h := range hits {
		if _, known := s[h.ID]; !known {
			s[h.ID] = nil
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	stored, err := c.Get(ctx, ids)
	if err != nil {
		return err
	}
	for i := range stored {
		ok, err := passes(p.filter, stored[i].Document)
		if err != nil {
			return err
		}
		if ok && p.holds(c, stored[i].Document) {
			s[stored[i].Document.ID] = &stored[i]
		}
	}
	return nil
}

// enough reports whether passages of documents are as many as later stages need:
// what is returned, and what is reranked.
func (p plan) enough(passages, documents int) bool {
	returned := documents
	if !p.byDocument() {
		returned = passages
	}
	return returned >= p.limit && (!p.rerank || passages >= p.depth)
}

// fetch reads the documents of as many hits as later stages need, each once, and
// returns the hits that are still there, and pass the filter, with their passages.
// A passage whose document was deleted since it was retrieved, or written again so
// that it has fewer passages or does not pass, is no hit any more; the next one
// takes its place.
func fetch(ctx context.Context, c index.Collection, p plan, hits []Hit, timings *Timings) ([]Hit, []place, error) {
	start := time.Now()
	defer func() { timings.Fetch = milliseconds(time.Since(start)) }()
	wanted := p.limit
	if p.rerank {
		wanted = max(wanted, p.depth)
	}
	documents := map[string]bool{}
	onShelf := shelf{}
	kept := []Hit{}
	var read []place
	for len(hits) > 0 && !p.enough(len(kept), len(documents)) {
		next := hits[:min(len(hits), max(1, wanted-len(documents)))]
		hits = hits[len(next):]
		if err := onShelf.read(ctx, c, p, next); err != nil {
			return nil, nil, err
		}
		for _, h := range next {
			stored := onShelf[h.ID]
			if stored == nil || h.number >= len(stored.Passages) {
				continue
			}
			at := place{in: stored, number: h.number}
			at.show(&h)
			kept, read = append(kept, h), append(read, at)
			documents[h.ID] = true
		}
	}
	return kept, read, nil
}
