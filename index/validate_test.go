package index_test

import (
	"strings"
	"testing"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/index"
)

// TestSchemaReportsEveryFault asserts that one answer names all there is to
// mend.
func TestSchemaReportsEveryFault(t *testing.T) {
	err := index.Schema{
		Dense:      index.ModelRef{Name: "d"},
		Dimensions: index.MaxDimensions + 1,
		Sparse:     index.ModelRef{Digest: "s"},
	}.Validate()
	if braid.CodeOf(err) != braid.InvalidArgument {
		t.Fatalf("error %v", err)
	}
	for _, fault := range []string{"dense model", "8193", "sparse model"} {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("error %q does not tell of %s", err, fault)
		}
	}
	if err := (index.Schema{}).Validate(); err != nil {
		t.Errorf("a collection of words only: %v", err)
	}
}

func TestNamesThatPass(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "0": true, "A.b-c_d": true, strings.Repeat("x", index.MaxNameBytes): true,
		"": false, ".": false, "-": false, "_x": false, "a/b": false, "é": false, "a ": false, "a\n": false,
		strings.Repeat("x", index.MaxNameBytes+1): false,
	} {
		if err := index.ValidateName(name); (err == nil) != want {
			t.Errorf("%q: error %v, want valid %v", name, err, want)
		}
	}
}
