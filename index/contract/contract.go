package contract

import (
	"context"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// Run runs the suite. newEngine opens an engine on dir, which exists and is
// empty or was used by an engine of the same kind that has been closed; it
// fails the test when that does not work. The suite closes what it opens.
func Run(t *testing.T, newEngine func(t *testing.T, dir string) index.Engine) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, *harness)
	}{
		{"Names", testNames},
		{"Schemas", testSchemas},
		{"CreateOpenDropList", testCreateOpenDropList},
		{"DropAndCreateAgain", testDropAndCreateAgain},
		{"Close", testClose},
		{"Context", testContext},
		{"Profile", testProfile},
		{"WriteAndGet", testWriteAndGet},
		{"Fingerprints", testFingerprints},
		{"BadBatches", testBadBatches},
		{"BadQueries", testBadQueries},
		{"MissingBranches", testMissingBranches},
		{"EmptyCollection", testEmptyCollection},
		{"Ranking", testRanking},
		{"Ties", testTies},
		{"Explanations", testExplanations},
		{"Words", testWords},
		{"AllowedBoundsRetrieval", testAllowedBoundsRetrieval},
		{"Filters", testFilters},
		{"SetsAreOfOneCollection", testSetsAreOfOneCollection},
		{"SetsOutliveWrites", testSetsOutliveWrites},
		{"BadFilters", testBadFilters},
		{"IDs", testIDs},
		{"Payloads", testPayloads},
		{"Within", testWithin},
		{"EqualTextsKeepTheirPayload", testEqualTexts},
		{"EmptySparseVector", testEmptySparseVector},
		{"EmptyAndRefill", testEmptyAndRefill},
		{"RandomSteps", testRandomSteps},
		{"Reopen", testReopen},
		{"CollectionsAreSeparate", testCollectionsAreSeparate},
		{"BatchIsNotKept", testBatchIsNotKept},
		{"Concurrency", testConcurrency},
		{"Reindex", testReindex},
		{"ReindexOfWhatGoes", testReindexOfWhatGoes},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &harness{t: t, dir: t.TempDir(), newEngine: newEngine}
			h.engine = newEngine(t, h.dir)
			t.Cleanup(func() {
				if err := h.engine.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(t, h)
		})
	}
}

// harness is one engine under test.
type harness struct {
	t         *testing.T
	dir       string
	newEngine func(t *testing.T, dir string) index.Engine
	engine    index.Engine
}

// create makes a collection with all branches.
func (h *harness) create(name string) index.Collection {
	h.t.Helper()
	c, err := h.engine.Create(context.Background(), name, fullSchema())
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// reopen closes the engine, opens it again and returns the collection.
func (h *harness) reopen(name string) index.Collection {
	h.t.Helper()
	if err := h.engine.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.engine = h.newEngine(h.t, h.dir)
	return h.open(name)
}

// open returns a collection that exists.
func (h *harness) open(name string) index.Collection {
	h.t.Helper()
	c, err := h.engine.Open(context.Background(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

func fullSchema() index.Schema {
	return index.Schema{
		Dense:      index.ModelRef{Name: "dense", Digest: "d1"},
		Dimensions: dimensions,
		Sparse:     index.ModelRef{Name: "sparse", Digest: "s1"},
		Pair:       index.ModelRef{Name: "pair", Digest: "p1"},
		Passages:   index.PassageSize{Tokens: 200, Overlap: 20},
	}
}

// write stores a batch that must be accepted.
func write(t testing.TB, c index.Collection, batch index.Batch) index.WriteResult {
	t.Helper()
	result, err := c.Write(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// wantCode asserts that err has the code.
func wantCode(t testing.TB, what string, err error, code braid.Code) {
	t.Helper()
	if err == nil || braid.CodeOf(err) != code {
		t.Errorf("%s: got error %v, want code %s", what, err, code)
	}
}
