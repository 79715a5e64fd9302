package embedded

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
)

// patch is a change of a document's payload alone: its passages keep their
// ordinals, and their vectors and words are not touched.
type patch struct {
	entry  index.Entry  // as it will be stored
	before braid.Fields // of the payload that is stored
	fields braid.Fields // of the one in its place
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
		p := &patches[i]
		if p.before, err = fieldsOf(entry.Document); err != nil {
			return nil, err
		}
		entry.Document.Payload, entry.Fingerprint = change.Payload, change.Fingerprint
		if p.fields, err = fieldsOf(entry.Document); err != nil {
			return nil, err
		}
		p.entry = entry
	}
	return patches, nil
}

func fieldsOf(d braid.Document) (braid.Fields, error) {
	fields, err := braid.FieldsOf(d.Payload)
	if err != nil {
		return nil, braid.Errorf(braid.CodeOf(err), "document %q: %w", d.ID, err)
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
