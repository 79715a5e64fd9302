package inference

import (
	"fmt"
	"math"
	"slices"

	ort "github.com/yalue/onnxruntime_go"
)

// input is one of the tensors a BERT-like graph reads.
type input uint8

const (
	inputIDs   input = iota // token ids
	inputMask               // 1 for a token, 0 for padding
	inputTypes              // segment ids
)

// graph is what is known of a model's ONNX file before it is opened.
type graph struct {
	path    string
	inputs  map[string]input // every input it may declare
	output  string
	perText bool // output is [texts, width], else [texts, tokens, width]
	width   int
}

// session is one loaded graph. Runs on different slots may overlap.
type session struct {
	graph  graph
	native *ort.DynamicAdvancedSession
	inputs []input // in the order the graph is fed
	slots  []buffers
}

// buffers are one slot's tensors. They grow to the largest unit seen and stay:
// a slot runs one unit at a time, so nothing is shared and nothing is pooled.
type buffers struct {
	inputs [3][]int64 // indexed by input
	output []float32
}

// openSession loads g for single-threaded runs on the runtime's slots.
func openSession(g graph, runtime Options) (*session, error) {
	options, err := sessionOptions(runtime.exactInt8)
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	names, err := g.check(options)
	if err != nil {
		return nil, err
	}
	if err := options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll); err != nil {
		return nil, err
	}
	native, err := ort.NewDynamicAdvancedSession(g.path, names, []string{g.output}, options)
	if err != nil {
		return nil, err
	}
	s := &session{graph: g, native: native, slots: make([]buffers, runtime.Slots)}
	for _, name := range names {
		s.inputs = append(s.inputs, g.inputs[name])
	}
	return s, nil
}

// sessionOptions returns options for runs that use the calling thread only. The
// graph is not optimised yet, so that looking at it is quick.
func sessionOptions(exactInt8 bool) (*ort.SessionOptions, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	settings := []func() error{
		// A second session with two threads for a query that is alone was not
		// worth it: spinning 2.2 ms at best where one thread takes 2.6, but 7.4
		// and not 3.0 in the median of a busy machine; without spinning 2.7, 3.6.
		func() error { return options.SetIntraOpNumThreads(1) },
		func() error { return options.SetInterOpNumThreads(1) },
		func() error { return options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0") },
		func() error { return options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelDisableAll) },
		// A pattern is kept per input shape, and every text length is one; it
		// changed neither time nor memory. The arena stays: without it the peak
		// of the three models was 390 MB instead of 305, and no lower after.
		func() error { return options.SetMemPattern(false) },
	}
	if exactInt8 {
		settings = append(settings, func() error { return options.AddSessionConfigEntry("session.x64quantprecision", "1") })
	}
	for _, set := range settings {
		if err := set(); err != nil {
			_ = options.Destroy()
			return nil, err
		}
	}
	return options, nil
}

// check compares the file's inputs and output with g and returns the names of
// the inputs it declares.
func (g graph) check(options *ort.SessionOptions) ([]string, error) {
	inputs, outputs, err := ort.GetInputOutputInfoWithOptions(g.path, options)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, in := range inputs {
		if _, ok := g.inputs[in.Name]; !ok {
			return nil, fmt.Errorf("the graph has an unknown input %s: name it in the manifest", &in)
		}
		if in.DataType != ort.TensorElementDataTypeInt64 || len(in.Dimensions) != 2 {
			return nil, fmt.Errorf("the graph's input %s is not int64 [texts, tokens]", &in)
		}
		names = append(names, in.Name)
	}
	if !slices.ContainsFunc(names, func(name string) bool { return g.inputs[name] == inputIDs }) {
		return nil, fmt.Errorf("the graph has no input for token ids, only %q", names)
	}
	at := slices.IndexFunc(outputs, func(out ort.InputOutputInfo) bool { return out.Name == g.output })
	if at < 0 {
		return nil, fmt.Errorf("the graph has no output %q, only %s", g.output, describe(outputs))
	}
	out, rank := outputs[at], 3
	if g.perText {
		rank = 2
	}
	if out.DataType != ort.TensorElementDataTypeFloat || len(out.Dimensions) != rank {
		return nil, fmt.Errorf("the graph's output %s is not float32 of rank %d", &out, rank)
	}
	if width := out.Dimensions[rank-1]; width > 0 && width != int64(g.width) {
		return nil, fmt.Errorf("the graph's output %s has %d values where the manifest says %d", &out, width, g.width)
	}
	return names, nil
}

func describe(infos []ort.InputOutputInfo) (list []string) {
	for _, info := range infos {
		list = append(list, info.String())
	}
	return list
}

// run feeds sequences of equal length and returns the output, [texts, width] or
// [texts, tokens, width] flattened. It belongs to the slot and is overwritten
// by the slot's next run.
func (s *session) run(slot int, batch []sequence) ([]float32, error) {
	b := &s.slots[slot]
	texts, tokens := len(batch), len(batch[0].ids)
	b.fill(batch)
	shape := ort.NewShape(int64(texts), int64(tokens))
	values := make([]ort.Value, 0, len(s.inputs)+1)
	defer func() {
		for _, v := range values {
			_ = v.Destroy()
		}
	}()
	for _, in := range s.inputs {
		tensor, err := ort.NewTensor(shape, b.inputs[in])
		if err != nil {
			return nil, err
		}
		values = append(values, tensor)
	}
	size := texts * s.graph.width
	shape = ort.NewShape(int64(texts), int64(s.graph.width))
	if !s.graph.perText {
		size *= tokens
		shape = ort.NewShape(int64(texts), int64(tokens), int64(s.graph.width))
	}
	b.output = slices.Grow(b.output[:0], size)[:size]
	output, err := ort.NewTensor(shape, b.output)
	if err != nil {
		return nil, err
	}
	values = append(values, output)
	if err := s.native.Run(values[:len(s.inputs)], values[len(s.inputs):]); err != nil {
		return nil, err
	}
	return b.output, nil
}

// fill writes a batch into the input buffers; there is no padding to mask.
func (b *buffers) fill(batch []sequence) {
	for i := range b.inputs {
		b.inputs[i] = b.inputs[i][:0]
	}
	for _, s := range batch {
		for i, id := range s.ids {
			b.inputs[inputIDs] = append(b.inputs[inputIDs], int64(id))
			b.inputs[inputMask] = append(b.inputs[inputMask], 1)
			b.inputs[inputTypes] = append(b.inputs[inputTypes], int64(s.types[i]))
		}
	}
}

func (s *session) close() { _ = s.native.Destroy() } // fails only when closed twice

// finite reports whether every value is a number and not infinite.
func finite(values []float32) bool {
	for _, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}
