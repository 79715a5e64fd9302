package search

import (
	"encoding/json"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Response is the answer to a query. Its shape is the same whatever the branches
// found; Hits is never nil.
type Response struct {
	Hits []Hit `json:"hits"`
	Mode Mode  `json:"mode"`
	// Routing says what a hybrid query was taken for; absent in other modes and
	// when routing was switched off.
	Routing *Routing `json:"routing,omitempty"`
	// Fusion is how the rankings were merged, weights and all; absent if there was
	// but one.
	Fusion *Fusion `json:"fusion,omitempty"`
	// VariantWeight is what the votes of each other wording of the query weighed, where
	// the query's own weigh 1; absent if there was none.
	VariantWeight *float64 `json:"variant_weight,omitempty"`
	// RerankWeight is the share of the cross-encoder in the order of what it
	// scored; absent if it scored nothing.
	RerankWeight *float64 `json:"rerank_weight,omitempty"`
	// Reranked is the number of hits the cross-encoder scored.
	Reranked int `json:"reranked"`
	// RerankStopped says why fewer hits were scored than were asked for; absent
	// when none was left out.
	RerankStopped Stop `json:"rerank_stopped,omitempty"`
	// Candidates is the number of passages each branch found.
	Candidates map[braid.Branch]int `json:"candidates"`
	// DenseMethod is how the dense branch found its documents: a graph may miss
	// some of the best. Absent if the branch did not run.
	DenseMethod index.Method `json:"dense_method,omitempty"`
	// Allowed is the number of documents that pass the filter; absent without one.
	Allowed *int `json:"allowed,omitempty"`
	// ProfileVersion is the version of the collection's profile, from which the
	// request was completed; absent if the collection has none.
	ProfileVersion uint64 `json:"profile_version,omitempty"`
	// NoAnswerProbability is how probable it is, by the calibration of the
	// collection's profile, that nothing relevant was found; absent without one,
	// and if the cross-encoder scored no hit of several.
	NoAnswerProbability *float64 `json:"no_answer_probability,omitempty"`
	// Degraded names what failed or ran out of time; absent when nothing did.
	Degraded []Degradation `json:"degraded,omitempty"`
	// Query says what the models made of the query text.
	Query QueryUsage `json:"query"`
	// Explain is what the query was made of; nil unless asked for.
	Explain *QueryExplanation `json:"explain,omitempty"`
	Timings Timings           `json:"timings_ms"`
}

// Stop is a reason to score no more candidates.
type Stop string

// StopBudget says that the rest would not have been ready within Request.BudgetMS.
const StopBudget Stop = "budget"

// QueryUsage counts the tokens of the query and its variants as the models see them,
// special tokens included, before cutting: the most that one model saw.
type QueryUsage struct {
	Tokens    int  `json:"tokens"`
	Truncated bool `json:"truncated"`
	// What follows is absent if the query had neither phrases nor excluded words.

	// Text is what was looked for: the query without quotes and what it excludes.
	Text string `json:"text,omitempty"`
	// Phrases are those that documents had to hold.
	Phrases []string `json:"phrases,omitempty"`
	// Excluded are the words, and after them the phrases, that no document might hold.
	Excluded []string `json:"excluded,omitempty"`
	// Matching is the number of documents that pass the filter and hold what they have
	// to.
	Matching *int `json:"matching,omitempty"`
	// Unread is the number of documents that hold all words of a phrase but were too
	// many to look whether they hold the phrase. They are not searched.
	Unread int `json:"unread,omitempty"`
}

// Hit is one document of the answer, best first: the best of its passages, of which
// all scores are. With GroupPassage it is one passage.
type Hit struct {
	Rank  int    `json:"rank"` // from 1
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Text is the document's, or where that is split only the passage's.
	Text string `json:"text"`
	// Passage says where Text stands; nil where the document is not split.
	Passage *Passage `json:"passage,omitempty"`
	// Payload is the document's; absent if it has none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// Score is the number the hit was ordered by, on the scale ScoreType names.
	Score     float64   `json:"score"`
	ScoreType ScoreType `json:"score_type"`
	// Branches holds the branches that found the document, by the query itself, and
	// no others.
	Branches map[braid.Branch]Found `json:"branches"`
	// Variants says where other wordings of the query found the document; absent
	// if none did.
	Variants []VariantFound `json:"variants,omitempty"`
	// Fused is where fusion put the document; nil if there was but one ranking.
	Fused *Found `json:"fused,omitempty"`
	// Rerank is what the cross-encoder said; nil if it did not score the hit.
	Rerank *Reranked `json:"rerank,omitempty"`
	// Explain is what the hit's scores consist of; nil unless asked for.
	Explain *Explanation `json:"explain,omitempty"`
	// Highlights is where the hit matches the query; nil unless asked for.
	Highlights *Highlights `json:"highlights,omitempty"`

	number int // of the passage in its document
	made   making
}

// ScoreType names the scale of Hit.Score. Scores of two types are not
// comparable.
type ScoreType string

const (
	ScoreProbability ScoreType = "probability" // sigmoid of the cross-encoder's logit, 0 to 1
	ScoreBlended     ScoreType = "blended"     // cross-encoder's and fused score by weight, 0 to 1 within one answer
	ScoreFused       ScoreType = "fused"       // the fusion method's
	ScoreDense       ScoreType = "dense"       // cosine
	ScoreSparse      ScoreType = "sparse"      // inner product
	ScoreLexical     ScoreType = "lexical"     // BM25
)

// Found is a place in one ranking. Rank counts from 1.
type Found struct {
	Rank  int     `json:"rank"`
	Score float64 `json:"score"`
	// Contribution is what the vote gave to the fused score; the contributions of a
	// hit, variants included, add up to it. Absent outside fusion.
	Contribution *float64 `json:"contribution,omitempty"`
}

// Reranked is the cross-encoder's judgement of a hit. Before and After count
// from 1 and are places in the whole list, not in the page returned.
type Reranked struct {
	Logit       float64 `json:"logit"`
	Probability float64 `json:"probability"`
	Before      int     `json:"before"`
	After       int     `json:"after"`
	// Truncated says that the passage was too long for the cross-encoder, which
	// judged its beginning.
	Truncated bool `json:"truncated,omitempty"`
	// Window is what was read of the passage; nil if its beginning or all of it.
	Window *Window `json:"window,omitempty"`
}

// Window is a part of a passage, title and text: its tokens From to To, To not
// included, counted from 0, of Of. Of a passage of more than MaxWindowedTokens
// only as many are looked at.
type Window struct {
	From int `json:"from"`
	To   int `json:"to"`
	Of   int `json:"of"`
}

// Timings are wall-clock milliseconds per stage. Branches run side by side, so
// the stages add up to more than Total. A stage that did not run is 0.
type Timings struct {
	Filter        float64 `json:"filter"`         // which documents are searched
	Queue         float64 `json:"queue"`          // longest wait of an encoder for a compute slot
	Tokenise      float64 `json:"tokenise"`       // longest tokenisation of the query
	DenseEncode   float64 `json:"dense_encode"`   // dense model on the query
	SparseEncode  float64 `json:"sparse_encode"`  // SPLADE on the query
	DenseSearch   float64 `json:"dense_search"`   // nearest neighbours
	SparseSearch  float64 `json:"sparse_search"`  // SPLADE postings
	LexicalSearch float64 `json:"lexical_search"` // BM25
	FirstStage    float64 `json:"first_stage"`    // all branches, from their start to the last one's end
	Fuse          float64 `json:"fuse"`
	Fetch         float64 `json:"fetch"`   // reading the documents
	Rerank        float64 `json:"rerank"`  // cross-encoder, its queueing included
	Explain       float64 `json:"explain"` // what the scores consist of
	Highlight     float64 `json:"highlight"`
	Total         float64 `json:"total"`
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
