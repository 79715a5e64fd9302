package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/search"
)

func TestUpdatePayload(t *testing.T) {
	s := service(t, search.Models{})
	for _, tc := range []struct{ before, patch, after string }{
		{``, `{"a":1}`, `{"a":1}`},
		{``, `{}`, `{}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
		{`{"a":1.50,"b":2}`, `{"b":3}`, `{"a":1.50,"b":3}`},
		{`{"a":12345678901234567890,"b":"<\u0041>"}`, `{"c":1e2}`, `{"a":12345678901234567890,"b":"<\u0041>","c":1e2}`},
		{`{"a":1,"b":2}`, `{"a":null}`, `{"b":2}`},
		{`{"a":1}`, `{"a":null}`, `{}`},
		{`{"a":1}`, `{"b":null}`, `{"a":1}`},
		{`{"a":{"x":1,"y":{"z":2}}}`, `{"a":{"y":{"z":null,"w":[1,{"q":null}]}}}`, `{"a":{"x":1,"y":{"w":[1,{"q":null}]}}}`},
		{`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		{`{"a":1}`, `{"a":{"b":null,"c":2}}`, `{"a":{"c":2}}`},
		{`{"a":{"b":1}}`, `{"a":"x"}`, `{"a":"x"}`},
		{`{"a":{}}`, `{"b":{"c":null}}`, `{"a":{},"b":{}}`},
		{`{"a":null}`, `{"b":1}`, `{"a":null,"b":1}`},
		{`{"a":1,"b":0,"a":2}`, `{"a":3}`, `{"a":3,"b":0}`},
		{`{"a":1,"b":0,"a":2}`, `{"a":null}`, `{"b":0}`},
		{`{"\u0061":1}`, `{"a":2}`, `{"\u0061":2}`},
		{`{"a":1}`, ` { "b" : [ 1 , { "c" : "d e" } ] } `, `{"a":1,"b":[1,{"c":"d e"}]}`},
	} {
		d := braid.Document{ID: "d", Title: "Seal", Text: "Replace the seal."}
		if tc.before != "" {
			d.Payload = json.RawMessage(tc.before)
		}
		ingest(t, s, d)
		got, err := s.UpdatePayload(t.Context(), "t", "d", json.RawMessage(tc.patch))
		if err != nil || string(got.Payload) != tc.after || got.Title != d.Title || got.Text != d.Text {
			t.Errorf("%s with %s is %s, want %s, error %v", tc.before, tc.patch, got.Payload, tc.after, err)
		}
		if stored, err := s.Document(t.Context(), "t", "d"); err != nil || string(stored.Payload) != tc.after {
			t.Errorf("%s with %s is stored as %s, want %s, error %v", tc.before, tc.patch, stored.Payload, tc.after, err)
		}
	}
	for patch, code := range map[string]braid.Code{
		`[1]`: braid.InvalidArgument, `null`: braid.InvalidArgument, `"x"`: braid.InvalidArgument, `{"a":`: braid.InvalidArgument, ``: braid.InvalidArgument,
		`{"a":"` + strings.Repeat("x", braid.MaxPayloadBytes) + `"}`: braid.TooLarge,
	} {
		if _, err := s.UpdatePayload(t.Context(), "t", "d", json.RawMessage(patch)); braid.CodeOf(err) != code {
			t.Errorf("%.20s: error %v", patch, err)
		}
	}
	if _, err := s.UpdatePayload(t.Context(), "t", "absent", json.RawMessage(`{}`)); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("a document that is not there: %v", err)
	}
}

// brokenDense stands for a dense model that encodes nothing any more.
type brokenDense struct{ search.DenseEncoder }

func (brokenDense) Embed(context.Context, inference.Request) ([]inference.Embedding, inference.Timing, error) {
	return nil, inference.Timing{}, errors.New("it was asked to encode")
}

// TestUpdatePayloadEncodesNothing asks for the document in every branch, before
// and after, with models that fail in between.
func TestUpdatePayloadEncodesNothing(t *testing.T) {
	e := engine(t, t.TempDir())
	s := search.New(e, heads, nil)
	if _, _, err := s.Create(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, pumps...)
	before := ask(t, s, search.Request{Query: "inlet pressure"})
	broken := heads
	broken.Dense = brokenDense{heads.Dense}
	if _, err := search.New(e, broken, nil).UpdatePayload(t.Context(), "t", "err-104", json.RawMessage(`{"kind":"error"}`)); err != nil {
		t.Fatal(err)
	}
	after := ask(t, s, search.Request{Query: "inlet pressure"})
	if len(after.Hits) != len(before.Hits) {
		t.Fatalf("found %v, before %v", ids(after.Hits), ids(before.Hits))
	}
	for i, h := range after.Hits {
		if h.ID != before.Hits[i].ID || h.Score != before.Hits[i].Score || fmt.Sprint(h.Branches["dense"].Score) != fmt.Sprint(before.Hits[i].Branches["dense"].Score) {
			t.Errorf("hit %d is %+v, before %+v", i, h, before.Hits[i])
		}
	}
	only := ask(t, s, search.Request{Query: "inlet pressure", Filter: parseFilter(t, `{"must":[{"field":"kind","match":"error"}]}`)})
	if len(only.Hits) != 1 || only.Hits[0].ID != "err-104" {
		t.Errorf("found %v by the new payload", ids(only.Hits))
	}
	// The same content is known again: nothing is encoded for it.
	d := pumps[1]
	d.Payload = json.RawMessage(`{"kind": "error"}`)
	if result := ingest(t, s, d); result.Unchanged != 1 {
		t.Errorf("stored again: %+v", result)
	}
}

// TestConcurrentUpdatesAreAllKept merges many keys into one document at once.
func TestConcurrentUpdatesAreAllKept(t *testing.T) {
	s := service(t, search.Models{})
	ingest(t, s, braid.Document{ID: "d", Text: "x"})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 5 {
				patch := fmt.Appendf(nil, `{"k%d-%d":1}`, w, i)
				for {
					_, err := s.UpdatePayload(t.Context(), "t", "d", patch)
					if braid.CodeOf(err) == braid.Conflict {
						continue
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	wg.Wait()
	d, err := s.Document(t.Context(), "t", "d")
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]int
	if err := json.Unmarshal(d.Payload, &keys); err != nil || len(keys) != 20 {
		t.Errorf("%d keys are left of 20: %s", len(keys), d.Payload)
	}
}
