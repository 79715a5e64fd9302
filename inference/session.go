package inference

import (
	"fmt"
	"math"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/braid-search/braid"
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
	cls     bool // the first token's values are all that is read of an output
	first   bool // the output has no others: [texts, 1, width]; found by check
	width   int
	alone   bool // a run has one text, so its shape is the text's length
}

// outputShape is that of the output for so many texts of so many tokens.
func (g graph) outputShape(texts, tokens int) ort.Shape {
	switch {
	case g.perText:
		return ort.NewShape(int64(texts), int64(g.width))
	case g.first:
		tokens = 1
	}
	return ort.NewShape(int64(texts), int64(tokens), int64(g.width))
}

// outputSize is the number of values for one text of so many tokens.
func (g graph) outputSize(tokens int) int {
	return int(g.outputShape(1, tokens).FlattenedSize())
}

// session is one loaded graph. On the CPU runs on different slots may overlap.
type session struct {
	graph  graph
	native *ort.DynamicAdvancedSession
	names  []string // of the inputs, in the order the graph is fed
	inputs []input  // what they are
	half   bool     // the output is float16
	slots  []buffers
	where  where
	stream sync.Mutex // held by the run under way on a GPU
}

// buffers are one slot's tensors. They grow to the largest unit seen and stay:
// a slot runs one unit at a time, so nothing is shared and nothing is pooled.
type buffers struct {
	inputs [3][]int64 // indexed by input
	half   []byte     // output as float16, where that is what the graph computes
	output []float32
}

// openSession loads g on d for single-threaded runs on the runtime's slots.
func openSession(g graph, runtime Options, d device) (*session, error) {
	// Looking at the graph is quick when it is not optimised.
	options, err := sessionOptions(runtime, ort.GraphOptimizationLevelDisableAll)
	if err != nil {
		return nil, err
	}
	defer func() { _ = options.Destroy() }()
	s := &session{graph: g, slots: make([]buffers, slotCount(runtime.Slots))}
	if s.names, s.half, err = s.graph.check(options); err != nil {
		return nil, err
	}
	for _, name := range s.names {
		s.inputs = append(s.inputs, g.inputs[name])
	}
	if d.cuda {
		err := s.openCUDA(d)
		switch {
		case err == nil:
			return s, nil
		case d.required:
			return nil, braid.Errorf(braid.Unavailable, "device cuda cannot be used: %w", err)
		}
		s.where.fallback = err.Error()
	}
	if err := options.SetGraphOptimizationLevel(ort.GraphOptimizationLevelEnableAll); err != nil {
		return nil, err
	}
	if err := options.AddSessionConfigEntry("optimization.disable_specified_optimizers", slowOptimizers); err != nil {
		return nil, err
	}
	// With a pattern a run takes one block for all that it computes, without it some
	// hundred, of which other slots' runs get those that it has just written: these
	// must then go from core to core. The runtime keeps a pattern for each shape it
	// has seen, so there must not be many.
	if err := options.SetMemPattern(g.alone); err != nil {
		return nil, err
	}
	s.where.provider = cpuProvider
	if err := s.load(options); err != nil {
		return nil, err
	}
	return s, nil
}

// slowOptimizers are the runtime's graph optimisations that cost time on a CPU:
// the sum with a layer norm behind it runs without vector instructions once it
// is one operator, and takes a sixth of MiniLM's time. Apart, both are quick.
const slowOptimizers = "SkipLayerNormFusion"

// padded reports whether texts of different lengths may share a run: on a GPU, if
// the graph has a mask to hide the padding with. On the CPU padding costs as
// much as text, and without it a text's result is the same bits in any company.
func (s *session) padded() bool {
	return s.where.provider == cudaProvider && slices.Contains(s.inputs, inputMask)
}

// load opens the graph with the given options.
func (s *session) load(options *ort.SessionOptions) (err error) {
	s.native, err = ort.NewDynamicAdvancedSession(s.graph.path, s.names, []string{s.graph.output}, options)
	return err
}

