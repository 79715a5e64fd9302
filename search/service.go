package search

import (
	"context"
	"log/slog"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
)

// tokenCounter says how long passages are for a model.
type tokenCounter interface {
	// Count returns how many tokens each text has, special tokens left out.
	Count(ctx context.Context, texts []string) ([]int, error)
	// PassageRoom is how many of them the model reads.
	PassageRoom(ctx context.Context) (int, error)
}

// DenseEncoder turns texts into vectors of length 1, one per text in order.
type DenseEncoder interface {
	tokenCounter
	Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error)
}

// SparseEncoder turns texts into weights over its vocabulary, one per text in
// order.
type SparseEncoder interface {
	tokenCounter
	Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error)
	// Token returns what an index of the vocabulary stands for, "" for none.
	Token(index uint32) string
	// Tokenise returns the tokens of each text, with special tokens only on request.
	Tokenise(ctx context.Context, texts []string, special bool) ([][]inference.Token, error)
}

// PairScorer judges query and passage together.
type PairScorer interface {
	// Tokens returns the token ids of each text, to be stored with a document
	// and given back in inference.Passage.
	Tokens(ctx context.Context, texts []string) ([][]uint32, error)
	// FirstTokens returns the first token ids of each text, limit at most.
	FirstTokens(ctx context.Context, texts []string, limit int) ([][]uint32, error)
	// Room is how many tokens of query and passage together are read; Tokens cuts
	// to as many.
	Room() int
	// Special returns the ids of special tokens.
	Special() []uint32
	// Score returns one relevance logit per passage, in order; with Until in the
	// request perhaps of the first passages only.
	Score(ctx context.Context, req inference.PairRequest) ([]inference.PairScore, inference.Timing, error)
}

// Models are the heads the service encodes with and the identities it records
// in the collections it creates. A nil head is a model that is not loaded: new
// collections do without its branch, existing ones answer degraded.
type Models struct {
	Dense      DenseEncoder
	DenseRef   index.ModelRef
	Dimensions int // of the dense vectors

	Sparse    SparseEncoder
	SparseRef index.ModelRef

	Pair    PairScorer
	PairRef index.ModelRef
	// SharedVocabulary says that token ids of Sparse and Pair mean the same.
	SharedVocabulary bool

	// Further are models for collections that were made with them.
	Further Further
}

// Service runs queries and ingestion over one engine. It is safe for concurrent
// use and owns nothing: engine and models are closed by who made them.
type Service struct {
	engine index.Engine
	models Models
	log    *slog.Logger
	scope  Scope
}

// New returns a service over engine and models. log receives degraded answers;
// nil discards them.
func New(engine index.Engine, models Models, log *slog.Logger) *Service {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Service{engine: engine, models: models, log: log}
}

// schema is what a collection made for the loaded models looks like.
func (s *Service) schema(passages index.PassageSize) index.Schema {
	schema := index.Schema{Passages: passages}
	if s.models.Dense != nil {
		schema.Dense, schema.Dimensions = s.models.DenseRef, s.models.Dimensions
	}
	if s.models.Sparse != nil {
		schema.Sparse = s.models.SparseRef
	}
	if s.models.Pair != nil {
		schema.Pair = s.models.PairRef
	}
	return schema
}

// fits reports why vectors of the loaded model do not belong into a collection
// made for want, or nil. role names the model for the caller, and the option that
// loads it.
func fits(loaded bool, have, want index.ModelRef, role string) error {
	switch {
	case !loaded:
		return braid.Errorf(braid.Unavailable, "the collection needs the %s model %q, which is not loaded: start with --%s %s", role, want.Name, role, want.Name)
	case have != want:
		return braid.Errorf(braid.Conflict, "the collection was made with the %s model %q (%.12s), loaded is %q (%.12s): vectors of two models cannot be compared; load the model it was made with, or "+reindexHint,
			role, want.Name, want.Digest, have.Name, have.Digest)
	}
	return nil
}

func (s *Service) fitsDense(schema index.Schema) error {
	return fits(s.models.Dense != nil, s.models.DenseRef, schema.Dense, "dense")
}

func (s *Service) fitsSparse(schema index.Schema) error {
	return fits(s.models.Sparse != nil, s.models.SparseRef, schema.Sparse, "sparse")
}

// Degradation says what an answer had to do without, and why.
type Degradation struct {
	// Stage is the branch ("dense", "sparse", "lexical"), "rerank", "min_score",
	// "min_confidence", "explain" or "highlight".
	Stage   string     `json:"stage"`
	Code    braid.Code `json:"code"`
	Message string     `json:"message"`
}

func (s *Service) degrade(ctx context.Context, collection, stage string, err error) Degradation {
	s.log.WarnContext(ctx, "search degraded", "collection", collection, "stage", stage, "code", braid.CodeOf(err), "err", err)
	shown := braid.Public(err)
	return Degradation{Stage: stage, Code: shown.Code, Message: shown.Message}
}
