package peer

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/testenv"
)

func options() Options {
	return Options{
		Library: filepath.Join(testenv.Root(), ".local", "lib", "libonnxruntime.so"),
		Models:  testenv.ModelsFolder(), Dense: testenv.Dense, Pair: testenv.Reranker,
	}
}

// serve runs Serve on jobs and returns the outcomes after the first.
func serve(t *testing.T, jobs ...Job) []Outcome {
	t.Helper()
	var in, out bytes.Buffer
	for _, job := range jobs {
		if err := json.NewEncoder(&in).Encode(job); err != nil {
			t.Fatal(err)
		}
	}
	if err := Serve(context.Background(), options(), &in, &out); err != nil {
		t.Fatal(err)
	}
	var outcomes []Outcome
	for lines := json.NewDecoder(&out); lines.More(); {
		var o Outcome
		if err := lines.Decode(&o); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	if len(outcomes) != 1+len(jobs) || !outcomes[0].Ready {
		t.Fatalf("%d lines for %d jobs, the first %+v", len(outcomes), len(jobs), outcomes[0])
	}
	return outcomes[1:]
}

func TestServe(t *testing.T) {
	texts := []string{"the pump moves water", "a dog barks at the moon"}
	got := serve(t, Job{Task: Queries, Texts: texts}, Job{Task: Passages, Texts: texts}, Job{Task: Rerank, Query: "what moves water?", Texts: texts})
	queries, passages, scores := got[0], got[1], got[2]
	if len(queries.Seconds) != 2 || len(passages.Seconds) != 1 || len(scores.Seconds) != 1 {
		t.Errorf("%d, %d and %d times, want one a query and one a list", len(queries.Seconds), len(passages.Seconds), len(scores.Seconds))
	}
	if len(queries.Results[0]) != 384 || !reflect.DeepEqual(queries.Results, passages.Results) {
		t.Error("a text alone and in a list gave different vectors")
	}
	if !reflect.DeepEqual(queries.Tokens, []int{6, 9}) {
		t.Errorf("tokens are %v, want 6 and 9", queries.Tokens)
	}
	if scores.Results[0][0] <= scores.Results[1][0] {
		t.Errorf("scores are %v, want the first text above the second", scores.Results)
	}
}

func TestServeRefuses(t *testing.T) {
	for _, line := range []string{"{", `{"task": "dance", "texts": ["a"]}`, `{"task": 1}`} {
		err := Serve(context.Background(), options(), strings.NewReader(line), &bytes.Buffer{})
		if braid.CodeOf(err) != braid.InvalidArgument {
			t.Errorf("job %s: %v, want InvalidArgument", line, err)
		}
	}
}