// sessionOptions returns options for runs that use the calling thread only.
func sessionOptions(runtime Options, level ort.GraphOptimizationLevel) (*ort.SessionOptions, error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	settings := []func() error{
		// A second session with two threads for a query that is alone gains on
		// idle cores only, and loses more where others compute:
		// docs/decisions/compute-slots.md.
		func() error { return options.SetIntraOpNumThreads(1) },
		func() error { return options.SetInterOpNumThreads(1) },
		func() error { return options.AddSessionConfigEntry("session.intra_op.allow_spinning", "0") },
		func() error { return options.SetGraphOptimizationLevel(level) },
		func() error { return options.SetMemPattern(false) }, // but see openSession
		func() error { return runtime.Arena.apply(options) },
	}
	if runtime.exactInt8 {
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

// check compares the file's inputs and output with g, notes whether the output is
// the first token's, and returns the names of the inputs it declares and whether
// its output is float16.
func (g *graph) check(options *ort.SessionOptions) (names []string, half bool, err error) {
	inputs, outputs, err := ort.GetInputOutputInfoWithOptions(g.path, options)
	if err != nil {
		return nil, false, err
	}
	for _, in := range inputs {
		if _, ok := g.inputs[in.Name]; !ok {
			return nil, false, fmt.Errorf("the graph has an unknown input %s: name it in the manifest", &in)
		}
		if in.DataType != ort.TensorElementDataTypeInt64 || len(in.Dimensions) != 2 {
			return nil, false, fmt.Errorf("the graph's input %s is not int64 [texts, tokens]", &in)
		}
		names = append(names, in.Name)
	}
	if !slices.ContainsFunc(names, func(name string) bool { return g.inputs[name] == inputIDs }) {
		return nil, false, fmt.Errorf("the graph has no input for token ids, only %q", names)
	}
	at := slices.IndexFunc(outputs, func(out ort.InputOutputInfo) bool { return out.Name == g.output })
	if at < 0 {
		return nil, false, fmt.Errorf("the graph has no output %q, only %s", g.output, describe(outputs))
	}
	out, rank := outputs[at], 3
	if g.perText {
		rank = 2
	}
	half = out.DataType == ort.TensorElementDataTypeFloat16
	if out.DataType != ort.TensorElementDataTypeFloat && !half || len(out.Dimensions) != rank {
		return nil, false, fmt.Errorf("the graph's output %s is not float32 or float16 of rank %d", &out, rank)
	}
	if width := out.Dimensions[rank-1]; width > 0 && width != int64(g.width) {
		return nil, false, fmt.Errorf("the graph's output %s has %d values where the manifest says %d", &out, width, g.width)
	}
	if g.first = rank == 3 && out.Dimensions[1] == 1; g.first && !g.cls {
		return nil, false, fmt.Errorf("the graph's output %s is the first token's alone: pooling must be cls, or the graph another", &out)
	}
	return names, half, nil
}

func describe(infos []ort.InputOutputInfo) (list []string) {
	for _, info := range infos {
		list = append(list, info.String())
	}
	return list
}

// run feeds sequences, of equal length unless s is padded, and returns the
// output, [texts, width] or [texts, tokens, width] flattened, tokens being those
// of the longest, or 1 where the graph gives the first token's alone. It belongs to the slot and is overwritten by the slot's next
// run.
func (s *session) run(slot int, batch []sequence) ([]float32, error) {
	b := &s.slots[slot]
	texts, tokens := len(batch), b.fill(batch)
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
	shape = s.graph.outputShape(texts, tokens)
	size := int(shape.FlattenedSize())
	b.output = slices.Grow(b.output[:0], size)[:size]
	output, err := s.outputTensor(b, shape)
	if err != nil {
		return nil, err
	}
	values = append(values, output)
	if s.where.provider == cudaProvider {
		s.stream.Lock()
		defer s.stream.Unlock()
	}
	if err := s.native.Run(values[:len(s.inputs)], values[len(s.inputs):]); err != nil {
		return nil, err
	}
	if s.half {
		widen(b.output, b.half)
	}
	return b.output, nil
}

// outputTensor is where a run puts its output.
func (s *session) outputTensor(b *buffers, shape ort.Shape) (ort.Value, error) {
	if !s.half {
		return ort.NewTensor(shape, b.output)
	}
	size := 2 * len(b.output)
	b.half = slices.Grow(b.half[:0], size)[:size]
	return ort.NewCustomDataTensor(shape, b.half, ort.TensorElementDataTypeFloat16)
}

// fill writes a batch into the input buffers and returns the length of its
// longest sequence. Shorter ones are filled up with zeros that the mask hides.
func (b *buffers) fill(batch []sequence) (tokens int) {
	for i := range b.inputs {
		b.inputs[i] = b.inputs[i][:0]
	}
	for _, s := range batch {
		tokens = max(tokens, len(s.ids))
	}
	for _, s := range batch {
		for i, id := range s.ids {
			b.inputs[inputIDs] = append(b.inputs[inputIDs], int64(id))
			b.inputs[inputMask] = append(b.inputs[inputMask], 1)
			b.inputs[inputTypes] = append(b.inputs[inputTypes], int64(s.types[i]))
		}
		for i := range b.inputs {
			b.inputs[i] = append(b.inputs[i], make([]int64, tokens-len(s.ids))...)
		}
	}
	return tokens
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
