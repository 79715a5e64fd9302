package detect

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits on what is kept of a graph. They are far above what any text model
// has, and bound what a hostile file costs.
const (
	maxNameBytes = 4 << 10
	maxTensors   = 64 // inputs, outputs, or files with weights
	maxRank      = 8
	maxNesting   = 24 // of messages; a graph inside a node takes three levels
)

// graphFacts is what the ONNX file says about itself.
type graphFacts struct {
	inputs, outputs []tensor
	// weights are the files that hold weights outside the graph, relative to
	// the graph's folder.
	weights []string
	// positions is the number of rows of the table of learnt positions, or 0.
	positions int64
	// dynamicInt8 is true when activations are scaled while the graph runs.
	dynamicInt8 bool
	// int8 is true when the graph multiplies integers, however they came about.
	int8 bool
}

// tensor is an input or output.
type tensor struct {
	name string
	kind elementType
	dims []dimension
}

// dimension is a fixed length, or 0 for one that varies.
type dimension int64

func (t tensor) String() string {
	dims := make([]string, len(t.dims))
	for i, d := range t.dims {
		if dims[i] = "?"; d > 0 {
			dims[i] = fmt.Sprint(d)
		}
	}
	return fmt.Sprintf("%s %s [%s]", t.name, t.kind, strings.Join(dims, ", "))
}

// width is the last dimension, 0 when it varies.
func (t tensor) width() int64 {
	if len(t.dims) == 0 {
		return 0
	}
	return int64(t.dims[len(t.dims)-1])
}

// elementType is onnx.TensorProto.DataType.
type elementType uint64

const (
	float32Type elementType = 1
	int64Type   elementType = 7
	float16Type elementType = 10
)

func (e elementType) String() string {
	names := map[elementType]string{float32Type: "float32", 6: "int32", int64Type: "int64", float16Type: "float16", 11: "float64", 16: "bfloat16"}
	if name, ok := names[e]; ok {
		return name
	}
	return fmt.Sprintf("type %d", uint64(e))
}

// Field numbers of onnx.proto, as far as they are read.
const (
	modelGraph = 7

	graphNode        = 1
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12

	nodeOpType    = 4
	nodeAttribute = 5

	attributeGraph  = 6
	attributeGraphs = 11

	tensorDims         = 1
	tensorName         = 8
	tensorExternalData = 13

	entryKey   = 1
	entryValue = 2

	valueName = 1
	valueType = 2

	typeTensor = 1

	tensorTypeElement = 1
	tensorTypeShape   = 2

	shapeDimension = 1

	dimensionValue = 1
)

// readGraph reads the facts of an ONNX file of size bytes.
func readGraph(r io.Reader, size int64) (graphFacts, error) {
	p := newProto(r, size)
	var g graphFacts
	found := false
	err := p.message(size, func(f field) error {
		if f.number != modelGraph {
			return nil
		}
		found = true
		return g.readGraph(p, f.size, true)
	})
	if err != nil {
		return graphFacts{}, fmt.Errorf("not a whole ONNX file: %w", err)
	}
	if !found || len(g.outputs) == 0 {
		return graphFacts{}, fmt.Errorf("not an ONNX file: it holds no graph")
	}
	return g, nil
}

// readGraph reads a GraphProto; of one inside a node, operators and weights only.
func (g *graphFacts) readGraph(p *proto, size int64, outer bool) error {
	weights := map[string]bool{} // initializers, which older files list as inputs too
	err := p.message(size, func(f field) error {
		switch f.number {
		case graphNode:
			return g.readNode(p, f.size)
		case graphInitializer:
			name, err := g.readInitializer(p, f.size)
			if err == nil && len(weights) < maxInitializers {
				weights[name] = true
			}
			return err
		case graphInput:
			return readTensor(p, f.size, outer, &g.inputs)
		case graphOutput:
			return readTensor(p, f.size, outer, &g.outputs)
		}
		return nil
	})
	if outer {
		g.inputs = slices.DeleteFunc(g.inputs, func(t tensor) bool { return weights[t.name] })
		if err == nil && len(g.inputs) > maxTensors {
			err = fmt.Errorf("the graph has %d inputs, the limit is %d", len(g.inputs), maxTensors)
		}
	}
	return err
}

