package detect

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

func inspect(t *testing.T, folder fs.FS, opts Options) models.Manifest {
	t.Helper()
	if opts.Name == "" {
		opts.Name = "m"
	}
	r, err := Inspect(folder, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r.Manifest
}

// summary shows what matters of a manifest in a line.
func summary(m models.Manifest) string {
	var files []string
	for _, f := range m.Files {
		files = append(files, f.Path)
	}
	return fmt.Sprintf("%s %s/%s %s normalize=%t d=%d n=%d %q %q %s w=%q %s in=%s %s", m.Kind, m.Output.Name, m.Output.Form, m.Pooling, m.Normalize, m.Dimensions, m.MaxTokens,
		m.QueryPrefix, m.PassagePrefix, m.Quantization, m.QueryWeights, m.Licence, strings.Join(m.Inputs.Names(), ","), strings.Join(files, ","))
}

// The models of testdata have the layouts of the field; see families.py.
func TestFamilies(t *testing.T) {
	tests := []struct {
		folder, file, want string
	}{
		{"distilbert-dense", "", `dense last_hidden_state/hidden-states mean normalize=true d=8 n=48 "query: " "passage: " none w="" apache-2.0 in=input_ids,attention_mask onnx/model.onnx,tokenizer.json`},
		{"distilbert-dense", "model_quantized.onnx", `dense last_hidden_state/hidden-states mean normalize=true d=8 n=48 "query: " "passage: " dynamic-int8 w="" apache-2.0 in=input_ids,attention_mask onnx/model_quantized.onnx,tokenizer.json`},
		{"xlmr-dense", "", `dense sentence_embedding/pooled none normalize=true d=8 n=64 "" "" none w="" LicenseRef-unknown in=input_ids,attention_mask onnx/model.onnx,tokenizer.json`},
		{"roberta-reranker", "", `cross-encoder logits/logit none normalize=false d=0 n=64 "" "" none w="" LicenseRef-unknown in=input_ids,attention_mask model.onnx,model.onnx_data,tokenizer.json`},
		{"distilbert-splade", "", `sparse logits/token-logits splade-double-log normalize=false d=300 n=64 "" "" none w="idf.json" LicenseRef-unknown in=input_ids,attention_mask model.onnx,tokenizer.json,idf.json`},
	}
	for _, test := range tests {
		t.Run(test.folder+" "+test.file, func(t *testing.T) {
			m := inspect(t, os.DirFS(filepath.Join("testdata", test.folder)), Options{File: test.file})
			if got := summary(m); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// What is worked out from the catalogue's own files is what the catalogue says.
func TestCatalogueModelsAreRecognised(t *testing.T) {
	catalogue, err := models.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range catalogue {
		dir := filepath.Join("..", "..", ".local", "models", m.Name)
		if _, err := os.Stat(dir); err != nil {
			t.Skip("skipped: no models: run `make setup`")
		}
		got := inspect(t, os.DirFS(dir), Options{Name: m.Name, Pooling: m.Pooling, QueryPrefix: &m.QueryPrefix, MaxTokens: m.MaxTokens})
		if got.Digest() != m.Digest() {
			t.Errorf("worked out %s\nthe catalogue has %s", summary(got), summary(m))
		}
	}
}

var hidden = []tensor{output("last_hidden_state", 0, 0, 8)}

const (
	meanModules = `[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}]`
	meanPooling = `{"pooling_mode_mean_tokens": true}`
)

func TestSettings(t *testing.T) {
	no, prefix := false, "Query: "
	st := map[string]string{"modules.json": meanModules, "1_Pooling/config.json": meanPooling}
	with := func(path, content string) map[string]string {
		files := map[string]string{}
		for p, c := range st {
			files[p] = c
		}
		files[path] = content
		return files
	}
	tests := []struct {
		name   string
		folder fstest.MapFS
		opts   Options
		want   string // part of the summary
	}{
		{"sentence-transformers", folder(onnx{outputs: hidden}, st), Options{}, `dense last_hidden_state/hidden-states mean normalize=true d=8 n=512`},
		{"options win", folder(onnx{outputs: hidden}, st), Options{Pooling: models.CLSPooling, Normalize: &no, MaxTokens: 99, QueryPrefix: &prefix, Licence: "MIT"}, `cls normalize=false d=8 n=99 "Query: " "" none w="" MIT`},
		{"newer pooling setting", folder(onnx{outputs: hidden}, with("1_Pooling/config.json", `{"pooling_mode": "cls"}`)), Options{}, " cls "},
		{"made for the dot product", folder(onnx{outputs: hidden}, with("config_sentence_transformers.json", `{"similarity_fn_name": "dot"}`)), Options{}, "normalize=false"},
		{"prompts by other names", folder(onnx{outputs: hidden}, with("config_sentence_transformers.json", `{"prompts": {"search_query": "q: ", "document": "d: ", "classification": "c: "}}`)), Options{}, `"q: " "d: "`},
		{"shorter than the tokenizer's limit", folder(onnx{outputs: hidden}, with("sentence_bert_config.json", `{"max_seq_length": 128}`)), Options{}, "n=128"},
		{"longer than the positions", folder(onnx{outputs: hidden}, with("sentence_bert_config.json", `{"max_seq_length": 8192}`)), Options{}, "n=512"},
		{"max length null", folder(onnx{outputs: hidden}, with("sentence_bert_config.json", `{"max_seq_length": null}`)), Options{}, "n=512"},
		{"tokenizer without a limit", folder(onnx{outputs: hidden}, with("tokenizer_config.json", `{"model_max_length": 1000000000000000019884624838656}`)), Options{}, "n=512"},
		{"positions from the padding id on", folder(onnx{outputs: hidden, weights: []string{"x.position_embeddings.weight"}}, with("config.json", `{"model_type": "mpnet", "pad_token_id": 1, "max_position_embeddings": 514}`)), Options{}, "n=512"},
		{"the same without config.json", folder(onnx{outputs: hidden, weights: []string{"x.position_embeddings.weight"}}, with("config.json", "")), Options{}, "n=514"},
		{"and without WordPiece", folder(onnx{outputs: hidden, weights: []string{"x.position_embeddings.weight"}}, map[string]string{"config.json": "", "tokenizer.json": `{"model": {"type": "Unigram", "vocab": [["<s>", 0], ["b", 0], ["c", 0], ["d", 0], ["e", 0], ["f", 0], ["g", 0], ["h", 0], ["i", 0]]}, "post_processor": {"type": "x"}}`}), Options{Pooling: "mean"}, "n=512"},
		{"type ids", folder(onnx{inputs: inputsNamed("token_type_ids", "attention_mask", "input_ids"), outputs: hidden}, st), Options{}, "in=input_ids,attention_mask,token_type_ids"},
		{"no mask", folder(onnx{inputs: inputsNamed("input_ids"), outputs: hidden}, st), Options{}, "in=input_ids "},
		{"the tokenizer next to the graph wins", folder(onnx{outputs: hidden}, with("onnx/tokenizer.json", tokenizerOf(90))), Options{}, "onnx/model.onnx,onnx/tokenizer.json"},
		{"one tokenizer by another name", folder(onnx{outputs: hidden}, map[string]string{"tokenizer.json": "", "onnx/mini-tokenizer.json": tokenizerOf(90)}), Options{Pooling: "mean"}, "onnx/mini-tokenizer.json"},
		{"a card with several licences", folder(onnx{outputs: hidden}, with("README.md", "---\nlicense: [a, b]\n---\n")), Options{}, UnknownLicence},
		{"a card without front matter", folder(onnx{outputs: hidden}, with("README.md", "license: mit\n")), Options{}, UnknownLicence},

		{"sentence embedding before hidden states", folder(onnx{outputs: []tensor{output("token_embeddings", 0, 0, 8), output("sentence_embedding", 0, 8)}}, st), Options{}, "sentence_embedding/pooled none"},
		{"BERT's pooler is no embedding", folder(onnx{outputs: []tensor{output("last_hidden_state", 0, 0, 8), output("pooler_output", 0, 8)}}, st), Options{}, "last_hidden_state/hidden-states mean"},
		{"the pooler if asked for", folder(onnx{outputs: []tensor{output("last_hidden_state", 0, 0, 8), output("pooler_output", 0, 8)}}, st), Options{Output: "pooler_output"}, "pooler_output/pooled none"},
		{"the last of all hidden states", folder(onnx{outputs: []tensor{output("hidden_states.0", 0, 0, 8), output("last_hidden_state", 0, 0, 8)}}, st), Options{}, "last_hidden_state/"},
		{"half precision", folder(onnx{outputs: []tensor{{name: "last_hidden_state", kind: float16Type, dims: []dimension{0, 0, 8}}}}, st), Options{}, "last_hidden_state/hidden-states mean"},
		{"dimensions from config.json", folder(onnx{outputs: []tensor{output("last_hidden_state", 0, 0, 0)}}, st), Options{}, "d=8"},
		{"layers in the graph", folder(onnx{outputs: []tensor{output("sentence_embedding", 0, 4)}}, with("modules.json", `[{"path":"2_Dense","type":"sentence_transformers.models.Dense"}]`)), Options{}, "sentence_embedding/pooled none normalize=true d=4"},

		{"reranker", folder(onnx{outputs: []tensor{output("logits", 0, 1)}}, nil), Options{}, "cross-encoder logits/logit none normalize=false d=0"},
		{"reranker with one label of unknown width", folder(onnx{outputs: []tensor{output("logits", 0, 0)}}, map[string]string{"config.json": `{"id2label": {"0": "x"}, "max_position_embeddings": 512}`}), Options{}, "logits/logit"},
		{"SPLADE pooled in the graph", folder(onnx{outputs: []tensor{output("weights", 0, 100)}}, nil), Options{}, "sparse weights/vocabulary-weights none"},
		{"SPLADE with padded vocabulary", folder(onnx{outputs: []tensor{output("logits", 0, 0, 104)}}, nil), Options{Pooling: models.SPLADEPooling}, "sparse logits/token-logits splade normalize=false d=104"},
		{"OpenSearch's router", folder(onnx{outputs: []tensor{output("logits", 0, 0, 100)}}, map[string]string{
			"modules.json":                            `[{"path":"","type":"sentence_transformers.models.Router"}]`,
			"router_config.json":                      `{"types": {"query_0_SparseStaticEmbedding": "a.SparseStaticEmbedding", "document_0_MLMTransformer": "a.MLMTransformer", "document_1_SpladePooling": "a.SpladePooling"}, "structure": {"query": ["query_0_SparseStaticEmbedding"], "document": ["document_0_MLMTransformer", "document_1_SpladePooling"]}}`,
			"document_1_SpladePooling/config.json":    `{"pooling_strategy": "max", "activation_function": "relu"}`,
			"document_0_MLMTransformer/readme.ignore": "x",
			"idf.json": `{"w1": 2}`,
		}), Options{}, `sparse logits/token-logits splade normalize=false d=100 n=512 "" "" none w="idf.json"`},
		{"table not wanted", folder(onnx{outputs: []tensor{output("weights", 0, 100)}}, map[string]string{"idf.json": `{}`}), Options{QueryWeights: None}, `w=""`},
		{"a table of no use to a dense model", folder(onnx{outputs: hidden}, with("idf.json", `{}`)), Options{}, `w=""`},
		{"quantised dynamically", folder(onnx{outputs: hidden, operators: []string{"DynamicQuantizeLinear"}}, st), Options{}, "dynamic-int8"},
		{"quantised dynamically, with its product", folder(onnx{outputs: hidden, operators: []string{"DynamicQuantizeLinear", "MatMulInteger"}}, st), Options{}, "dynamic-int8"},
		{"scaled by other operators", folder(onnx{outputs: hidden, operators: []string{"Round", "MatMulInteger"}}, st), Options{}, " int8 "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := summary(inspect(t, test.folder, test.opts)); !strings.Contains(got, test.want) {
				t.Errorf("got  %s\nwant … %s", got, test.want)
			}
		})
	}
}

func TestWhatCannotBeAdded(t *testing.T) {
	double := tensor{name: "last_hidden_state", kind: 11, dims: []dimension{0, 0, 8}}
	narrow := tensor{name: "input_ids", kind: 6, dims: []dimension{0, 0}}
	fixed := tensor{name: "input_ids", kind: int64Type, dims: []dimension{1, 128}}
	mean := Options{Pooling: models.MeanPooling}
	tests := []struct {
		name   string
		folder fstest.MapFS
		opts   Options
		code   braid.Code
		want   []string
	}{
		{"pooling nowhere", folder(onnx{outputs: hidden}, nil), Options{}, braid.InvalidArgument, []string{"--pooling, cls or mean"}},
		{"all faults at once", folder(onnx{outputs: hidden}, map[string]string{"config.json": ""}), Options{}, braid.InvalidArgument, []string{"--pooling", "--max-tokens"}},
		{"SPLADE activation nowhere", folder(onnx{outputs: []tensor{output("logits", 0, 0, 100)}}, nil), Options{}, braid.InvalidArgument, []string{"--pooling, splade or splade-double-log"}},
		{"SPLADE summed", folder(onnx{outputs: []tensor{output("logits", 0, 0, 100)}}, map[string]string{"modules.json": `[{"path":"1","type":"x.SpladePooling"}]`, "1/config.json": `{"pooling_strategy": "sum"}`}), Options{}, braid.InvalidArgument, []string{"1/config.json says pooling by sum"}},
		{"pooling braid has not", folder(onnx{outputs: hidden}, map[string]string{"modules.json": meanModules, "1_Pooling/config.json": `{"pooling_mode_max_tokens": true, "pooling_mode_mean_tokens": true}`}), Options{}, braid.InvalidArgument, []string{"says pooling mean and max"}},
		{"pooling of the other kind", folder(onnx{outputs: hidden}, nil), Options{Pooling: models.SPLADEPooling}, braid.InvalidArgument, []string{"--pooling says pooling splade, but braid pools cls or mean"}},
		{"pooling of what is pooled", folder(onnx{outputs: []tensor{output("logits", 0, 1)}}, nil), mean, braid.InvalidArgument, []string{"the graph pools already"}},
		{"a layer after the pooling", folder(onnx{outputs: hidden}, map[string]string{"modules.json": `[{"path":"2_Dense","type":"sentence_transformers.models.Dense"}]`}), mean, braid.InvalidArgument, []string{"names a Dense module (2_Dense/config.json)", "sentence_embedding"}},
		{"classifier", folder(onnx{outputs: []tensor{output("logits", 0, 3)}}, nil), Options{}, braid.InvalidArgument, []string{"logits has 3 values a text", "a reranker has 1"}},
		{"other task", folder(onnx{outputs: []tensor{output("logits", 0, 0, 9)}}, map[string]string{"config.json": `{"architectures": ["BertForTokenClassification"]}`}), Options{}, braid.InvalidArgument, []string{"config.json says it is a BertForTokenClassification", "--kind"}},
		{"double precision", folder(onnx{outputs: []tensor{double}}, nil), mean, braid.InvalidArgument, []string{"last_hidden_state is float64", "--file"}},
		{"only the pooler", folder(onnx{outputs: []tensor{output("pooler_output", 0, 8)}}, nil), Options{}, braid.InvalidArgument, []string{"give --output, one of pooler_output float32 [?, 8]"}},
		{"several hidden states", folder(onnx{outputs: []tensor{output("a", 0, 0, 8), output("b", 0, 0, 8)}}, nil), mean, braid.InvalidArgument, []string{"give --output, one of a float32 [?, ?, 8]; b"}},
		{"no such output", folder(onnx{outputs: hidden}, nil), Options{Output: "x", Pooling: models.MeanPooling}, braid.InvalidArgument, []string{`none is called "x"`, "last_hidden_state"}},
		{"other kind", folder(onnx{outputs: hidden}, nil), Options{Kind: models.CrossEncoder}, braid.InvalidArgument, []string{"holds what a dense model gives, not a cross-encoder one"}},
		{"unknown input", folder(onnx{inputs: inputsNamed("input_ids", "position_ids"), outputs: hidden}, nil), mean, braid.InvalidArgument, []string{`reads "position_ids"`}},
		{"narrow ids", folder(onnx{inputs: []tensor{narrow}, outputs: hidden}, nil), mean, braid.InvalidArgument, []string{"input_ids int32 [?, ?] is not int64"}},
		{"fixed length", folder(onnx{inputs: []tensor{fixed}, outputs: hidden}, nil), mean, braid.InvalidArgument, []string{"[1, 128] has a fixed size", "dynamic axes"}},
		{"no ids", folder(onnx{inputs: inputsNamed("attention_mask"), outputs: hidden}, nil), mean, braid.InvalidArgument, []string{"no input input_ids"}},
		{"more tokens than positions", folder(onnx{outputs: hidden}, nil), Options{Pooling: models.MeanPooling, MaxTokens: 513}, braid.InvalidArgument, []string{"--max-tokens is 513, but the model has 512 positions"}},
		{"no special tokens", folder(onnx{outputs: hidden}, map[string]string{"tokenizer.json": `{"model": {"type": "WordPiece", "vocab": {"a": 0}}, "post_processor": null}`}), mean, braid.InvalidArgument, []string{"adds no special tokens"}},
		{"no tokenizer", folder(onnx{outputs: hidden}, map[string]string{"tokenizer.json": ""}), mean, braid.NotFound, []string{"has no tokenizer.json", "save_pretrained"}},
		{"broken tokenizer", folder(onnx{outputs: hidden}, map[string]string{"tokenizer.json": "{"}), mean, braid.Corrupt, []string{"read tokenizer.json"}},
		{"broken config", folder(onnx{outputs: hidden}, map[string]string{"config.json": "<html>"}), mean, braid.Corrupt, []string{"read config.json", "fetch it again"}},
		{"huge config", folder(onnx{outputs: hidden}, map[string]string{"config.json": strings.Repeat(" ", maxConfigBytes+1)}), mean, braid.Corrupt, []string{"more than 1048576 bytes"}},
		{"modules outside", folder(onnx{outputs: hidden}, map[string]string{"modules.json": `[{"path":"../x","type":"a.Pooling"}]`}), mean, braid.Corrupt, []string{`names the folder "../x"`}},
		{"an LFS pointer for a graph", folder(onnx{}, map[string]string{"onnx/model.onnx": "version https://git-lfs.github.com/spec/v1\n"}), mean, braid.Corrupt, []string{"onnx/model.onnx", "fetch or export it again"}},
		{"weights outside", folder(onnx{outputs: hidden, external: []string{"../../x"}}, nil), mean, braid.Corrupt, []string{`keeps weights in "../../x"`}},
		{"weights missing", folder(onnx{outputs: hidden, external: []string{"model.onnx_data"}}, nil), mean, braid.NotFound, []string{"onnx/model.onnx_data"}},
		{"table missing", folder(onnx{outputs: []tensor{output("weights", 0, 100)}}, nil), Options{QueryWeights: "idf.json"}, braid.NotFound, []string{"idf.json"}},
		{"no graph", folder(onnx{}, map[string]string{"onnx/model.onnx": "", "pytorch_model.bin": "x"}), mean, braid.InvalidArgument, []string{"no .onnx file", "optimum-cli"}},
		{"options", folder(onnx{outputs: hidden}, nil), Options{Name: "../x", Kind: "colbert", Pooling: "max", MaxTokens: -1}, braid.InvalidArgument, []string{`"../x"`, "--kind", "--pooling", "--max-tokens is -1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.opts.Name == "" {
				test.opts.Name = "m"
			}
			_, err := Inspect(test.folder, test.opts)
			if braid.CodeOf(err) != test.code {
				t.Fatalf("got %s: %v, want %s", braid.CodeOf(err), err, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

func TestGraph(t *testing.T) {
	tests := []struct {
		paths      []string
		file, want string // want in the error if it ends with '!'
	}{
		{[]string{"model.onnx", "config.json"}, "", "model.onnx"},
		{[]string{"model_optimized.onnx"}, "", "model_optimized.onnx"},
		{[]string{"onnx/model.onnx", "onnx/model_O3.onnx", "onnx/model_qint8_avx512.onnx"}, "", "onnx/model.onnx"},
		{[]string{"onnx/model.onnx", "onnx/model_O3.onnx"}, "model_O3.onnx", "onnx/model_O3.onnx"},
		{[]string{"onnx/model.onnx", "onnx/model_O3.onnx"}, "onnx/model_O3.onnx", "onnx/model_O3.onnx"},
		{[]string{"onnx/model.onnx", "model.onnx"}, "model.onnx", "model.onnx"},
		{[]string{"onnx/model.onnx", "model.onnx"}, "", "--file: model.onnx, onnx/model.onnx!"},
		{[]string{"a.onnx", "b.onnx"}, "", "--file: a.onnx, b.onnx!"},
		{[]string{"a.onnx", "b.onnx"}, "c.onnx", "--file takes one of a.onnx, b.onnx!"},
		{[]string{"a.onnx"}, "c.onnx", "--file takes one of a.onnx!"},
		{[]string{"model.safetensors", "model.onnx_data"}, "", "no .onnx file!"},
	}
	for _, test := range tests {
		got, err := Graph(test.paths, test.file)
		if want, failing := strings.CutSuffix(test.want, "!"); failing {
			if braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), want) {
				t.Errorf("%q %q: got %q, %v, want … %s", test.paths, test.file, got, err, want)
			}
		} else if err != nil || got != want {
			t.Errorf("%q %q: got %q, %v, want %q", test.paths, test.file, got, err, want)
		}
	}
}

// Inspect must find in a fetched folder all that it finds in the whole one.
func TestNeededIsEnough(t *testing.T) {
	for _, name := range []string{"distilbert-dense", "xlmr-dense", "roberta-reranker", "distilbert-splade"} {
		whole := os.DirFS(filepath.Join("testdata", name))
		paths, err := listFiles(whole)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "pytorch_model.bin", "a/b/c/config.json")
		graph, err := Graph(paths, "")
		if err != nil {
			t.Fatal(err)
		}
		weights, err := Weights(whole, graph)
		if err != nil {
			t.Fatal(err)
		}
		needed := append(Needed(paths, graph), weights...)
		if slices.Contains(needed, "pytorch_model.bin") || slices.Contains(needed, "onnx/model_quantized.onnx") {
			t.Errorf("%s: fetches %q", name, needed)
		}
		fetched := fstest.MapFS{}
		for _, p := range needed {
			content, err := fs.ReadFile(whole, p)
			if err != nil {
				t.Fatal(err)
			}
			fetched[p] = &fstest.MapFile{Data: content}
		}
		if got, want := summary(inspect(t, fetched, Options{})), summary(inspect(t, whole, Options{})); got != want {
			t.Errorf("%s: from what was fetched %s\nfrom all %s", name, got, want)
		}
	}
}

// Configuration comes from outside, too: whatever it holds, Inspect answers
// with a valid manifest or with an error that has its code.
func FuzzConfig(f *testing.F) {
	f.Add("modules.json", meanModules, "1_Pooling/config.json", meanPooling)
	f.Add("config.json", `{"architectures": ["X"], "id2label": {"0": 1}}`, "tokenizer_config.json", `{"model_max_length": 1e400}`)
	f.Add("tokenizer.json", `{"model": {"type": "Unigram", "vocab": [["a", 0]]}, "post_processor": {"type": "x"}}`, "idf.json", "{}")
	f.Add("router_config.json", `{"structure": {"document": ["a", "a"]}, "types": {"a": "x.Router"}}`, "modules.json", `[{"path": "", "type": "x.Router"}]`)
	f.Add("config_sentence_transformers.json", `{"prompts": {"query": "\u0000"}}`, "README.md", "---\nlicense: &a [*a]\n---\n")
	f.Fuzz(func(t *testing.T, path, content, otherPath, otherContent string) {
		for _, p := range []string{path, otherPath} {
			if !fs.ValidPath(p) || p == "." || strings.HasSuffix(p, ".onnx") || strings.HasPrefix(p, "onnx") {
				t.Skip()
			}
		}
		fsys := folder(onnx{outputs: hidden}, nil)
		fsys[path], fsys[otherPath] = &fstest.MapFile{Data: []byte(content)}, &fstest.MapFile{Data: []byte(otherContent)}
		r, err := Inspect(fsys, Options{Name: "m", Pooling: models.MeanPooling})
		if err != nil {
			if code := braid.CodeOf(err); code == braid.Internal {
				t.Fatalf("error without its code: %v", err)
			}
			return
		}
		if err := r.Manifest.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

func ExampleInspect() {
	r, err := Inspect(os.DirFS("testdata/distilbert-dense"), Options{Name: "mine"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range r.Decisions {
		if d.Setting == "pooling" || d.Setting == "query prefix" {
			_ = json.NewEncoder(os.Stdout).Encode(d)
		}
	}
	// Output:
	// {"setting":"pooling","value":"mean","from":"1_Pooling/config.json"}
	// {"setting":"query prefix","value":"\"query: \"","from":"config_sentence_transformers.json"}
}
