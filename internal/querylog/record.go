package querylog

import (
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/search"
)

// MaxHits is how many of an answer's hits a record tells of.
const MaxHits = 10

// Record is one line of the log. Fields that would say nothing are left out.
type Record struct {
	Time       time.Time `json:"time"` // when the answer was ready
	RequestID  string    `json:"request_id,omitempty"`
	Caller     string    `json:"caller,omitempty"` // name of the API key
	Collection string    `json:"collection"`
	// Query or QueryHash is there, or neither, as Options.Text says.
	Query     string `json:"query,omitempty"`
	QueryHash string `json:"query_hash,omitempty"`
	// Variants counts the other wordings sent with the query.
	Variants int         `json:"variants,omitempty"`
	Mode     search.Mode `json:"mode,omitempty"`
	Kind     search.Kind `json:"kind,omitempty"` // what the query was taken for
	// Filtered says that the request had a filter; Allowed is how many documents
	// passed that and the API key's.
	Filtered bool `json:"filtered,omitempty"`
	Allowed  *int `json:"allowed,omitempty"`
	// Code is why there is no answer; what follows is then absent.
	Code braid.Code `json:"code,omitempty"`

	Candidates map[braid.Branch]int `json:"candidates,omitempty"`
	Found      int                  `json:"found"` // hits returned
	Reranked   int                  `json:"reranked,omitempty"`
	// Moved is how many of the hits returned the cross-encoder put elsewhere.
	Moved          int             `json:"moved,omitempty"`
	Degraded       []string        `json:"degraded,omitempty"` // stages
	ProfileVersion uint64          `json:"profile_version,omitempty"`
	Timings        *search.Timings `json:"timings_ms,omitempty"`
	Hits           []Hit           `json:"hits,omitempty"` // the first MaxHits
}

// Hit is one of the best hits and how it came to its place.
type Hit struct {
	ID        string               `json:"id"`
	Score     float64              `json:"score"`
	ScoreType search.ScoreType     `json:"score_type"`
	Branches  map[braid.Branch]int `json:"branches,omitempty"` // rank in each that found it
	// Variants are where other wordings found it.
	Variants []search.VariantFound `json:"variants,omitempty"`
	Fused    int                   `json:"fused,omitempty"` // rank
	// Rerank is the place before and after the cross-encoder.
	Rerank *[2]int `json:"rerank,omitempty"`
}

// Of is the record of a query and its answer, or the error in its place. Who asked
// and when is left to the caller.
func Of(collection string, req search.Request, answer *search.Response, err error) Record {
	r := Record{Collection: collection, Query: req.Query, Variants: len(req.Variants), Mode: req.Mode, Filtered: req.Filter != nil}
	if req.Hypothetical != "" {
		r.Variants++
	}
	if answer == nil {
		r.Code = braid.CodeOf(err)
		return r
	}
	r.Mode, r.Allowed, r.Candidates = answer.Mode, answer.Allowed, answer.Candidates
	r.Found, r.Reranked, r.ProfileVersion = len(answer.Hits), answer.Reranked, answer.ProfileVersion
	if answer.Routing != nil {
		r.Kind = answer.Routing.Kind
	}
	for _, d := range answer.Degraded {
		r.Degraded = append(r.Degraded, d.Stage)
	}
	timings := answer.Timings
	r.Timings = &timings
	for _, h := range answer.Hits {
		if h.Rerank != nil && h.Rerank.Before != h.Rerank.After {
			r.Moved++
		}
	}
	for _, h := range answer.Hits[:min(MaxHits, len(answer.Hits))] {
		r.Hits = append(r.Hits, hitOf(h))
	}
	return r
}

func hitOf(h search.Hit) Hit {
	hit := Hit{ID: h.ID, Score: h.Score, ScoreType: h.ScoreType, Branches: map[braid.Branch]int{}, Variants: h.Variants}
	for branch, found := range h.Branches {
		hit.Branches[branch] = found.Rank
	}
	if h.Fused != nil {
		hit.Fused = h.Fused.Rank
	}
	if h.Rerank != nil {
		hit.Rerank = &[2]int{h.Rerank.Before, h.Rerank.After}
	}
	return hit
}
