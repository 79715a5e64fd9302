package index

import "context"

// MaxVerified is how many documents Matcher.Matching reads for the phrases of one
// call. What it says of the others is in Matched.Unread.
const MaxVerified = 5000

// Words is what documents have to hold, and must not hold.
type Words struct {
	// Phrases have each to be in a document as written: its words in this order
	// with no other between. Case, accents and punctuation do not count; endings do.
	Phrases []string
	// NoPhrases must not be in a document.
	NoPhrases []string
	// NoWords must not be in a document, with whatever ending the lexical branch
	// strips. One that is a compound, such as ERR-104, is taken as a phrase.
	NoWords []string
}

// Matched is a set of documents.
type Matched struct {
	Set
	// Unread is how many documents hold all words of a phrase and were not read to
	// see whether they hold it. They are not in the set.
	Unread int
}

// Matcher finds the documents that hold words. Every Collection is one.
type Matcher interface {
	// Matching returns the documents of within, nil being all, that hold what words
	// says. Of many that might hold a phrase those are read that hold its words most
	// by BM25. The set is as that of Resolve.
	Matching(ctx context.Context, words Words, within Set) (Matched, error)

	// Holds reports whether a document with this title and text is one that Matching
	// would return.
	Holds(words Words, text string) bool

	// HasWords reports whether there is anything in text that can be looked for.
	HasWords(text string) bool
}
