package inference

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

func TestParseDevice(t *testing.T) {
	for name, want := range map[string]device{
		"":       {},
		"cpu":    {},
		"auto":   {cuda: true},
		"cuda":   {cuda: true, required: true},
		"cuda:0": {cuda: true, required: true},
		"cuda:3": {cuda: true, required: true, ordinal: 3},
	} {
		if got, err := parseDevice(name); err != nil || got != want {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"gpu", "CUDA", "cuda:", "cuda:-1", "cuda:1.5", "cuda:256", "cuda0", "cpu:0", "auto:1"} {
		if err := (Options{Library: "x", Device: name}).Validate(); braid.CodeOf(err) != braid.InvalidArgument || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What ONNX Runtime says, and what a person needs to hear.
func TestExplain(t *testing.T) {
	const source = "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:2043 onnxruntime::Provider& onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : "
	for _, c := range []struct{ said, cause, fix string }{
		{"CUDA execution provider is not enabled in this build.", "CUDA execution provider is not enabled in this build:", "scripts/setup --gpu"},
		{source + "Failed to load library /l/libonnxruntime_providers_cuda.so with error: libcublasLt.so.13: cannot open shared object file: No such file or directory", "libcublasLt.so.13 is missing", "LD_LIBRARY_PATH"},
		{source + "Failed to load library /l/libonnxruntime_providers_cuda.so with error: libcuda.so.1: cannot open shared object file: No such file or directory", "libcuda.so.1 is missing", "driver"},
		{source + "Failed to load library libonnxruntime_providers_shared.so with error: /l/libonnxruntime_providers_shared.so: cannot open shared object file: No such file or directory", "/l/libonnxruntime_providers_shared.so is missing", "folder of libonnxruntime"},
		{`[ONNXRuntimeError] : 1 : FAIL : provider_options_utils.h:187 Parse Failed to parse provider option "device_id": CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=h ; file=/onnxruntime_src/x.cc ; line=70 ; expr=cudaGetDeviceCount(&num_devices);`, "CUDA failure 100: no CUDA-capable device is detected", "nvidia-smi"},
		{"CUDA failure 101: invalid device ordinal ; GPU=7", "CUDA failure 101: invalid device ordinal:", "nvidia-smi -L"},
		{"something new", "something new", "docs/gpu.md"},
	} {
		got := explain(errors.New(c.said)).Error()
		if !strings.HasPrefix(got, c.cause) || !strings.Contains(got, c.fix) || strings.Contains(got, "onnxruntime_src") {
			t.Errorf("%q becomes %q, want %q and %q", c.said, got, c.cause, c.fix)
		}
	}
}

// cudaBuild returns the library of the build for CUDA, or skips.
func cudaBuild(t *testing.T) string {
	t.Helper()
	library, err := FindLibrary(filepath.Join(local, "lib", "gpu"))
	if err != nil {
		t.Skip("skipped: no build of ONNX Runtime for CUDA: scripts/setup --gpu fetches it")
	}
	return library
}

// hasGPU reports whether the driver shows a GPU.
func hasGPU(t *testing.T) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "nvidia-smi", "-L").Output()
	return err == nil && strings.Contains(string(out), "GPU 0")
}

// Asked for in vain, cuda fails with cause and fix, and leaves the process able to
// open a runtime; auto runs on the CPU, gives what the CPU gives, and says why.
func TestWithoutCUDA(t *testing.T) {
	library, err := FindLibrary(filepath.Join(local, "lib"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		build func(*testing.T) string
		says  []string
	}{
		{"the library is built for CPUs", func(*testing.T) string { return library }, []string{"not enabled in this build", "scripts/setup --gpu"}},
		{"the library finds no CUDA", cudaBuild, []string{".so", "is missing", "LD_LIBRARY_PATH"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := c.build(t)
			if path != library && hasGPU(t) {
				t.Skip("skipped: this machine has a GPU: scripts/gpu-check tests it")
			}
			for _, device := range []string{"cuda", "cuda:1"} {
				_, err := Open(Options{Library: path, Device: device})
				wantFault(t, err, braid.Unavailable, append(c.says, "device cuda")...)
			}
			r, err := Open(Options{Library: path, Device: "auto"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}()
			openSparse(t, r)
			if err := r.SelfTest(t.Context()); err != nil {
				t.Error(err)
			}
			info := r.Info()
			if info.Provider != cpuProvider || info.Models[0].Provider != cpuProvider {
				t.Errorf("says %s and %s, want the CPU", info.Provider, info.Models[0].Provider)
			}
			for _, part := range c.says {
				if !strings.Contains(info.Fallback, part) {
					t.Errorf("%q does not say %q", info.Fallback, part)
				}
			}
		})
	}
}

func TestCPUAskedForIsNoFallback(t *testing.T) {
	r := openRuntime(t, Options{Device: "cpu"})
	openSparse(t, r)
	if info := r.Info(); info.Fallback != "" || info.Models[0].Fallback != "" || info.Provider != cpuProvider {
		t.Errorf("%+v", info)
	}
}

// A session that fails on the GPU fails to open for cuda and opens on the CPU for
// auto. The library here has no GPU, so that each try fails.
func TestOpenSessionWithoutCUDA(t *testing.T) {
	r := openRuntime(t, Options{})
	g := graphOf(openModel(t, "splade-tiny"))
	_, err := openSession(g, r.options, device{cuda: true, required: true})
	wantFault(t, loadError(openModel(t, "splade-tiny"), "graph", err), braid.Unavailable, "splade-tiny", "device cuda", "scripts/setup --gpu")
	s, err := openSession(g, r.options, device{cuda: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if s.where.provider != cpuProvider || !strings.Contains(s.where.fallback, "scripts/setup --gpu") || s.padded() {
		t.Errorf("%+v, padded %t", s.where, s.padded())
	}
}

// The profiler tells of each node where it ran. Here that is the CPU, for all.
func TestProfile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	r := openRuntime(t, Options{})
	for _, name := range []string{"splade-tiny", "bge-small-en-v1.5", "ms-marco-minilm-l12-v2"} {
		s, err := openSession(graphOf(openModel(t, name)), r.options, device{})
		if err != nil {
			t.Fatal(err)
		}
		s.close()
		options, err := sessionOptions(Options{}, ort.GraphOptimizationLevelEnableAll)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.profile(options)
		if err != nil {
			t.Fatal(err)
		}
		if found.on(cudaProvider) || !found.on(cpuProvider) || found.nodes[cpuProvider] < 20 || !strings.Contains(found.String(), "MatMul") {
			t.Errorf("%s: %s", name, found)
		}
		// The options are as before, and the session can be loaded for use.
		if err := s.load(options); err != nil {
			t.Fatal(err)
		}
		s.close()
		if err := options.Destroy(); err != nil {
			t.Error(err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestReadPlacement(t *testing.T) {
	node := func(provider, operator, outputType string) string {
		return `{"cat": "Node", "args": {"provider": "` + provider + `", "op_name": "` + operator + `", "output_type_shape": [{"` + outputType + `": [1, 2]}]}}`
	}
	nodes := slices.Repeat([]string{node(cudaProvider, "MatMul", "float16")}, 18)
	nodes = append(nodes, `{"cat": "Session", "args": {}}`, node(cpuProvider, "Gather", "int64"), node(cpuProvider, "Shape", "int64"), node(cpuProvider, "Cast", "float"))
	for _, c := range []struct {
		name   string
		extra  []string
		onCUDA bool
		says   string
	}{
		{"shapes do not count", nil, true, "1 of 19 nodes (Cast)"},
		{"some may", []string{node(cpuProvider, "Cast", "uint8")}, true, "2 of 20 nodes (Cast)"},
		{"more may not", []string{node(cpuProvider, "MatMulInteger", "int8"), node(cpuProvider, "MatMulInteger", "double")}, false, "3 of 21 nodes (MatMulInteger, Cast)"},
	} {
		found, err := readPlacement(strings.NewReader("[" + strings.Join(append(slices.Clone(nodes), c.extra...), ",\n") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		if found.on(cudaProvider) != c.onCUDA || found.String() != c.says {
			t.Errorf("%s: on CUDA %t, %q; want %t, %q", c.name, found.on(cudaProvider), found, c.onCUDA, c.says)
		}
	}
	for _, broken := range []string{"", "{}", "[", "[]", `[{"cat": "Session"}]`, `[{"cat": "Node", "args": 1}]`} {
		if found, err := readPlacement(strings.NewReader(broken)); err == nil {
			t.Errorf("%q: %v", broken, found)
		}
	}
}

// Padding is hidden by the mask: texts of different lengths that share a run, as
// they do on a GPU, get what they get alone, but for rounding.
func TestPaddedRunsGiveTheSame(t *testing.T) {
	r := openRuntime(t, Options{})
	s := openSparse(t, r)
	texts := []string{"a big fat potato", words(3), words(70), "crane", words(20), words(140)}
	want, _, err := s.Expand(t.Context(), Request{Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	s.head.session.where.provider = cudaProvider
	if units := pack([]int{5, 4, 3}, s.head.batchTokens, s.head.session.padded()); len(units) != 1 {
		t.Fatalf("%d units, want 1", len(units))
	}
	got, _, err := s.Expand(t.Context(), Request{Texts: texts})
	if err != nil {
		t.Fatal(err)
	}
	for i := range texts {
		if !slices.Equal(got[i].Vector.Indices, want[i].Vector.Indices) || got[i].Usage != want[i].Usage {
			t.Fatalf("text %d: %v, want %v", i, got[i], want[i])
		}
		for k, w := range want[i].Vector.Values {
			if d := math.Abs(float64(got[i].Vector.Values[k] - w)); d > 1e-4 {
				t.Errorf("text %d, weight %d: off by %g", i, k, d)
			}
		}
	}
}

// A graph in float16 with known states, pooled without its padding.
func TestHalfPrecisionAndPooling(t *testing.T) {
	dir := t.TempDir()
	for from, to := range map[string]string{"testdata/half.onnx": "half.onnx", openModel(t, "bge-small-en-v1.5").TokenizerPath(): "tokenizer.json"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, to), data)
	}
	m := &models.Model{Dir: dir, Manifest: models.Manifest{
		Name: "half", Kind: models.Dense, Graph: "half.onnx", Tokenizer: "tokenizer.json",
		Inputs:  models.Inputs{TokenIDs: "input_ids", AttentionMask: "attention_mask"},
		Output:  models.Output{Name: "states", Form: models.HiddenStates},
		Pooling: models.MeanPooling, Dimensions: 2, MaxTokens: 512, Quantization: models.NotQuantized,
	}}
	d, err := openRuntime(t, Options{}).NewDense(m)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{"crane", words(40), words(7)}
	for _, provider := range []string{cpuProvider, cudaProvider} {
		d.head.session.where.provider = provider // with cuda the texts share a run
		got, _, err := d.Embed(context.Background(), Request{Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range texts {
			e, err := d.head.tokenizer.encode(text, 510)
			if err != nil {
				t.Fatal(err)
			}
			sum := 101.0 + 102 // [CLS] and [SEP]
			for _, id := range e.ids {
				sum += float64(id)
			}
			want := sum / 65536 / float64(len(e.ids)+2)
			v := got[i].Vector
			if math.Abs(float64(v[0])-want) > want/1024 || v[1] != 1 { // 11 bits of each id
				t.Errorf("%s, text %d: %v, want [%g 1]", provider, i, v, want)
			}
		}
	}
}

// The float models that set-up makes of the quantised ones for GPUs: float16
// products change little, padding next to nothing, and both are near the int8
// model, whose weights they have.
func TestFloatModels(t *testing.T) {
	folder := filepath.Join(local, "models-gpu")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("skipped: no float models: scripts/setup --gpu makes them")
	}
	r := openRuntime(t, Options{})
	texts := []string{"how do I reset the pump?", words(60), "ERR-104", words(17)}
	// vectors are those of a model, the texts in runs of their own or in one.
	vectors := func(folder, name, provider string) [][]float32 {
		m, err := models.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.NewDense(m)
		if err != nil {
			t.Fatal(err)
		}
		d.head.session.where.provider = provider
		embeddings, _, err := d.Embed(t.Context(), Request{Texts: texts})
		if err != nil {
			t.Fatal(err)
		}
		var list [][]float32
		for _, e := range embeddings {
			list = append(list, e.Vector)
		}
		return list
	}
	single := vectors(folder, "bge-small-en-v1.5-fp32", cpuProvider)
	for _, c := range []struct {
		what    string
		got     [][]float32
		atLeast float64
	}{
		{"padded", vectors(folder, "bge-small-en-v1.5-fp32", cudaProvider), 0.999999},
		{"float16", vectors(folder, "bge-small-en-v1.5-fp16", cpuProvider), 0.9999},
		{"int8", vectors(filepath.Join(local, "models"), "bge-small-en-v1.5", cpuProvider), 0.97},
	} {
		for i := range texts {
			var dot float64
			for k, v := range single[i] {
				dot += float64(v) * float64(c.got[i][k])
			}
			if dot < c.atLeast {
				t.Errorf("%s, text %d: cosine %.7f, want at least %g", c.what, i, dot, c.atLeast)
			}
		}
	}
}
