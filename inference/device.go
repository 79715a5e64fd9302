package inference

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/braid-search/braid"
)

// Execution providers as ONNX Runtime names them.
const (
	cpuProvider  = "CPUExecutionProvider"
	cudaProvider = "CUDAExecutionProvider"
)

// device is where models are to run.
type device struct {
	cuda     bool // on a GPU
	required bool // there or nowhere
	ordinal  int  // which GPU
}

// parseDevice reads Options.Device.
func parseDevice(name string) (device, error) {
	switch name {
	case "", "cpu":
		return device{}, nil
	case "auto":
		return device{cuda: true}, nil
	case "cuda":
		return device{cuda: true, required: true}, nil
	}
	number, found := strings.CutPrefix(name, "cuda:")
	ordinal, err := strconv.ParseUint(number, 10, 8)
	if !found || err != nil {
		return device{}, fmt.Errorf("device is %q, want auto, cpu, cuda or cuda:N, N the number of the GPU from 0 on", name)
	}
	return device{cuda: true, required: true, ordinal: int(ordinal)}, nil
}

// chooseDevice returns the device called name if the library has the CUDA
// provider and that finds its own libraries. If not, it fails for cuda, and for
// auto the answer is the CPU and why. Whether there is a GPU shows when a model
// is opened.
func chooseDevice(name string) (_ device, fallback string, err error) {
	d, err := parseDevice(name)
	if err != nil || !d.cuda {
		return d, "", err
	}
	options, err := ort.NewSessionOptions()
	if err != nil {
		return device{}, "", braid.Errorf(braid.Internal, "make session options: %w", err)
	}
	defer func() { _ = options.Destroy() }()
	err = d.addTo(options)
	switch {
	case err == nil:
		return d, "", nil
	case d.required:
		return device{}, "", braid.Errorf(braid.Unavailable, "device cuda cannot be used: %w", err)
	}
	return device{}, err.Error(), nil
}

// addTo makes the CUDA provider of d the first one of a session's. Whatever it
// cannot run is left to the CPU.
func (d device) addTo(options *ort.SessionOptions) error {
	cuda, err := ort.NewCUDAProviderOptions()
	if err != nil {
		return explain(err)
	}
	defer func() { _ = cuda.Destroy() }()
	// The arena's default, to double each time, would hold up to twice what the
	// largest batch takes.
	settings := map[string]string{
		"device_id":             strconv.Itoa(d.ordinal),
		"arena_extend_strategy": "kSameAsRequested",
		"use_tf32":              "0", // float32 is to mean it; graphs in float16 are for speed
	}
	if err := cuda.Update(settings); err != nil {
		return explain(err)
	}
	if err := options.AppendExecutionProviderCUDA(cuda); err != nil {
		return explain(err)
	}
	return nil
}

// What matters in a message: the name in the dynamic linker's, the failure in one
// of CUDA's.
var (
	missingLibrary = regexp.MustCompile(`(\S+): cannot open shared object file`)
	cudaFailure    = regexp.MustCompile(`CUDA failure \d+: [^;]+`)
)

// remedies are what to do about a failure, by a part of what ONNX Runtime said,
// in lower case. The first one that applies counts.
var remedies = []struct{ sign, fix string }{
	{"not enabled in this build", "this libonnxruntime is built for CPUs only: get the build for CUDA with `scripts/setup --gpu` and name it, .local/lib/gpu/libonnxruntime.so, with --onnxruntime"},
	{"libonnxruntime_providers_", "keep the provider libraries of the build for CUDA in the folder of libonnxruntime, where `scripts/setup --gpu` puts them"},
	{"libcuda.so", "this is part of the NVIDIA driver: install the driver, and give containers the GPU (docker run --gpus all)"},
	{"cannot open shared object file", "install the CUDA runtime and cuDNN of the major version in the name (docs/gpu.md) and name their folder in LD_LIBRARY_PATH"},
	{"cudnn", "install cuDNN 9 (docs/gpu.md) and name its folder in LD_LIBRARY_PATH"},
	{"invalid device ordinal", "there are fewer GPUs than that: `nvidia-smi -L` lists them, from 0 on"},
	{"no cuda-capable device", "the driver shows no GPU: see what `nvidia-smi` says, and give containers the GPU (docker run --gpus all)"},
	{"driver version is insufficient", "update the NVIDIA driver to one for this CUDA version (docs/gpu.md)"},
	{"out of memory", "free memory of the GPU (`nvidia-smi` shows who holds it) or choose another one with --device cuda:N"},
}

// explain turns what ONNX Runtime says about CUDA into cause and fix.
func explain(err error) error {
	cause := strings.TrimRight(err.Error(), ". \n")
	// What comes before is a place in ONNX Runtime's source.
	if _, said, found := strings.Cut(cause, "[ONNXRuntimeError] : "); found {
		cause = said
	}
	sign := cause
	if name := missingLibrary.FindStringSubmatch(cause); name != nil {
		sign, cause = name[0], name[1]+" is missing"
	} else if failure := cudaFailure.FindString(cause); failure != "" {
		cause = strings.TrimSpace(failure)
	}
	sign = strings.ToLower(sign)
	for _, r := range remedies {
		if strings.Contains(sign, r.sign) {
			return fmt.Errorf("%s: %s", cause, r.fix)
		}
	}
	return fmt.Errorf("%s: docs/gpu.md lists what CUDA needs", cause)
}
