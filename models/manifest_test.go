package models

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/braid-search/braid"
)

// testManifest describes the files of testFiles.
func testManifest(t testing.TB) Manifest {
	t.Helper()
	m := Manifest{
		Name:         "tiny",
		Kind:         Dense,
		Licence:      "MIT",
		Graph:        "model.onnx",
		Tokenizer:    "tokenizer.json",
		Inputs:       Inputs{TokenIDs: "input_ids", AttentionMask: "attention_mask"},
		Output:       Output{Name: "last_hidden_state", Form: HiddenStates},
		Pooling:      MeanPooling,
		Normalize:    true,
		Dimensions:   8,
		MaxTokens:    16,
		QueryPrefix:  "query: ",
		Quantization: NotQuantized,
	}
	for _, path := range testPaths {
		m.Files = append(m.Files, describe(path, testFiles()[path].Data))
	}
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestValidateNamesTheFault(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*Manifest)
		want  string
	}{
		{"no name", func(m *Manifest) { m.Name = "" }, `model name "" has 0 bytes`},
		{"long name", func(m *Manifest) { m.Name = strings.Repeat("a", 65) }, "has 65 bytes, want 1 to 64"},
		{"name leads out", func(m *Manifest) { m.Name = "../tiny" }, `model name "../tiny"`},
		{"no licence", func(m *Manifest) { m.Licence = "" }, "licence is empty"},
		{"unknown kind", func(m *Manifest) { m.Kind = "colbert" }, `kind is "colbert", want one of ["dense" "sparse" "cross-encoder"]`},
		{"no files", func(m *Manifest) { m.Files = nil }, `graph is "model.onnx", which is not among the files []`},
		{"too many files", func(m *Manifest) { m.Files = make([]File, 65) }, "files has 65 entries, the limit is 64"},
		{"path leads out", func(m *Manifest) { m.Files[0].Path = "../model.onnx" }, `files[0].path is "../model.onnx"`},
		{"path leads out and back", func(m *Manifest) { m.Files[0].Path = "a/../../tiny/model.onnx" }, `files[0].path is "a/../../tiny/model.onnx"`},
		{"absolute path", func(m *Manifest) { m.Files[0].Path = "/etc/passwd" }, `files[0].path is "/etc/passwd"`},
		{"drive path", func(m *Manifest) { m.Files[0].Path = `C:\model.onnx` }, `files[0].path is "C:\\model.onnx"`},
		{"control character in path", func(m *Manifest) { m.Files[0].Path = "model\n.onnx" }, `files[0].path is "model\n.onnx"`},
		{"path of the folder", func(m *Manifest) { m.Files[0].Path = "." }, `files[0].path is "."`},
		{"path of the manifest", func(m *Manifest) { m.Files[0].Path = "manifest.yaml" }, "which is the manifest itself"},
		{"path twice", func(m *Manifest) { m.Files[1].Path = m.Files[0].Path }, "name a path twice"},
		{"empty file", func(m *Manifest) { m.Files[0].Size = 0 }, `files[0].size is 0, want the bytes of "model.onnx"`},
		{"short hash", func(m *Manifest) { m.Files[0].SHA256 = "abc" }, `files[0].sha256 is "abc"`},
		{"upper-case hash", func(m *Manifest) { m.Files[0].SHA256 = strings.Repeat("A", 64) }, "want 64 lower-case hexadecimal digits"},
		{"graph not a file", func(m *Manifest) { m.Graph = "other.onnx" }, `graph is "other.onnx", which is not among the files`},
		{"tokenizer not a file", func(m *Manifest) { m.Tokenizer = "" }, `tokenizer is "", which is not among the files`},
		{"no token ids", func(m *Manifest) { m.Inputs.TokenIDs = "" }, "inputs.token_ids is empty"},
		{"input twice", func(m *Manifest) { m.Inputs.TypeIDs = m.Inputs.TokenIDs }, "name a tensor twice"},
		{"no output", func(m *Manifest) { m.Output.Name = "" }, "output.name is empty"},
		{"form of another kind", func(m *Manifest) { m.Output.Form = Logit }, `output.form is "logit", want one of ["hidden-states" "pooled"]`},
		{"hidden states not pooled", func(m *Manifest) { m.Pooling = NoPooling }, `pooling is "none", want one of ["cls" "mean"]`},
		{"logits not pooled", func(m *Manifest) { m.Kind, m.Output.Form = Sparse, TokenLogits }, `pooling is "mean", want one of ["splade" "splade-double-log"]`},
		{"query weights of a dense model", func(m *Manifest) { m.QueryWeights = "data/weights.bin" }, "only a sparse model has any"},
		{"query weights not a file", func(m *Manifest) { m.QueryWeights = "idf.json" }, `query_weights is "idf.json", which is not among the files`},
		{"pooled twice", func(m *Manifest) { m.Output.Form = Pooled }, `pooling is "mean", want one of ["none"]`},
		{"no dimensions", func(m *Manifest) { m.Dimensions = 0 }, "dimensions is 0, want 1 to 8192 for a dense model"},
		{"too many dimensions", func(m *Manifest) { m.Dimensions = math.MaxInt }, "want 1 to 8192 for a dense model"},
		{"negative max tokens", func(m *Manifest) { m.MaxTokens = -1 }, "max_tokens is -1, want 4 to 131072"},
		{"long prefix", func(m *Manifest) { m.PassagePrefix = strings.Repeat("a", 4097) }, "passage_prefix has 4097 bytes"},
		{"prefix not UTF-8", func(m *Manifest) { m.QueryPrefix = "\xff" }, "query_prefix is not valid UTF-8"},
		{"no quantization", func(m *Manifest) { m.Quantization = "" }, `quantization is "", want one of ["none" "int8" "dynamic-int8"]`},
		{"prefix for pairs", func(m *Manifest) { m.Kind = CrossEncoder }, `query_prefix is "query: ", but a cross-encoder takes none`},
		{"dimensions for pairs", func(m *Manifest) { m.Kind = CrossEncoder }, "dimensions is 8, but a cross-encoder has none"},
		{"normalised weights", func(m *Manifest) { m.Kind = Sparse }, "only dense vectors are normalised"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := testManifest(t)
			test.spoil(&m)
			err := m.Validate()
			if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s: … %s", err, braid.InvalidArgument, test.want)
			}
		})
	}
}

