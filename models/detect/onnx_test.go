package detect

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/protobuf/encoding/protowire"
)

// onnx is a graph to be written for a test: names and shapes, no arithmetic.
type onnx struct {
	inputs, outputs []tensor
	operators       []string // nodes
	inner           []string // nodes of a graph inside a node
	weights         []string // initializers by name, each [514, 8]
	external        []string // locations of weights
}

func message(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func text(number protowire.Number, s string) []byte { return message(number, []byte(s)) }

func number(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func (t tensor) bytes() []byte {
	var shape []byte
	for i, d := range t.dims {
		dim := text(2, fmt.Sprintf("axis %d", i)) // dim_param
		if d > 0 {
			dim = number(dimensionValue, uint64(d))
		}
		shape = append(shape, message(shapeDimension, dim)...)
	}
	kind := join(number(tensorTypeElement, uint64(t.kind)), message(tensorTypeShape, shape))
	return join(text(valueName, t.name), message(valueType, message(typeTensor, kind)))
}

func (o onnx) bytes() []byte {
	node := func(op string) []byte { return message(graphNode, join(text(1, "x"), text(nodeOpType, op))) }
	var graph []byte
	for _, op := range o.operators {
		graph = append(graph, node(op)...)
	}
	for _, op := range o.inner {
		graph = append(graph, message(graphNode, join(text(nodeOpType, "If"), message(nodeAttribute, message(attributeGraph, node(op)))))...)
	}
	for _, name := range o.weights {
		packed := protowire.AppendVarint(protowire.AppendVarint(nil, 514), 8)
		graph = append(graph, message(graphInitializer, join(message(tensorDims, packed), text(tensorName, name), message(9, make([]byte, 100_000))))...)
	}
	for _, location := range o.external {
		entry := join(text(entryKey, "location"), text(entryValue, location))
		graph = append(graph, message(graphInitializer, join(number(tensorDims, 2), text(tensorName, "far"), message(tensorExternalData, entry)))...)
	}
	for _, in := range o.inputs {
		graph = append(graph, message(graphInput, in.bytes())...)
	}
	for _, out := range o.outputs {
		graph = append(graph, message(graphOutput, out.bytes())...)
	}
	return join(number(1, 8), text(2, "test"), message(modelGraph, graph))
}

// inputsNamed are int64 [?, ?].
func inputsNamed(names ...string) []tensor {
	var list []tensor
	for _, name := range names {
		list = append(list, tensor{name: name, kind: int64Type, dims: []dimension{0, 0}})
	}
	return list
}

func output(name string, dims ...dimension) tensor {
	return tensor{name: name, kind: float32Type, dims: dims}
}

// tokenizerOf is a WordPiece tokenizer.json of n entries.
func tokenizerOf(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf(`"w%d": %d`, i, i)
	}
	return `{"model": {"type": "WordPiece", "vocab": {` + strings.Join(words, ",") + `}}, "added_tokens": [{"id": 0, "content": "[PAD]"}], "post_processor": {"type": "TemplateProcessing"}}`
}

// folder is a model's folder: the graph at onnx/model.onnx, a tokenizer of 100
// entries, and files by path, which may replace these.
func folder(o onnx, files map[string]string) fstest.MapFS {
	if o.inputs == nil {
		o.inputs = inputsNamed("input_ids", "attention_mask")
	}
	fsys := fstest.MapFS{
		"onnx/model.onnx": {Data: o.bytes()},
		"tokenizer.json":  {Data: []byte(tokenizerOf(100))},
		"config.json":     {Data: []byte(`{"max_position_embeddings": 512, "vocab_size": 100, "hidden_size": 8}`)},
	}
	for path, content := range files {
		if content == "" {
			delete(fsys, path)
			continue
		}
		fsys[path] = &fstest.MapFile{Data: []byte(content)}
	}
	return fsys
}

func TestReadGraph(t *testing.T) {
	o := onnx{
		inputs:    append(inputsNamed("input_ids"), tensor{name: "embeddings.position_embeddings.weight", kind: float32Type, dims: []dimension{514, 8}}),
		outputs:   []tensor{output("last_hidden_state", 0, 0, 8)},
		operators: []string{"Gather", "MatMul"},
		weights:   []string{"embeddings.position_embeddings.weight"},
		external:  []string{"model.onnx_data", "model.onnx_data", "more"},
	}
	data := o.bytes()
	g, err := readGraph(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %s %s %d %t", g.inputs[0], g.outputs[0], g.weights, g.positions, g.dynamicInt8); len(g.inputs) != 1 || got != "input_ids int64 [?, ?] last_hidden_state float32 [?, ?, 8] [model.onnx_data more] 514 false" {
		t.Errorf("read %s", got)
	}
	for _, nested := range []onnx{{operators: []string{"DynamicQuantizeLinear"}}, {inner: []string{"Add", "DynamicQuantizeLinear"}}} {
		nested.outputs = o.outputs
		data := nested.bytes()
		if g, err := readGraph(strings.NewReader(string(data)), int64(len(data))); err != nil || !g.dynamicInt8 {
			t.Errorf("%+v: dynamic int8 not seen: %v", nested, err)
		}
	}
}

func TestReadGraphRefuses(t *testing.T) {
	whole := onnx{outputs: []tensor{output("y", 0, 0, 8)}, weights: []string{"w"}}.bytes()
	deep := []byte{}
	for range 100 {
		deep = message(graphNode, message(nodeAttribute, message(attributeGraph, deep)))
	}
	many := make([]tensor, maxTensors+1)
	for i := range many {
		many[i] = tensor{name: fmt.Sprint(i), kind: int64Type}
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "holds no graph"},
		{"text", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:abc\n"), "not a"},
		{"cut in the weights", whole[:len(whole)-50_000], "where"},
		{"cut in a header", whole[:3], ""},
		{"no output", onnx{}.bytes(), "holds no graph"},
		{"deep", message(modelGraph, deep), "nested more than"},
		{"long name", message(modelGraph, message(graphOutput, text(valueName, strings.Repeat("n", maxNameBytes+1)))), "a name has 4097 bytes"},
		{"many dimensions", message(modelGraph, message(graphOutput, output("y", make([]dimension, maxRank+1)...).bytes())), "more than 8 dimensions"},
		{"many inputs", onnx{inputs: many, outputs: []tensor{output("y", 0)}}.bytes(), "65 inputs"},
		{"field longer than the file", message(modelGraph, append(text(1, ""), 0x0a, 0xff, 0xff, 0xff, 0x7f)), "where 0 are left"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := readGraph(strings.NewReader(string(test.data)), int64(len(test.data)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want … %s", err, test.want)
			}
		})
	}
	if _, err := readGraph(strings.NewReader(string(whole[:1000])), int64(len(whole))); err == nil || !strings.Contains(err.Error(), "bytes early") {
		t.Errorf("a file that shrinks while it is read: got %v", err)
	}
}

// A graph comes from outside: reading it ends, without a panic.
func FuzzReadGraph(f *testing.F) {
	f.Add(onnx{outputs: []tensor{output("y", 0, 0, 8)}, inputs: inputsNamed("input_ids"), operators: []string{"Add"}, inner: []string{"Mul"}, external: []string{"../x"}}.bytes())
	f.Add(onnx{outputs: []tensor{output("y", 0, 8)}, weights: []string{"position_embeddings"}}.bytes()[:500])
	f.Add([]byte{0x3a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := readGraph(strings.NewReader(string(data)), int64(len(data)))
		if err == nil && len(g.outputs) == 0 {
			t.Fatal("a graph without outputs was read")
		}
	})
}
