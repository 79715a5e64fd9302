package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The folder that set-up filled serves as the sources, since it has their
// layout.
const sources = "../../.local/models"

func installModels(t *testing.T, args ...string) string {
	t.Helper()
	var printed strings.Builder
	if err := run(args, &printed); err != nil {
		t.Fatal(err)
	}
	return printed.String()
}

func TestInstallsWhatIsLacking(t *testing.T) {
	if _, err := os.Stat(sources); err != nil {
		t.Skip("skipped: no models: run `make setup`")
	}
	const all = "bge-small-en-v1.5\nsplade-tiny\nms-marco-minilm-l12-v2\n"
	root := filepath.Join(t.TempDir(), "models")
	steps := []struct {
		name string
		do   func() error
		want string // lacking afterwards
	}{
		{"nothing is there", func() error { return nil }, all},
		{"all are installed", func() error { installModels(t, root, sources); return nil }, ""},
		{"one is damaged", func() error { return os.Truncate(filepath.Join(root, "splade-tiny", "model.onnx"), 1000) }, "splade-tiny\n"},
		{"one is mended", func() error { installModels(t, root, sources); return nil }, ""},
	}
	for _, step := range steps {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if got := installModels(t, root); got != step.want {
			t.Fatalf("%s: lacking %q, want %q", step.name, got, step.want)
		}
	}
}

func TestRefuses(t *testing.T) {
	root := t.TempDir()
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "usage"},
		{[]string{root, root, root}, "usage"},
		{[]string{root, filepath.Join(root, "none")}, "model.onnx is missing"},
	} {
		if err := run(test.args, &strings.Builder{}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.args, err, test.want)
		}
	}
}
