package inference

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// asTelemetryProbe makes the test binary open a runtime and run a model, in a
// process of its own, since ONNX Runtime decides on telemetry once a process.
const asTelemetryProbe = "BRAID_TEST_TELEMETRY_PROBE"

// ONNX Runtime's reporting begins with files: an identifier and a queue in the
// cache folder, a session in the temporary one.
func TestNoTelemetry(t *testing.T) {
	if os.Getenv(asTelemetryProbe) != "" {
		r := openRuntime(t, Options{})
		openSparse(t, r)
		if err := r.SelfTest(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNoTelemetry$")
	// Without CI, in which it would be silent by itself.
	cmd.Env = []string{asTelemetryProbe + "=1", "HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var written []string
	err := filepath.WalkDir(home, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			written = append(written, path)
		}
		return err
	})
	if err != nil || len(written) > 0 {
		t.Errorf("ONNX Runtime wrote %q, %v", written, err)
	}
}
