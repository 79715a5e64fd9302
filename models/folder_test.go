package models

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/braid-search/braid"
)

// contents returns every file under root by its path.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		found[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInstallLeavesAWholeModelAsItIs(t *testing.T) {
	dir := installed(t)
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	// An empty source shows that nothing is copied.
	if _, err := Install(filepath.Dir(dir), testManifest(t), fstest.MapFS{}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(dir); err != nil || !os.SameFile(before, after) {
		t.Errorf("the folder was replaced (%v)", err)
	}
}

func TestInstallRepairsAndReplaces(t *testing.T) {
	newer := testManifest(t)
	newer.QueryPrefix = "search: "
	tests := []struct {
		name     string
		manifest Manifest
		before   func(dir string) error
	}{
		{"damaged file", testManifest(t), func(dir string) error { return os.Truncate(dir+"/model.onnx", 5) }},
		{"no manifest", testManifest(t), func(dir string) error { return os.Remove(dir + "/manifest.yaml") }},
		{"other settings", newer, func(string) error { return nil }},
		{"file of an older version", newer, func(dir string) error { return os.WriteFile(dir+"/old.bin", nil, 0o644) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := installed(t)
			if err := test.before(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Install(filepath.Dir(dir), test.manifest, testFiles()); err != nil {
				t.Fatal(err)
			}
			model, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if model.Digest() != test.manifest.Digest() {
				t.Error("the folder holds another manifest")
			}
			paths := slices.Sorted(maps.Keys(contents(t, filepath.Dir(dir))))
			want := []string{"tiny/data/weights.bin", "tiny/manifest.yaml", "tiny/model.onnx", "tiny/tokenizer.json"}
			if !slices.Equal(paths, want) {
				t.Errorf("the root holds %q, want %q", paths, want)
			}
		})
	}
}

func TestInstallFailsWithoutATrace(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Manifest, fstest.MapFS)
		code   braid.Code
		want   string
	}{
		{"truncated source", func(_ *Manifest, files fstest.MapFS) { files["model.onnx"].Data = files["model.onnx"].Data[:100] },
			braid.Corrupt, "model.onnx has 100 bytes, expected 60000"},
		{"altered source", func(_ *Manifest, files fstest.MapFS) { files["data/weights.bin"].Data[0] = 9 },
			braid.Corrupt, "data/weights.bin has sha256"},
		{"missing source", func(_ *Manifest, files fstest.MapFS) { delete(files, "tokenizer.json") },
			braid.Corrupt, "tokenizer.json is missing"},
		{"invalid manifest", func(m *Manifest, _ fstest.MapFS) { m.Files[0].Path = "../model.onnx" },
			braid.InvalidArgument, "files[0].path"},
		{"name leads out", func(m *Manifest, _ fstest.MapFS) { m.Name = "../tiny" },
			braid.InvalidArgument, "model name"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := filepath.Dir(installed(t))
			before := contents(t, root)
			manifest, files := testManifest(t), testFiles()
			manifest.MaxTokens++ // not what is installed
			test.change(&manifest, files)
			_, err := Install(root, manifest, files)
			if braid.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v\nwant %s: … %s", err, test.code, test.want)
			}
			if !maps.Equal(before, contents(t, root)) {
				t.Error("the root has changed")
			}
		})
	}
}

func TestListShowsDamagedFoldersBesideGoodOnes(t *testing.T) {
	root := filepath.Dir(installed(t))
	for _, dir := range []string{"empty", "renamed", ".install-1"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	manifest := contents(t, root)["tiny/manifest.yaml"]
	for path, text := range map[string]string{"renamed/manifest.yaml": manifest, "a-file": "x"} {
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, model := range list {
		names = append(names, model.Name)
	}
	if want := []string{"empty", "renamed", "tiny"}; !slices.Equal(names, want) {
		t.Fatalf("listed %q, want %q", names, want)
	}
	if err := list[0].Err; braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("empty folder: %v", err)
	}
	if err := list[1].Err; braid.CodeOf(err) != braid.Corrupt || !strings.Contains(err.Error(), `called "tiny"`) {
		t.Errorf("renamed folder: %v", err)
	}
	if list[2].Err != nil || list[2].Manifest.Digest() != testManifest(t).Digest() {
		t.Errorf("good folder: %+v", list[2])
	}
	if _, err := Find(root, "renamed"); braid.CodeOf(err) != braid.Corrupt {
		t.Errorf("find renamed folder: %v", err)
	}
}

func TestFind(t *testing.T) {
	root := filepath.Dir(installed(t))
	if _, err := Find(root, "tiny"); err != nil {
		t.Error(err)
	}
	tests := []struct {
		root, name string
		code       braid.Code
		want       string
	}{
		{root, "huge", braid.NotFound, "which holds tiny"},
		{filepath.Join(root, "none"), "tiny", braid.NotFound, "holds no models: run `make setup`"},
		{root, "../tiny", braid.InvalidArgument, `model name "../tiny"`},
		{root, "", braid.InvalidArgument, `model name ""`},
	}
	for _, test := range tests {
		_, err := Find(test.root, test.name)
		if braid.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
			t.Errorf("find %q: got %v\nwant %s: … %s", test.name, err, test.code, test.want)
		}
	}
}

// The models that set-up installed are the catalogue's.
func TestInstalledCatalogue(t *testing.T) {
	const root = "../.local/models"
	if _, err := os.Stat(root); err != nil {
		t.Skip("skipped: no models: run `make setup`")
	}
	catalogue, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range catalogue {
		model, err := Find(root, want.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		if model.Digest() != want.Digest() {
			t.Errorf("%s on disk is another model than in the catalogue", want.Name)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, damage := range []struct {
		name string
		do   func(dir string) error
	}{
		{"whole", func(string) error { return nil }},
		{"without manifest", func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.yaml")) }},
		{"truncated", func(dir string) error { return os.Truncate(filepath.Join(dir, "model.onnx"), 1) }},
	} {
		t.Run(damage.name, func(t *testing.T) {
			dir := installed(t)
			root := filepath.Dir(dir)
			other := testManifest(t)
			other.Name = "other"
			if _, err := Install(root, other, testFiles()); err != nil {
				t.Fatal(err)
			}
			if err := damage.do(dir); err != nil {
				t.Fatal(err)
			}
			if err := Remove(root, "tiny"); err != nil {
				t.Fatal(err)
			}
			entries, err := os.ReadDir(root)
			if err != nil || len(entries) != 1 || entries[0].Name() != "other" {
				t.Errorf("left %v, %v", entries, err)
			}
			if _, err := Find(root, "other"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestRemoveRefuses(t *testing.T) {
	root := filepath.Dir(installed(t))
	for _, test := range []struct {
		root, name string
		code       braid.Code
		want       string
	}{
		{root, "absent", braid.NotFound, "which holds tiny"},
		{root, "../tiny", braid.InvalidArgument, "letters, digits"},
		{root, ".", braid.InvalidArgument, "letters, digits"},
		{filepath.Join(root, "none"), "tiny", braid.NotFound, "holds no models"},
	} {
		err := Remove(test.root, test.name)
		if braid.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.want) {
			t.Errorf("remove %q: got %v, want %s: … %s", test.name, err, test.code, test.want)
		}
	}
	if _, err := Find(root, "tiny"); err != nil {
		t.Error(err)
	}
}