func TestValidateReportsEveryFault(t *testing.T) {
	err := Manifest{Kind: "graph", MaxTokens: 3}.Validate()
	for _, want := range []string{"name", "licence", "kind", "graph is", "tokenizer is", "token_ids", "output.name", "max_tokens is 3", "quantization"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not reported by %v", want, err)
		}
	}
}

func TestParseManifestRefuses(t *testing.T) {
	valid, err := yaml.Dump(testManifest(t))
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string) string {
		if !strings.Contains(string(valid), old) {
			t.Fatalf("no %q in the manifest", old)
		}
		return strings.Replace(string(valid), old, new, 1)
	}
	tests := []struct{ name, text, want string }{
		{"empty", "", "no documents"},
		{"only a comment", "# nothing\n", "no documents"},
		{"not YAML", "name: [", "cannot be read: go-yaml load error in parser"},
		{"not a mapping", "- name", "cannot be read"},
		{"two documents", string(valid) + "---\nname: other\n", "expected single document"},
		{"too large", string(valid) + "#" + strings.Repeat("x", MaxManifestBytes), "more than 65536 bytes"},
		{"unknown field", string(valid) + "poolign: cls\n", "line 29: field poolign not found"},
		{"unknown nested field", replace("path: ", "url: x\n  path: "), "line 6: field url not found"},
		{"field twice", string(valid) + "name: other\n", `"name" already defined`},
		{"text for a number", replace("max_tokens: 16", "max_tokens: many"), "`many` into int"},
		{"fraction for a number", replace("max_tokens: 16", "max_tokens: 16.5"), "`16.5` into int"},
		{"number too large", replace("max_tokens: 16", "max_tokens: 99999999999999999999"), "into int"},
		{"fault in a value", replace("max_tokens: 16", "max_tokens: 0"), "max_tokens is 0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseManifest([]byte(test.text))
			if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s: … %s", err, braid.InvalidArgument, test.want)
			}
		})
	}
}

