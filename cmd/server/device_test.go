package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/internal/testenv"
)

// The library that set-up puts into .local/lib is built for CPUs.
func TestCUDAThatCannotBeUsed(t *testing.T) {
	stdout, stderr, code := execute(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--device", "cuda")
	for _, part := range []string{"device cuda", "built for CPUs only", "scripts/setup --gpu", "--onnxruntime"} {
		if !strings.Contains(stderr, part) {
			t.Errorf("%q does not say %q", stderr, part)
		}
	}
	if code != 1 || stdout != "" || strings.Contains(stderr, "listening") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestAutoSaysWhatRuns(t *testing.T) {
	s := serveOn(t, t.TempDir()) // auto is the default
	_, body := get(t, s.base+"/info")
	var info struct{ Runtime inference.Info }
	if err := json.Unmarshal([]byte(body), &info); err != nil {
		t.Fatal(err)
	}
	if r := info.Runtime; r.Provider != "CPUExecutionProvider" || !strings.Contains(r.Fallback, "built for CPUs only") || len(r.Models) == 0 || r.Models[0].Provider != r.Provider {
		t.Errorf("/info says %+v", r)
	}
	if code := s.stop(t, syscall.SIGTERM); code != 0 || !strings.Contains(s.log.String(), "models run on the CPU") {
		t.Errorf("exit %d, log %s", code, s.log)
	}
}

// With the build for CUDA and no GPU: the same, for another reason.
func TestCUDABuildWithoutGPU(t *testing.T) {
	library, err := inference.FindLibrary(filepath.Join(testenv.Root(), ".local", "lib", "gpu"))
	if err != nil {
		t.Skip("skipped: no build of ONNX Runtime for CUDA: scripts/setup --gpu fetches it")
	}
	_, stderr, code := execute(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--onnxruntime", library, "--device", "cuda:200")
	if code != 1 || strings.Contains(stderr, "listening") || !strings.Contains(stderr, "device cuda") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

func TestLogFallbacks(t *testing.T) {
	var out bytes.Buffer
	logFallbacks(slog.New(slog.NewTextHandler(&out, nil)), inference.Info{
		Models: []inference.ModelInfo{{Name: "a", Fallback: "no kernels"}, {Name: "b", CPUNodes: 3}, {Name: "c"}},
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "model=a why=\"no kernels\"") || !strings.Contains(lines[1], "model=b nodes=3") {
		t.Errorf("logged %q", lines)
	}
}
