package inference

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
)

// where says what a session runs on, as a run has shown.
type where struct {
	provider string
	cpuNodes int    // on a GPU: nodes that the CPU runs all the same
	fallback string // why it is not the GPU that was asked for, or ""
}

// placement says which provider ran the nodes of a graph, as counted in a run.
// Nodes that only compute shapes are left out: ONNX Runtime puts these on the
// CPU by design.
type placement struct {
	nodes map[string]int // by provider
	onCPU map[string]int // the CPU's, by operator
}

// maxCPUShare is the part of the nodes that may run on the CPU in a session that
// counts as one on CUDA: room for a few around the edges of a graph. Of a graph
// quantised dynamically about half of them do, with every product of weights.
const maxCPUShare = 0.1

// valueTypes are the types of activations; shapes and indices are int64 or int32.
var valueTypes = []string{"float", "float16", "bfloat16", "double", "int8", "uint8"}

// openCUDA loads the graph on the GPU of d, or fails with cause and fix. That the
// provider is there says little: ONNX Runtime leaves to the CPU what it cannot
// run. So one session runs a text under the profiler, and what is found of it
// goes for the next one, which is made of the same file and options.
func (s *session) openCUDA(d device) error {
	options, err := sessionOptions(Options{}, ort.GraphOptimizationLevelEnableAll)
	if err != nil {
		return err
	}
	defer func() { _ = options.Destroy() }()
	if err := d.addTo(options); err != nil {
		return err
	}
	found, err := s.profile(options)
	if err != nil {
		return explain(err)
	}
	if !found.on(cudaProvider) {
		return fmt.Errorf("%s would run on the CPU: use a graph in float32 or float16, the provider has no kernels for most quantised ones", found)
	}
	if err := s.load(options); err != nil {
		return explain(err)
	}
	s.where = where{provider: cudaProvider, cpuNodes: found.nodes[cpuProvider]}
	return nil
}

// profile runs a short text in a session of its own and says what ran where. The
// options come back without profiling.
func (s *session) profile(options *ort.SessionOptions) (placement, error) {
	folder, err := os.MkdirTemp("", "braid-profile-")
	if err != nil {
		return placement{}, fmt.Errorf("make a folder for ONNX Runtime's profile: %w: make it writable or name another one in TMPDIR", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if err := options.EnableProfiling(filepath.Join(folder, "run")); err != nil {
		return placement{}, err
	}
	if err := s.load(options); err != nil {
		return placement{}, err
	}
	// Id 0 is in every vocabulary, and which token it is does not matter.
	const tokens = 8
	_, err = s.run(0, []sequence{{ids: make([]uint32, tokens), types: make([]uint8, tokens)}})
	s.close() // writes the profile
	s.native = nil
	if err != nil {
		return placement{}, err
	}
	if err := options.DisableProfiling(); err != nil {
		return placement{}, err
	}
	profiles, err := filepath.Glob(filepath.Join(folder, "run*"))
	if err != nil || len(profiles) != 1 {
		return placement{}, fmt.Errorf("ONNX Runtime wrote %d profiles to %s, want 1 (%w)", len(profiles), folder, err)
	}
	file, err := os.Open(profiles[0])
	if err != nil {
		return placement{}, err
	}
	defer func() { _ = file.Close() }() // it was only read
	return readPlacement(file)
}

// profileEvent is what is read here of an event in ONNX Runtime's profile, a
// list in the trace event format.
type profileEvent struct {
	Category string `json:"cat"`
	Args     struct {
		Operator string           `json:"op_name"`
		Provider string           `json:"provider"`
		Outputs  []map[string]any `json:"output_type_shape"` // type to shape
	} `json:"args"`
}

// readPlacement counts the nodes in a profile of one run.
func readPlacement(profile io.Reader) (placement, error) {
	var events []profileEvent
	if err := json.NewDecoder(profile).Decode(&events); err != nil {
		return placement{}, fmt.Errorf("read ONNX Runtime's profile: %w", err)
	}
	p := placement{nodes: map[string]int{}, onCPU: map[string]int{}}
	for _, e := range events {
		if e.Category != "Node" || e.Args.Provider == "" || !computesValues(e) {
			continue
		}
		p.nodes[e.Args.Provider]++
		if e.Args.Provider == cpuProvider {
			p.onCPU[e.Args.Operator]++
		}
	}
	if len(p.nodes) == 0 {
		return placement{}, fmt.Errorf("read ONNX Runtime's profile: it has no node among %d events", len(events))
	}
	return p, nil
}

func computesValues(e profileEvent) bool {
	for _, output := range e.Args.Outputs {
		for name := range output {
			if slices.Contains(valueTypes, name) {
				return true
			}
		}
	}
	return false
}

// on reports whether provider did the work.
func (p placement) on(provider string) bool {
	total := 0
	for _, n := range p.nodes {
		total += n
	}
	return p.nodes[provider] > 0 && float64(total-p.nodes[provider]) <= maxCPUShare*float64(total)
}

// String says what ran on the CPU.
func (p placement) String() string {
	total := 0
	for _, n := range p.nodes {
		total += n
	}
	operators := slices.SortedFunc(maps.Keys(p.onCPU), func(a, b string) int {
		if d := p.onCPU[b] - p.onCPU[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	const shown = 5
	if len(operators) > shown {
		operators = append(operators[:shown], "…")
	}
	return fmt.Sprintf("%d of %d nodes (%s)", p.nodes[cpuProvider], total, strings.Join(operators, ", "))
}