func TestDigestCoversWhatChangesOutputs(t *testing.T) {
	base := testManifest(t).Digest()
	tests := []struct {
		name   string
		change func(*Manifest)
		same   bool
	}{
		{"name", func(m *Manifest) { m.Name = "other" }, true},
		{"licence", func(m *Manifest) { m.Licence = "Apache-2.0" }, true},
		{"source", func(m *Manifest) { m.Source.Version = "2" }, true},
		{"order of files", func(m *Manifest) { m.Files[0], m.Files[1] = m.Files[1], m.Files[0] }, true},
		{"name of a file", func(m *Manifest) { m.Files[0].Path, m.Graph = "graph.onnx", "graph.onnx" }, true},
		{"content of a file", func(m *Manifest) { m.Files[2].SHA256 = m.Files[0].SHA256 }, false},
		{"roles of files", func(m *Manifest) { m.Graph, m.Tokenizer = m.Tokenizer, m.Graph }, false},
		{"kind", func(m *Manifest) { m.Kind = Sparse }, false},
		{"roles of inputs", func(m *Manifest) { m.Inputs.TypeIDs, m.Inputs.AttentionMask = m.Inputs.AttentionMask, "" }, false},
		{"output", func(m *Manifest) { m.Output.Name = "pooler_output" }, false},
		{"form", func(m *Manifest) { m.Output.Form = Pooled }, false},
		{"pooling", func(m *Manifest) { m.Pooling = CLSPooling }, false},
		{"normalize", func(m *Manifest) { m.Normalize = false }, false},
		{"dimensions", func(m *Manifest) { m.Dimensions = 9 }, false},
		{"max tokens", func(m *Manifest) { m.MaxTokens = 15 }, false},
		{"query prefix", func(m *Manifest) { m.QueryPrefix = "" }, false},
		{"prefix of the other role", func(m *Manifest) { m.QueryPrefix, m.PassagePrefix = "", m.QueryPrefix }, false},
		{"query weights", func(m *Manifest) { m.QueryWeights = "data/weights.bin" }, false},
		{"revision", func(m *Manifest) { m.Source.Revision = "0123" }, true},
		{"quantization", func(m *Manifest) { m.Quantization = DynamicInt8 }, false},
		{"other quantization", func(m *Manifest) { m.Quantization = Int8 }, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := testManifest(t)
			test.change(&m)
			if same := m.Digest() == base; same != test.same {
				t.Errorf("digest unchanged: %t, want %t", same, test.same)
			}
		})
	}
}

// Collections record the digests of their models: a digest that changes without
// the model locks people out of what they have indexed.
func TestDigestsOfTheCatalogueAreStable(t *testing.T) {
	want := map[string]string{
		"bge-small-en-v1.5":      "242d07eec974b7b0528aecacc64249714d86346b788dbf28d17c9a403557765a",
		"splade-tiny":            "cbca2eaa6f2393a9faacc7c6b86224a10cacabc15d4c069861932e903223b110",
		"ms-marco-minilm-l12-v2": "8f68fc020de28770958908e478fdbf3afc76f0bf258bf894611ad504c1a0bb3c",
	}
	catalogue, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	if len(catalogue) != len(want) {
		t.Errorf("the catalogue has %d models, want %d", len(catalogue), len(want))
	}
	for _, m := range catalogue {
		if got := m.Digest(); got != want[m.Name] {
			t.Errorf("digest of %s is %s, want %s", m.Name, got, want[m.Name])
		}
	}
}

// A manifest that parses is valid, and survives being written and read again.
func FuzzParseManifest(f *testing.F) {
	catalogue, err := Catalogue()
	if err != nil {
		f.Fatal(err)
	}
	for _, m := range catalogue {
		text, err := yaml.Dump(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"files: &f [*f]", "name: !!binary aGVsbG8=", "<<: {name: x}", "? name\n: x", "name: |\n  x\n", "\xff\xfe", "a: &a [*a,*a]\nb: &b [*a,*a]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest(data)
		if err != nil {
			if braid.CodeOf(err) != braid.InvalidArgument {
				t.Fatalf("error without its code: %v", err)
			}
			return
		}
		text, err := yaml.Dump(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseManifest(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if fmt.Sprintf("%#v", again) != fmt.Sprintf("%#v", m) {
			t.Fatalf("wrote %#v\nread  %#v", m, again)
		}
	})
}
