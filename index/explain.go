package index

import (
	"context"

	"github.com/braid-search/braid"
)

// Explainer says why passages have the scores they have. Every Collection is
// one. What it says is of the moment it is asked: when the collection changed
// since a ranking was made, scores may be others than there.
type Explainer interface {
	// ExplainLexical returns, for each of hits in order, the terms that make up
	// its score in SearchLexical for text: their contributions, added in the order
	// given, are the score. A passage that is not there, or holds no term, has
	// none. Of a hit only its document and passage are looked at, not its score.
	ExplainLexical(ctx context.Context, text string, hits []braid.Hit) ([][]LexicalShare, error)

	// ExplainSparse is ExplainLexical for SearchSparse. It fails as that does.
	ExplainSparse(ctx context.Context, vector braid.SparseVector, hits []braid.Hit) ([][]SparseShare, error)

	// AnalyzeQuery returns what SearchLexical looks for when it is given text.
	AnalyzeQuery(text string) QueryAnalysis

	// Locate returns where text, analysed as that of a document, holds any of terms,
	// which are as QueryTerm and LexicalShare have them: by ascending Start, once for
	// each time that a term counts in its Frequency.
	Locate(text string, terms []string) []Place
}

// Place is where a text holds a term: text[Start:End], in bytes, between characters.
// One place can hold several terms, and places can overlap.
type Place struct {
	Start, End int
	Term       string
}

// LexicalShare is what one term gave to a score:
// Contribution = Weight·IDF·Frequency/(Frequency + Norm).
type LexicalShare struct {
	Term         string  `json:"term"`
	Weight       float64 `json:"weight"`       // of the term in the query
	Frequency    int     `json:"tf"`           // how often the passage holds it
	IDF          float64 `json:"idf"`          // ln(1 + (N − n + 0.5)/(n + 0.5))
	Norm         float64 `json:"norm"`         // k1·(1 − b + b·length/average length)
	Contribution float64 `json:"contribution"` // above 0
}

// SparseShare is what one index of the vocabulary gave to a score:
// Contribution = Query·Document.
type SparseShare struct {
	Index        uint32  `json:"index"`
	Query        float32 `json:"query"`    // its weight in the query
	Document     float32 `json:"document"` // and in the passage
	Contribution float64 `json:"contribution"`
}

// QueryAnalysis is what the lexical branch made of a query.
type QueryAnalysis struct {
	// Terms are looked for, each once, in the order of the text.
	Terms []QueryTerm
	// Dropped are the words that are too common to look for, as written.
	Dropped []string
}

// QueryTerm is a term that is looked for.
type QueryTerm struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
	// Start and End are where it was first made from, in bytes of the query.
	Start int `json:"start"`
	End   int `json:"end"`
}
