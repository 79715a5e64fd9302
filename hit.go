package braid

// Branch is one way of retrieving. Its value is the name used on the wire and
// in explanations.
type Branch string

const (
	Dense   Branch = "dense"   // nearest neighbours of a dense embedding
	Sparse  Branch = "sparse"  // inner product of SPLADE expansions
	Lexical Branch = "lexical" // BM25 over words
)

// Branches returns every branch in the order they are shown.
func Branches() []Branch { return []Branch{Dense, Sparse, Lexical} }

// Hit is one entry of a ranking: a passage of a document and its score. A
// ranking is sorted by descending score and, among equal scores, by ascending ID
// and then Passage, so that the same request always gives the same order. Scores
// of two branches have different scales and are never added.
type Hit struct {
	ID string `json:"id"` // of the document
	// Passage is the number of the passage in its document, from 0; a document
	// that was not split is passage 0.
	Passage int     `json:"passage,omitempty"`
	Score   float64 `json:"score"`
}

// Place is h without its score: what tells one passage from another, also as the
// key of a map.
func (h Hit) Place() Hit {
	h.Score = 0
	return h
}

// Before reports whether h stands before other in a ranking.
func (h Hit) Before(other Hit) bool {
	if h.Score != other.Score {
		return h.Score > other.Score
	}
	if h.ID != other.ID {
		return h.ID < other.ID
	}
	return h.Passage < other.Passage
}
