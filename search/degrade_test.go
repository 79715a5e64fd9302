package search_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/index"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

// failingDense stands for a dense model that breaks at query time; documents
// are encoded by the real one.
type failingDense struct {
	search.DenseEncoder
	err error
}

func (f failingDense) Embed(ctx context.Context, req inference.Request) ([]inference.Embedding, inference.Timing, error) {
	if req.Lane == inference.LaneQuery {
		return nil, inference.Timing{}, f.err
	}
	return f.DenseEncoder.Embed(ctx, req)
}

// slowPair stands for a cross-encoder that does not finish in time.
type slowPair struct{ search.PairScorer }

func (slowPair) Score(ctx context.Context, _ inference.PairRequest) ([]inference.PairScore, inference.Timing, error) {
	<-ctx.Done()
	return nil, inference.Timing{}, ctx.Err()
}

func TestFailingBranchDegrades(t *testing.T) {
	broken := heads
	broken.Dense = failingDense{heads.Dense, errors.New("device lost")}
	s := service(t, broken)
	ingest(t, s, pumps...)

	answer := ask(t, s, search.Request{Query: "inlet pressure"})
	if len(answer.Degraded) != 1 || answer.Degraded[0].Stage != "dense" || answer.Degraded[0].Message != "internal error" {
		t.Fatalf("degraded: %+v", answer.Degraded)
	}
	if len(answer.Hits) == 0 || answer.Hits[0].ID != "err-104" {
		t.Errorf("hits: %v", ids(answer.Hits))
	}
	// The others' scores are what they are without the dense branch's vote.
	weights := maps.Clone(answer.Fusion.Weights)
	weights[braid.Dense] = 0
	want := ask(t, s, search.Request{Query: "inlet pressure", Fusion: &search.Fusion{Method: fusion.MinMax, Weights: weights}})
	for i := range answer.Hits {
		if answer.Hits[i].Fused.Score != want.Hits[i].Fused.Score {
			t.Errorf("%s: fused score %v, want %v", answer.Hits[i].ID, answer.Hits[i].Fused.Score, want.Hits[i].Fused.Score)
		}
	}
	if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", Mode: search.ModeDense}); err == nil {
		t.Error("a mode whose only branch fails must fail")
	}
}

func TestModelSwitchedOffDegrades(t *testing.T) {
	e := engine(t, t.TempDir())
	full := search.New(e, heads, nil)
	if _, _, err := full.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ingest(t, full, pumps...)

	part := heads
	part.Sparse, part.SparseRef, part.Pair, part.PairRef = nil, index.ModelRef{}, nil, index.ModelRef{}
	s := search.New(e, part, nil)
	answer := ask(t, s, search.Request{Query: "inlet pressure"})
	if len(answer.Degraded) != 1 || answer.Degraded[0].Stage != "sparse" || answer.Degraded[0].Code != braid.Unavailable {
		t.Errorf("degraded: %+v", answer.Degraded)
	}
	if answer.Hits[0].Rerank != nil || answer.Reranked != 0 {
		t.Error("reranked without a reranker")
	}
	asked := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(true)})
	if len(asked.Degraded) != 2 || asked.Degraded[1].Stage != "rerank" {
		t.Errorf("a rerank that was asked for is missing silently: %+v", asked.Degraded)
	}
	if got, err := s.Ingest(t.Context(), "t", pumps); err != nil || got.Unchanged != len(pumps) {
		t.Errorf("what is stored needs no model: %+v, %v", got, err)
	}
	if _, err := s.Ingest(t.Context(), "t", []braid.Document{{ID: "new", Text: "text"}}); braid.CodeOf(err) != braid.Unavailable {
		t.Errorf("ingestion without the sparse model: %v", err)
	}
	if _, created, err := s.Create(t.Context(), "t"); created || err != nil {
		t.Errorf("a collection with a branch more than the loaded models is there: %v, %v", created, err)
	}
	bounded := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(true), MinScore: ptr(0.5)})
	if last := bounded.Degraded[len(bounded.Degraded)-1]; last.Stage != "min_score" || len(bounded.Hits) != len(asked.Hits) {
		t.Errorf("a threshold on probabilities, without any: %d hits, %+v", len(bounded.Hits), bounded.Degraded)
	}
	// A collection made without the model does not miss it.
	if _, _, err := s.Create(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Ingest(t.Context(), "two", pumps); err != nil {
		t.Fatal(err)
	}
	if two, err := s.Search(t.Context(), "two", search.Request{Query: "inlet pressure"}); err != nil || two.Degraded != nil || len(two.Hits) == 0 {
		t.Errorf("two branches: %+v, %v", two, err)
	}
	if _, err := s.Search(t.Context(), "two", search.Request{Query: "x", Mode: search.ModeSparse}); braid.CodeOf(err) != braid.InvalidArgument {
		t.Errorf("mode sparse without a sparse branch: %v", err)
	}
}

func TestOtherModelsVectorsAreRefused(t *testing.T) {
	e := engine(t, t.TempDir())
	if _, _, err := search.New(e, heads, nil).Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	other := heads
	other.DenseRef.Digest = "0000"
	s := search.New(e, other, nil)
	if _, _, err := s.Create(t.Context(), "t"); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Search(t.Context(), "t", search.Request{Query: "x", Mode: search.ModeDense}); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("search: %v", err)
	}
	if _, err := s.Ingest(t.Context(), "t", pumps); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("ingest: %v", err)
	}
}

func TestDeadlineKeepsWhatWasFound(t *testing.T) {
	slow := heads
	slow.Pair = slowPair{heads.Pair}
	s := service(t, slow)
	ingest(t, s, pumps...)
	want := ask(t, s, search.Request{Query: "inlet pressure", Rerank: ptr(false)})

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	answer, err := s.Search(ctx, "t", search.Request{Query: "inlet pressure"})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Degraded) != 1 || answer.Degraded[0].Stage != "rerank" || answer.Degraded[0].Code != braid.DeadlineExceeded {
		t.Errorf("degraded: %+v", answer.Degraded)
	}
	if !slices.Equal(ids(answer.Hits), ids(want.Hits)) {
		t.Errorf("order %v, want the fused order %v", ids(answer.Hits), ids(want.Hits))
	}

	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Search(gone, "t", search.Request{Query: "inlet pressure"}); braid.CodeOf(err) != braid.Canceled {
		t.Errorf("after the caller left: %v", err)
	}
}
