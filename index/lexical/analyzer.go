package lexical

import "sync"

// AnalyzerVersion changes whenever some text gets other terms than before. An
// engine that persists what the analyser made, or compares rankings over time,
// records it.
const AnalyzerVersion = 1

// MaxTermBytes bounds the length of a term. A longer one is replaced by its
// beginning and a hash of all of it, so that it still matches as a whole.
const MaxTermBytes = 80

// Kind says how a term relates to the token it was made from.
type Kind uint8

const (
	// Word is a plain word or number, stemmed if it is English, or a pair of
	// characters of a script written without spaces.
	Word Kind = iota
	// Whole is a compound as it is written, with its punctuation: err-104.
	Whole
	// Joined is a compound without its punctuation, which makes err-104,
	// err_104 and ERR104 meet.
	Joined
	// Part is a piece of a compound: 104.
	Part
)

// Term is one term of a text with the place it was made from:
// text[Start:End] of the source, in bytes. One place can have several terms.
type Term struct {
	Text       string
	Start, End int
	Kind       Kind
}

// QueryTerm is a term to look for and what it counts for. The place and kind
// are those of its first occurrence in the query.
type QueryTerm struct {
	Term
	Weight float64
}

// Analyzer turns text into terms. It is safe for concurrent use.
type Analyzer struct {
	scanners sync.Pool // of *scanner
}

// NewAnalyzer returns an analyser.
func NewAnalyzer() *Analyzer {
	return &Analyzer{scanners: sync.Pool{New: func() any { return newScanner() }}}
}

// Terms returns the terms under which text is indexed, by ascending Start.
// Stop words are among them; it is the query that leaves them out.
func (a *Analyzer) Terms(text string) []Term {
	var terms []Term
	a.scan(text, forIndex, func(t token) {
		terms = append(terms, Term{Text: string(t.text), Start: t.start, End: t.end, Kind: t.kind})
	})
	return terms
}

// scan calls emit for each term of text. The token's bytes are only valid
// during the call.
func (a *Analyzer) scan(text string, side side, emit func(token)) {
	s := a.scanners.Get().(*scanner)
	s.scan(text, side, emit)
	a.scanners.Put(s)
}
