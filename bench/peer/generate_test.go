package peer

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/internal/testenv"
)

// Each way is timed for each text, and the vector is that of the other tasks.
func TestGenerate(t *testing.T) {
	opts := options()
	opts.Pair, opts.Sparse = "", testenv.Sparse
	texts := []string{"the pump moves water", "a dog", "barks at the moon"}
	job, err := json.Marshal(Job{Task: Generate, Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Serve(context.Background(), opts, strings.NewReader(string(job)), &out); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(strings.NewReader(out.String()))
	var ready, got Outcome
	if err := lines.Decode(&ready); err != nil {
		t.Fatal(err)
	}
	if err := lines.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Results) != len(texts) || len(got.Results[0]) == 0 || len(got.Tokens) != len(texts) {
		t.Errorf("%d rows and %d lengths for %d texts", len(got.Results), len(got.Tokens), len(texts))
	}
	for _, way := range []Way{DenseAlone, SparseAlone, Serial, AtOnce} {
		times := got.Ways[way]
		if len(times) != len(texts) {
			t.Fatalf("%s has %d times for %d texts", way, len(times), len(texts))
		}
		for i, seconds := range times {
			if seconds <= 0 {
				t.Errorf("%s of text %d took %g s", way, i, seconds)
			}
		}
	}
}

// Without a sparse model there is nothing to be made at once.
func TestGenerateWithoutSparse(t *testing.T) {
	opts := options()
	opts.Pair = ""
	err := Serve(context.Background(), opts, strings.NewReader(`{"task":"generate","texts":["a"]}`), &strings.Builder{})
	if braid.CodeOf(err) != braid.InvalidArgument && braid.CodeOf(err) != braid.NotFound && braid.CodeOf(err) != braid.Unavailable {
		t.Errorf("got %v, want that a sparse model is missing", err)
	}
}
