package search_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

var howTo = &braid.Filter{Must: []braid.Clause{braid.Condition{Field: "kind", Match: ptr(braid.KeywordOf("how-to"))}}}

// A batch answers every query as it is answered alone, in order, with one call of
// each model for all of them.
func TestBatchIsItsQueries(t *testing.T) {
	l := &listening{}
	s := service(t, l.models())
	ingest(t, s, pumps...)
	reqs := []search.Request{
		{Query: "inlet pressure"},
		{Query: "ERR-105", Mode: search.ModeLexical},
		{Query: " "},
		{Query: "water", Filter: howTo, Limit: ptr(2)},
		{Query: "bill", Variants: []string{"invoice date", "e-mail"}, Hypothetical: "It comes by e-mail.", Rerank: ptr(false)},
		{Query: "start", Mode: search.ModeDense, Limit: ptr(0)},
		{Query: "leaking seal", Mode: search.ModeSparse, Rerank: ptr(true)},
		{Query: "seal", Fusion: &search.Fusion{Method: fusion.RRF}},
	}
	answers, err := s.SearchBatch(t.Context(), "t", reqs, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"inlet pressure", "water", "bill", "invoice date", "e-mail", "leaking seal", "seal"}}; !reflect.DeepEqual(l.sparse, want) {
		t.Errorf("sparse calls %q, want %q", l.sparse, want)
	}
	if len(l.dense) != 2 {
		t.Errorf("dense calls %q, want one of the queries and one of the made-up answer", l.dense)
	}
	if slices.Contains(l.lanes, inference.LaneQuery) {
		t.Error("the batch goes before single queries")
	}
	if len(answers) != len(reqs) {
		t.Fatalf("%d answers to %d queries", len(answers), len(reqs))
	}
	for i, req := range reqs {
		want, wantErr := s.Search(t.Context(), "t", req)
		if fmt.Sprint(answers[i].Err) != fmt.Sprint(wantErr) {
			t.Errorf("%q: error %v, alone %v", req.Query, answers[i].Err, wantErr)
		}
		if wantErr != nil {
			continue
		}
		got := answers[i].Response
		got.Timings, want.Timings = search.Timings{}, search.Timings{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, alone %+v", req.Query, got, want)
		}
	}
}

func TestBatchDegradesAsOne(t *testing.T) {
	broken := heads
	broken.Sparse = failingSparse{heads.Sparse}
	s := service(t, broken)
	ingest(t, s, pumps...)
	answers, err := s.SearchBatch(t.Context(), "t", []search.Request{{Query: "seal"}, {Query: "seal", Mode: search.ModeSparse}, {Query: "seal", Mode: search.ModeDense}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if a := answers[0]; a.Err != nil || len(a.Response.Hits) == 0 || len(a.Response.Degraded) != 1 || a.Response.Degraded[0].Stage != "sparse" {
		t.Errorf("hybrid: %+v", a)
	}
	if answers[1].Err == nil {
		t.Error("a query whose only branch failed has an answer")
	}
	if a := answers[2]; a.Err != nil || len(a.Response.Degraded) != 0 {
		t.Errorf("dense: %+v", a)
	}
}

// failingSparse stands for a sparse model that breaks at query time.
type failingSparse struct{ search.SparseEncoder }

func (f failingSparse) Expand(ctx context.Context, req inference.Request) ([]inference.Expansion, inference.Timing, error) {
	if req.Lane == inference.LaneIngest {
		return f.SparseEncoder.Expand(ctx, req)
	}
	return nil, inference.Timing{}, errors.New("device lost")
}

func TestBatchBounds(t *testing.T) {
	s := service(t, heads)
	for _, tc := range []struct {
		name string
		n    int
		code braid.Code
	}{{"t", 0, braid.InvalidArgument}, {"t", search.MaxBatch + 1, braid.TooLarge}, {"absent", 1, braid.NotFound}} {
		if _, err := s.SearchBatch(t.Context(), tc.name, make([]search.Request, tc.n), 0); braid.CodeOf(err) != tc.code {
			t.Errorf("%d queries of %s: %v, want %s", tc.n, tc.name, err, tc.code)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.SearchBatch(ctx, "t", []search.Request{{Query: "x"}}, 0); err == nil {
		t.Error("an answer for a caller who went away")
	}
	within := s.Within(search.Scope{Collections: []string{"other"}})
	if _, err := within.SearchBatch(t.Context(), "t", []search.Request{{Query: "x"}}, 0); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("a collection outside the scope: %v", err)
	}
}

func TestBatchStaysInTheScope(t *testing.T) {
	s := service(t, heads)
	ingest(t, s, pumps...)
	within := s.Within(search.Scope{Filter: *howTo})
	answers, err := within.SearchBatch(t.Context(), "t", []search.Request{{Query: "ERR-104"}, {Query: "pressure", Filter: &braid.Filter{}, Variants: []string{"invoices"}}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if a.Err != nil || *a.Response.Allowed != 1 || !slices.Equal(ids(a.Response.Hits), []string{"seal"}) {
			t.Errorf("%+v", a)
		}
	}
}
