package inference

import (
	"context"
	"errors"
	"time"

	"github.com/braid-search/braid"
)

// Lane says who waits for a call. Queries run before ingestion; see scheduler.
type Lane uint8

const (
	// LaneQuery is for a person who waits: served first, and refused with
	// braid.Overloaded rather than queued for long.
	LaneQuery Lane = iota
	// LaneIngest is for the work of this process itself, a batch at a time: never
	// refused, it waits for its turn until its context ends.
	LaneIngest
	// LaneBulk is for long lists that others send: it runs in turn with
	// ingestion, after queries, and is refused with braid.Overloaded when more
	// waits than Options.BulkTokens.
	LaneBulk
)

func (l Lane) String() string {
	switch l {
	case LaneQuery:
		return "query"
	case LaneIngest:
		return "ingest"
	}
	return "bulk"
}

// queue is the queue of the scheduler that a lane's calls wait in.
func (l Lane) queue() int {
	if l == LaneQuery {
		return 0
	}
	return 1
}

// Role selects the prefix that the model's manifest wants before a text.
type Role uint8

const (
	RoleQuery   Role = iota // a search query
	RolePassage             // a text to be found
)

// Request is a list of texts to encode. Texts are valid UTF-8 of any length;
// the empty text is allowed (the model sees its special tokens only). The
// list is not kept.
type Request struct {
	Texts []string
	Role  Role
	Lane  Lane
	// Whole refuses a text that is too long for the model with braid.TooLarge
	// instead of cutting it.
	Whole bool
	// Length is that of dense vectors. It has no effect on other heads.
	Length Length
}

// Length says whether dense vectors are scaled to length 1.
type Length uint8

const (
	LengthOfManifest Length = iota // if the model's manifest says normalize
	LengthRaw                      // never: as long as the model makes them
	LengthOne                      // always
)

// PairRequest is a query and the passages to score with it. The list is not
// kept.
type PairRequest struct {
	Query    string
	Passages []Passage
	Lane     Lane
	// Whole refuses a pair that is too long, as in Request.
	Whole bool
	// Until, when not zero, bounds the time. The pairs are run one by one in the
	// order given; one that this model, by the pace of its latest runs, is not
	// likely to finish by then is not started, nor is any after it. Score then
	// returns scores for the first passages only, perhaps none, and no error.
	Until time.Time
}

// Usage tells how many tokens an item had and whether the model saw all of
// them.
type Usage struct {
	// Tokens counts the item's tokens before cutting, prefix and special tokens
	// included. For a text over 32 KiB it may be a lower bound: tokenising stops
	// once the model's limit is passed.
	Tokens int
	// Truncated is true when tokens were cut to fit the model's limit.
	Truncated bool
}

// Timing splits the wall time of one call. The parts follow one another, so
// their sum is the call's time, less bookkeeping.
type Timing struct {
	Tokenise time.Duration // text to token ids, all items
	Queue    time.Duration // from entering the queue until the first unit started
	Compute  time.Duration // from the first unit's start until the last one's end
}

// contextError says, in the project's codes, why ctx ended before the work did.
func contextError(ctx context.Context) error {
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		return braid.Errorf(braid.DeadlineExceeded, "inference: the deadline passed before the result was ready: %w", err)
	}
	return braid.Errorf(braid.Canceled, "inference: the caller gave up: %w", err)
}