const maxInitializers = 1 << 16

// dynamicOperators scale activations by the range of the whole batch.
var dynamicOperators = []string{"DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM"}

// integerProduct multiplies what was scaled by other operators than those: in the
// graphs of models/export by the range of each text.
const integerProduct = "MatMulInteger"

func (g *graphFacts) readNode(p *proto, size int64) error {
	return p.message(size, func(f field) error {
		switch f.number {
		case nodeOpType:
			op, err := p.text(f.size)
			g.dynamicInt8 = g.dynamicInt8 || slices.Contains(dynamicOperators, op)
			g.int8 = g.int8 || op == integerProduct
			return err
		case nodeAttribute:
			return p.message(f.size, func(f field) error {
				if f.number == attributeGraph || f.number == attributeGraphs {
					return g.readGraph(p, f.size, false)
				}
				return nil
			})
		}
		return nil
	})
}

// readInitializer returns the tensor's name.
func (g *graphFacts) readInitializer(p *proto, size int64) (string, error) {
	var name string
	var dims []int64
	err := p.message(size, func(f field) (err error) {
		switch f.number {
		case tensorDims:
			dims, err = p.integers(f, dims)
		case tensorName:
			name, err = p.text(f.size)
		case tensorExternalData:
			return g.readExternal(p, f.size)
		}
		return err
	})
	if len(dims) == 2 && strings.Contains(name, "position_embedding") {
		g.positions = dims[0]
	}
	return name, err
}

func (g *graphFacts) readExternal(p *proto, size int64) error {
	var key, value string
	err := p.message(size, func(f field) (err error) {
		switch f.number {
		case entryKey:
			key, err = p.text(f.size)
		case entryValue:
			value, err = p.text(f.size)
		}
		return err
	})
	if err != nil || key != "location" || slices.Contains(g.weights, value) {
		return err
	}
	if len(g.weights) == maxTensors {
		return fmt.Errorf("the weights lie in more than %d files", maxTensors)
	}
	g.weights = append(g.weights, value)
	return nil
}

// readTensor reads a ValueInfoProto and appends it to list if keep is set.
func readTensor(p *proto, size int64, keep bool, list *[]tensor) error {
	if !keep {
		return nil
	}
	if len(*list) == maxInitializers {
		return fmt.Errorf("the graph has more than %d inputs or outputs", maxInitializers)
	}
	var t tensor
	err := p.message(size, func(f field) (err error) {
		switch f.number {
		case valueName:
			t.name, err = p.text(f.size)
		case valueType:
			err = p.message(f.size, func(f field) error {
				if f.number != typeTensor {
					return nil
				}
				return t.readType(p, f.size)
			})
		}
		return err
	})
	*list = append(*list, t)
	return err
}

func (t *tensor) readType(p *proto, size int64) error {
	return p.message(size, func(f field) error {
		switch f.number {
		case tensorTypeElement:
			t.kind = elementType(f.value)
		case tensorTypeShape:
			return p.message(f.size, func(f field) error {
				if f.number != shapeDimension {
					return nil
				}
				if len(t.dims) == maxRank {
					return fmt.Errorf("tensor %q has more than %d dimensions", t.name, maxRank)
				}
				var d dimension
				err := p.message(f.size, func(f field) error {
					if f.number == dimensionValue && f.wire == protowire.VarintType && int64(f.value) > 0 {
						d = dimension(f.value)
					}
					return nil
				})
				t.dims = append(t.dims, d)
				return err
			})
		}
		return nil
	})
}
