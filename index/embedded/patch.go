package embedded

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
)

// patch is a change of a document's payload alone: its passages keep their
// ordinals, and their vectors and words are not touched.
type patch struct {
	entry   index.Entry     // as it will be stored
	payload json.RawMessage // that is stored
	before  braid.Fields    // of it
	fields  braid.Fields    // of the one in its place
}

// patches reads the documents whose payloads change. writes is held.
func (c *collection) patches(changes []index.PayloadChange, within *docset.Set) ([]patch, error) {
	patches := make([]patch, len(changes))
	for i, change := range changes {
		ord, ok := c.ords[change.ID]
		if !ok || !within.Contains(ord) || c.slots[ord].fingerprint != change.From {
			return nil, braid.Errorf(braid.Conflict, "document %q was changed meanwhile: read it and try again", change.ID).In("id")
		}
		entry, ok, err := c.store.Get(c.recorded.Number, change.ID)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, braid.Errorf(braid.Corrupt, "document %q is in the index and not in the data folder", change.ID)
		}
		before := entry.Document.Payload
		entry.Document.Payload, entry.Fingerprint = change.Payload, change.Fingerprint
		if patches[i], err = newPatch(entry, before); err != nil {
			return nil, err
		}
	}
	return patches, nil
}

// newPatch returns the patch that leads to entry from the same with another payload.
func newPatch(entry index.Entry, payload json.RawMessage) (p patch, err error) {
	p = patch{entry: entry, payload: payload}
	if p.before, err = fieldsOf(entry.Document.ID, payload); err == nil {
		p.fields, err = fieldsOf(entry.Document.ID, entry.Document.Payload)
	}
	return p, err
}

func fieldsOf(id string, payload json.RawMessage) (braid.Fields, error) {
	fields, err := braid.FieldsOf(payload)
	if err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "document %q: %w", id, err)
	}
	return fields, nil
}

// patch makes p, of a document that is there, visible. It needs exclusive access.
func (b *branches) patch(p patch) {
	first := b.ords[p.entry.Document.ID]
	end := first + uint32(b.slots[first].count)
	b.slots[first].fingerprint = p.entry.Fingerprint
	for ord := first; ord < end; ord++ {
		b.filter.Replace(ord, p.before, p.fields)
	}
	b.patched.add(first, end)
}

// replayPatches brings documents to where get reads from whose payloads alone
// changed since: payloads are those before, by id.
func (b *branches) replayPatches(ctx context.Context, payloads map[string]json.RawMessage, get func(id string) (index.Entry, bool, error)) error {
	for id, payload := range payloads {
		if err := ctx.Err(); err != nil {
			return braid.Errorf(braid.CodeOf(err), "catch up: %w", err)
		}
		entry, ok, err := get(id)
		if err != nil {
			return err
		}
		first, known := b.ords[id]
		if !ok || !known || int(b.slots[first].count) != len(entry.Passages) {
			return braid.Errorf(braid.Corrupt, "document %q has a new payload and is in the records: %t, in what is saved: %t", id, ok, known)
		}
		p, err := newPatch(entry, payload)
		if err != nil {
			return err
		}
		b.patch(p)
	}
	return nil
}

// patchLog remembers the ordinals of passages whose payloads were changed, the
// newest of them. A set that was resolved before may hold them though they pass
// no more.
type patchLog struct {
	ords    []uint32
	dropped int // how many there were before ords[0]
}

// patchesKept is how many ordinals a log has at most, or those of one document.
const patchesKept = 1 << 16

// add appends the ordinals from first to before end.
func (l *patchLog) add(first, end uint32) {
	if len(l.ords)+int(end-first) > patchesKept {
		l.dropped += len(l.ords)
		l.ords = l.ords[:0]
	}
	for ord := first; ord < end; ord++ {
		l.ords = append(l.ords, ord)
	}
}

// now is a moment to ask since about.
func (l *patchLog) now() int { return l.dropped + len(l.ords) }

// since returns what was added after a moment; known is false when that is not
// remembered.
func (l *patchLog) since(moment int) (ords []uint32, known bool) {
	if moment < l.dropped {
		return nil, false
	}
	return l.ords[moment-l.dropped:], true
}

// standing returns what is left of a set of these branches: documents that had
// their payloads changed are in it no longer. mu is held.
func (c *collection) standing(ctx context.Context, s *set) (*docset.Set, error) {
	changed, known := c.patched.since(s.at)
	switch {
	case !known:
		return c.anew(ctx, s)
	case len(changed) == 0:
		return s.ords, nil
	}
	words := slices.Clone(s.ords.Words())
	for _, ord := range changed {
		if at := int(ord / 64); at < len(words) {
			words[at] &^= 1 << (ord % 64)
		}
	}
	return docset.FromWords(words), nil
}
