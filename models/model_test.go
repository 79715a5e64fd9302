package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/braid-search/braid"
)

var testPaths = []string{"model.onnx", "tokenizer.json", "data/weights.bin"}

// testFiles stand in for a model's files, whose meaning is not this package's.
func testFiles() fstest.MapFS {
	return fstest.MapFS{
		"model.onnx":       {Data: bytes.Repeat([]byte("graph "), 10_000)},
		"tokenizer.json":   {Data: []byte(`{"version": "1.0"}`)},
		"data/weights.bin": {Data: []byte{1, 2, 3, 0, 255}},
	}
}

func describe(path string, content []byte) File {
	sum := sha256.Sum256(content)
	return File{Path: path, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// installed puts the test model into a new root and returns its folder.
func installed(t *testing.T) string {
	t.Helper()
	model, err := Install(t.TempDir(), testManifest(t), testFiles())
	if err != nil {
		t.Fatal(err)
	}
	return model.Dir
}

func TestOpen(t *testing.T) {
	dir := installed(t)
	model, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if model.Name != "tiny" || model.Dir != dir || model.Digest() != testManifest(t).Digest() {
		t.Errorf("opened %+v", model)
	}
	for path, want := range map[string]string{
		model.GraphPath():              "model.onnx",
		model.TokenizerPath():          "tokenizer.json",
		model.Path("data/weights.bin"): "data/weights.bin",
	} {
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(content, testFiles()[want].Data) {
			t.Errorf("%s does not hold %s: %v", path, want, err)
		}
	}
}

func TestOpenReportsDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(dir string) error
		want   []string
	}{
		{"truncated", func(dir string) error { return os.Truncate(dir+"/model.onnx", 1000) },
			[]string{"model.onnx has 1000 bytes, expected 60000"}},
		{"emptied", func(dir string) error { return os.Truncate(dir+"/tokenizer.json", 0) },
			[]string{"tokenizer.json has 0 bytes, expected 18"}},
		{"half written", func(dir string) error { return os.WriteFile(dir+"/model.onnx", make([]byte, 60000), 0o644) },
			[]string{"model.onnx has sha256 ", ", expected " + describe("", testFiles()["model.onnx"].Data).SHA256}},
		{"one bit flipped", func(dir string) error { return os.WriteFile(dir+"/data/weights.bin", []byte{1, 2, 3, 0, 254}, 0o644) },
			[]string{"data/weights.bin has sha256 "}},
		{"grown", func(dir string) error {
			return os.WriteFile(dir+"/data/weights.bin", []byte{1, 2, 3, 0, 255, 0}, 0o644)
		},
			[]string{"data/weights.bin has 6 bytes, expected 5"}},
		{"missing", func(dir string) error { return os.Remove(dir + "/data/weights.bin") },
			[]string{"data/weights.bin is missing, expected 5 bytes"}},
		{"two files", func(dir string) error {
			return errors.Join(os.Remove(dir+"/model.onnx"), os.Truncate(dir+"/tokenizer.json", 3))
		}, []string{"model.onnx is missing", "tokenizer.json has 3 bytes"}},
		{"a folder for a file", func(dir string) error {
			return errors.Join(os.Remove(dir+"/model.onnx"), os.Mkdir(dir+"/model.onnx", 0o755))
		}, []string{"model.onnx is not a regular file"}},
		{"a pipe for a file", func(dir string) error {
			return errors.Join(os.Remove(dir+"/model.onnx"), syscall.Mkfifo(dir+"/model.onnx", 0o644))
		}, []string{"model.onnx is not a regular file"}},
		{"a link out of the folder", func(dir string) error {
			outside := filepath.Join(filepath.Dir(dir), "outside.onnx")
			return errors.Join(os.Rename(dir+"/model.onnx", outside), os.Symlink("../outside.onnx", dir+"/model.onnx"))
		}, []string{"model.onnx: path escapes"}},
		{"no manifest", func(dir string) error { return os.Remove(dir + "/manifest.yaml") },
			[]string{"no readable manifest.yaml"}},
		{"a pipe for a manifest", func(dir string) error {
			return errors.Join(os.Remove(dir+"/manifest.yaml"), syscall.Mkfifo(dir+"/manifest.yaml", 0o644))
		}, []string{"manifest.yaml is not a regular file"}},
		{"half a manifest", func(dir string) error { return os.Truncate(dir+"/manifest.yaml", 100) },
			[]string{"manifest of model \"tiny\"", "max_tokens is 0"}},
		{"huge manifest", func(dir string) error { return os.Truncate(dir+"/manifest.yaml", 1<<40) },
			[]string{"manifest has more than 65536 bytes"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := installed(t)
			if err := test.damage(dir); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir)
			if braid.CodeOf(err) != braid.Corrupt {
				t.Fatalf("got %v, want %s", err, braid.Corrupt)
			}
			for _, want := range append(test.want, dir, "make setup") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %q", want, err)
				}
			}
		})
	}
}

func TestOpenWithoutFolder(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "none")); braid.CodeOf(err) != braid.NotFound {
		t.Errorf("no folder: got %v, want %s", err, braid.NotFound)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("a file for a folder: got %v, want %s", err, braid.Corrupt)
	}
}
