package models

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/braid-search/braid"
)

// fix ends every error about files that are not what they should be.
const fix = "run `make setup`, or add the model again"

// Model is a model on disk whose files were verified when it was opened. It is
// read-only and safe for concurrent use.
type Model struct {
	Manifest
	// Dir is the model's folder.
	Dir string
}

// Open reads the manifest of the model in dir and verifies every file. It reads
// all of them: about 0.1 s for 100 MB. A folder that is not there is
// braid.NotFound; a missing, altered or half-written file is braid.Corrupt, and
// the error names each such file with what was expected and found.
func Open(dir string) (*Model, error) {
	manifest, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := verify(dir, manifest); err != nil {
		return nil, err
	}
	return &Model{Manifest: manifest, Dir: dir}, nil
}

// Path returns where a file of the model is, given its path in the manifest.
func (m *Model) Path(file string) string {
	return filepath.Join(m.Dir, filepath.FromSlash(file))
}

// GraphPath returns where the ONNX graph is.
func (m *Model) GraphPath() string { return m.Path(m.Graph) }

// TokenizerPath returns where the tokenizer.json is.
func (m *Model) TokenizerPath() string { return m.Path(m.Tokenizer) }

func readManifest(dir string) (Manifest, error) {
	root, err := openFolder(dir)
	if err != nil {
		return Manifest{}, err
	}
	defer root.Close()
	file, err := openRegular(root.FS(), ManifestFile)
	if err != nil {
		return Manifest{}, braid.Errorf(braid.Corrupt, "model in %q has no readable %s: %w: %s", dir, ManifestFile, err, fix)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxManifestBytes+1))
	if err != nil {
		return Manifest{}, braid.Errorf(braid.Corrupt, "model in %q: read %s: %w: %s", dir, ManifestFile, err, fix)
	}
	manifest, err := ParseManifest(data)
	if err != nil {
		return Manifest{}, braid.Errorf(braid.Corrupt, "model in %q: %w: %s", dir, err, fix)
	}
	return manifest, nil
}

// verify compares every file with the manifest.
func verify(dir string, m Manifest) error {
	root, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var f faults
	for _, file := range m.Files {
		if err := readVerified(root.FS(), file, io.Discard); err != nil {
			f.add("%s", err)
		}
	}
	if len(f) == 0 {
		return nil
	}
	return braid.Errorf(braid.Corrupt, "model %q in %q is damaged: %s: %s", m.Name, dir, strings.Join(f, "; "), fix)
}

// openFolder opens dir so that nothing outside it can be reached through it.
func openFolder(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, braid.Errorf(braid.NotFound, "no model in %q: there is no such folder: %s", dir, fix)
	}
	if err != nil {
		return nil, braid.Errorf(braid.Corrupt, "model in %q cannot be opened: %w: %s", dir, err, fix)
	}
	return root, nil
}

// openRegular opens a plain file. Others are refused before they are opened,
// since opening a pipe waits for its other end.
func openRegular(folder fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	return folder.Open(name)
}

// readVerified copies a file to w and fails unless it was the one described.
func readVerified(folder fs.FS, want File, w io.Writer) error {
	file, err := openRegular(folder, want.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing, expected %d bytes", want.Path, want.Size)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != want.Size {
		return fmt.Errorf("%s has %d bytes, expected %d", want.Path, info.Size(), want.Size)
	}
	hash := sha256.New()
	// One byte past the size shows a file that grows while it is read.
	n, err := io.Copy(io.MultiWriter(hash, w), io.LimitReader(file, want.Size+1))
	if err != nil {
		return fmt.Errorf("%s: %w", want.Path, err)
	}
	if n != want.Size {
		return fmt.Errorf("%s has %d bytes, expected %d", want.Path, n, want.Size)
	}
	if found := hex.EncodeToString(hash.Sum(nil)); found != want.SHA256 {
		return fmt.Errorf("%s has sha256 %s, expected %s", want.Path, found, want.SHA256)
	}
	return nil
}

// Describe returns the size and SHA-256 of a file, as a manifest states them. A
// missing file is braid.NotFound.
func Describe(folder fs.FS, path string) (File, error) {
	file, err := openRegular(folder, path)
	if err != nil {
		return File{}, braid.Errorf(braid.NotFound, "model file %s: %w", path, err)
	}
	defer file.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, file)
	if err != nil {
		return File{}, braid.Errorf(braid.Corrupt, "model file %s: %w", path, err)
	}
	return File{Path: path, Size: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}
