package hnsw_test

import (
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index/dense/hnsw"
	"github.com/braid-search/braid/index/docset"
	"github.com/braid-search/braid/index/topk"
	"github.com/braid-search/braid/internal/testvec"
)

// fixture is where a graph lies as it was saved in a version of the form; what it
// holds follows from fixtureVectors. Who changes the form leaves those that are
// there alone and makes one of the next version beside them: go test ./index/dense/hnsw -run TestFixture -update
func fixture(version uint64) string { return fmt.Sprintf("testdata/v%d/graph.gz", version) }

var update = flag.Bool("update", false, "write the fixture of today's form anew")

const fixtureNodes = 600

// fixtureVectors are those ever added, by ordinal. Each 50th has a twin.
func fixtureVectors() [][]float32 {
	random := rand.New(rand.NewPCG(1, 7))
	vectors := make([][]float32, fixtureNodes)
	for ord := range vectors {
		if ord%50 == 49 {
			vectors[ord] = vectors[ord-10]
			continue
		}
		vectors[ord] = testvec.Unit(random, dim)
	}
	return vectors
}

// fixtureLives reports whether a vector was not removed; those of the lower half
// were vacuumed.
func fixtureLives(ord int) bool { return ord%5 != 0 }

func writeFixture(t *testing.T) {
	g, err := hnsw.New(dim, hnsw.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	for ord, v := range fixtureVectors() {
		if err := g.Add(uint32(ord), v); err != nil {
			t.Fatal(err)
		}
		if !fixtureLives(ord) {
			g.Remove(uint32(ord))
		}
		if ord == fixtureNodes/2 {
			if err := g.Vacuum(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	path := fixture(formVersion)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(save(t, g))
	if err := errors.Join(err, z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestFixture(t *testing.T) {
	if *update {
		writeFixture(t)
	}
	for version := range uint64(formVersion) {
		t.Run(fmt.Sprintf("v%d", version+1), func(t *testing.T) { testFixture(t, version+1) })
	}
}

func testFixture(t *testing.T, version uint64) {
	f, err := os.Open(fixture(version))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	g, err := load(b, fixtureNodes, dim)
	if err != nil {
		t.Fatal(err)
	}
	vectors := fixtureVectors()
	if got, want := g.Len(), fixtureNodes*4/5; got != want {
		t.Errorf("%d vectors, want %d", got, want)
	}
	if n := hnsw.Unreachable(g); n > 0 {
		t.Errorf("%d vectors are out of reach", n)
	}
	live := docset.Where(fixtureNodes, func(ord uint32) bool { return fixtureLives(int(ord)) })
	for ord, v := range vectors {
		// K of 2, since a vector may have a twin.
		got, _, err := g.Search(t.Context(), v, topk.Scan{K: 2}, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(got, func(m topk.Match) bool { return m.Ord == uint32(ord) && m.Score > 0.9999 })
		if found != live.Contains(uint32(ord)) {
			t.Errorf("a search for vector %d finds %v", ord, got)
		}
	}
	if err := g.Add(fixtureNodes, vectors[0]); err != nil {
		t.Errorf("a new vector: %v", err)
	}
	if err := g.Add(5, vectors[5]); braid.CodeOf(err) != braid.Conflict {
		t.Errorf("an ordinal that was in use: error %v, want %s", err, braid.Conflict)
	}
}

// TestLaterVersion asserts that what a later version wrote is refused with both
// versions.
func TestLaterVersion(t *testing.T) {
	g, err := hnsw.New(dim, hnsw.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = load(saveAs(t, g, 9), 0, dim)
	if braid.CodeOf(err) != braid.Conflict || !strings.Contains(err.Error(), "version 9, this program reads 1 to 2") {
		t.Errorf("error %v, want %s with the versions", err, braid.Conflict)
	}
}
