package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/braid-search/braid/internal/httpapi"
	"github.com/braid-search/braid/search"
)

// A server that takes a word of more than one letter for two tokens.
func twoTokenWords(w http.ResponseWriter, req *http.Request) {
	var asked search.Request
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"hits": [], "query": {"tokens": %d}}`, tokensOf(asked.Query)+2)
}

func tokensOf(query string) (tokens int) {
	for _, word := range strings.Fields(query) {
		tokens += min(2, len(word))
	}
	return tokens
}

func TestQueryOfALength(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(twoTokenWords))
	defer server.Close()
	client, err := httpapi.NewClient(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	stream := wordStream{words: strings.Fields("pumps move water and a dog barks")}
	seen := map[string]bool{}
	for _, tokens := range []int{1, 4, 5, 16, 64, 511} {
		query, err := ofLength(context.Background(), client, "c", &stream, tokens)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokensOf(query); got != tokens {
			t.Errorf("%q has %d tokens, want %d", query, got, tokens)
		}
		seen[query] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d different queries of 6", len(seen))
	}
}

// A query's vectors one after the other take the sum of both, at once the longer
// one's time; HTTP is what the client waited beyond the search.
func TestTellLength(t *testing.T) {
	r := &run{report: &Report{}}
	round := map[string][]timed{
		"dense":  {{search.Timings{Tokenise: 1, DenseEncode: 4, Total: 6}, 8}},
		"sparse": {{search.Timings{Tokenise: 1, SparseEncode: 2, Total: 5}, 6}},
		"hybrid": {{search.Timings{Tokenise: 1, DenseEncode: 5, SparseEncode: 3, Total: 9}, 10}},
	}
	for _, way := range []string{"lexical", "hybrid+rerank"} {
		round[way] = []timed{{search.Timings{Total: 3}, 3.5}}
	}
	r.tellLength(idleServer, 16, []map[string][]timed{round, round})
	got := map[string]float64{}
	for _, s := range r.report.Lengths {
		got[s.Mode+"/"+s.Stage.Stage] = s.P50.Median
	}
	for stage, want := range map[string]float64{
		"vectors/dense alone": 5, "vectors/sparse alone": 3, "vectors/one after the other": 8, "vectors/at once": 6,
		"dense/HTTP": 2, "hybrid/total": 10, "hybrid/sparse encode": 3, "hybrid+rerank/HTTP": 0.5,
	} {
		if got[stage] != want {
			t.Errorf("%s is %g, want %g", stage, got[stage], want)
		}
	}
	if _, there := got["dense/sparse encode"]; there {
		t.Error("a stage that did not run is in the report")
	}
	var text strings.Builder
	if err := r.report.Markdown(&text); err != nil {
		t.Fatal(err)
	}
	if want := "| vectors | at once |  | 6.00 (6.00–6.00) |"; !strings.Contains(text.String(), want) {
		t.Errorf("the report lacks %q", want)
	}
}
