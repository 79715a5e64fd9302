package embedded

import (
	"context"
	"slices"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/lexical"
)

// asked are index.Words as the analyser takes them apart.
type asked struct {
	phrases, noPhrases [][]lexical.Unit
	noTerms            []string
}

func (c *collection) ask(words index.Words) asked {
	var a asked
	units := func(to *[][]lexical.Unit, texts []string) {
		for _, text := range texts {
			if u := c.analyzer.Units(text); len(u) > 0 {
				*to = append(*to, u)
			}
		}
	}
	units(&a.phrases, words.Phrases)
	units(&a.noPhrases, words.NoPhrases)
	for _, word := range words.NoWords {
		if u := c.analyzer.Units(word); len(u) == 1 {
			a.noTerms = append(a.noTerms, u[0].Term)
		} else if len(u) > 1 {
			a.noPhrases = append(a.noPhrases, u)
		}
	}
	return a
}

// HasWords implements index.Matcher.
func (c *collection) HasWords(text string) bool { return len(c.analyzer.Units(text)) > 0 }

// Holds implements index.Matcher.
func (c *collection) Holds(words index.Words, text string) bool {
	a := c.ask(words)
	holds := func(phrase []lexical.Unit) bool { return c.analyzer.Holds(text, phrase) }
	return len(c.analyzer.Locate(text, a.noTerms)) == 0 && !slices.ContainsFunc(a.noPhrases, holds) &&
		!slices.ContainsFunc(a.phrases, func(p []lexical.Unit) bool { return !holds(p) })
}

// Matching implements index.Matcher.
func (c *collection) Matching(ctx context.Context, words index.Words, within index.Set) (index.Matched, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.gone != nil {
		return index.Matched{}, c.gone
	}
	ords, err := c.ordinals(ctx, within)
	if err != nil {
		return index.Matched{}, err
	}
	if ords == nil {
		ords = c.filter.Resolve(braid.Filter{})
	}
	found, unread, err := c.match(ctx, words, ords)
	if err != nil {
		return index.Matched{}, braid.Errorf(braid.CodeOf(err), "match words in collection %q: %w", c.recorded.Name, err)
	}
	s := &set{of: c, in: c.branches, words: &words, ords: found, at: c.patched.now(), length: c.documents(found)}
	s.within, _ = own(within)
	return index.Matched{Set: s, Unread: unread}, nil
}

// match returns those of ords, passages of whole documents, that are of documents
// which hold what words says, and how many were not read. mu is held.
func (c *collection) match(ctx context.Context, words index.Words, ords *docset.Set) (_ *docset.Set, unread int, err error) {
	a := c.ask(words)
	for _, term := range a.noTerms {
		without := c.holding(term)
		ords = docset.Where(uint32(len(c.slots)), func(ord uint32) bool { return ords.Contains(ord) && !without.Contains(ord) })
	}
	read := 0
	for _, phrase := range a.phrases {
		candidates := c.candidates(phrase, ords)
		chosen, left, err := c.best(ctx, phrase, candidates, index.MaxVerified-read)
		if err != nil {
			return nil, 0, err
		}
		read, unread = read+c.documents(chosen), unread+left
		if ords, err = c.holders(ctx, phrase, chosen); err != nil {
			return nil, 0, err
		}
	}
	for _, phrase := range a.noPhrases {
		candidates := c.candidates(phrase, ords)
		chosen, left, err := c.best(ctx, phrase, candidates, index.MaxVerified-read)
		if err != nil {
			return nil, 0, err
		}
		read, unread = read+c.documents(chosen), unread+left
		holding, err := c.holders(ctx, phrase, chosen)
		if err != nil {
			return nil, 0, err
		}
		// What was not read may hold it.
		ords = docset.Where(uint32(len(c.slots)), func(ord uint32) bool {
			return ords.Contains(ord) && !holding.Contains(ord) && (!candidates.Contains(ord) || chosen.Contains(ord))
		})
	}
	return ords, unread, nil
}

// holding returns all passages of the documents of which any passage holds term.
func (c *collection) holding(term string) *docset.Set {
	words := make([]uint64, (len(c.slots)+63)/64)
	for ord := range c.lexical.Holding(term) {
		c.addDocument(words, ord)
	}
	return docset.FromWords(words)
}

// addDocument sets the bits of all passages of the document that passage ord is of.
func (c *collection) addDocument(words []uint64, ord uint32) {
	first := ord - uint32(c.slots[ord].passage)
	for i := range uint32(c.slots[first].count) {
		words[(first+i)/64] |= 1 << ((first + i) % 64)
	}
}

// candidates returns those of ords that are of documents which hold all words of a
// phrase.
func (c *collection) candidates(phrase []lexical.Unit, ords *docset.Set) *docset.Set {
	seen := map[string]bool{}
	for _, u := range phrase {
		if seen[u.Term] {
			continue
		}
		seen[u.Term] = true
		held := c.holding(u.Term)
		ords = docset.Where(uint32(len(c.slots)), func(ord uint32) bool { return ords.Contains(ord) && held.Contains(ord) })
	}
	return ords
}

// best returns at most n documents of candidates, those that hold the words of the
// phrase most, and how many are left.
func (c *collection) best(ctx context.Context, phrase []lexical.Unit, candidates *docset.Set, n int) (*docset.Set, int, error) {
	all := c.documents(candidates)
	if all <= n {
		return candidates, 0, nil
	}
	words := make([]uint64, (len(c.slots)+63)/64)
	if n > 0 {
		text := ""
		for _, u := range phrase {
			text += u.Text + " "
		}
		scan, err := c.scan(ctx, index.Query{K: n})
		if err != nil {
			return nil, 0, err
		}
		scan.Allowed = candidates
		matches, err := c.lexical.Search(ctx, text, scan)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range matches {
			c.addDocument(words, m.Ord)
		}
	}
	chosen := docset.FromWords(words)
	return chosen, all - c.documents(chosen), nil
}

// holders reads documents and returns all passages of those that hold the phrase.
func (c *collection) holders(ctx context.Context, phrase []lexical.Unit, documents *docset.Set) (*docset.Set, error) {
	words := make([]uint64, (len(c.slots)+63)/64)
	for ord := range documents.All() {
		slot := c.slots[ord]
		if slot.passage != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		stored, ok, err := c.store.GetStored(c.recorded.Number, slot.id)
		if err != nil {
			return nil, err
		}
		// A write that has reached the disk and not yet the branches may have
		// deleted it.
		if ok && c.analyzer.Holds(stored.Document.Passage(), phrase) {
			c.addDocument(words, ord)
		}
	}
	return docset.FromWords(words), nil
}
