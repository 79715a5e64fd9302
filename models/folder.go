package models

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v4"

	"github.com/braid-search/braid"
)

// Installed is one model folder of a root as its manifest describes it.
type Installed struct {
	// Name is the folder's name and, unless Err is set, the model's.
	Name string
	// Manifest is zero if Err is set.
	Manifest Manifest
	// Err says why the manifest cannot be used, or is nil.
	Err error
}

// List returns the model folders in root by ascending name. It reads manifests
// and no other file; Find verifies. A damaged folder is listed with its error
// and hides no other. A root that is not there holds no models. Hidden folders
// are skipped: they are installations under way.
func List(root string) ([]Installed, error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, braid.Errorf(braid.Internal, "list models in %q: %w", root, err)
	}
	var found []Installed
	for _, entry := range entries {
		dir := filepath.Join(root, entry.Name())
		if info, err := os.Stat(dir); err != nil || !info.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		manifest, err := readManifest(dir)
		if err == nil {
			err = checkFolderName(dir, manifest)
		}
		if err != nil {
			manifest = Manifest{}
		}
		found = append(found, Installed{Name: entry.Name(), Manifest: manifest, Err: err})
	}
	return found, nil
}

// Find opens and verifies the model called name in root. An unknown name is
// braid.NotFound, and the error lists the names there are.
func Find(root, name string) (*Model, error) {
	if err := ValidateName(name); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, name)
	model, err := Open(dir)
	if braid.CodeOf(err) == braid.NotFound {
		return nil, notFound(root, name)
	}
	if err != nil {
		return nil, err
	}
	if err := checkFolderName(dir, model.Manifest); err != nil {
		return nil, err
	}
	return model, nil
}

func notFound(root, name string) error {
	installed, err := List(root)
	if err != nil {
		return err
	}
	if len(installed) == 0 {
		return braid.Errorf(braid.NotFound, "no model %q in %q, which holds no models: run `make setup`", name, root)
	}
	names := make([]string, len(installed))
	for i, model := range installed {
		names[i] = model.Name
	}
	return braid.Errorf(braid.NotFound, "no model %q in %q, which holds %s", name, root, strings.Join(names, ", "))
}

// Remove deletes the model called name from root, damaged or whole: the folder
// disappears in one step. An unknown name is braid.NotFound, and the error lists
// the names there are. A process that has the model loaded keeps it.
func Remove(root, name string) error {
	if err := ValidateName(name); err != nil {
		return err
	}
	doomed, err := os.MkdirTemp(root, ".remove-")
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(root, name)
	}
	if err != nil {
		return removeError(name, err)
	}
	defer os.RemoveAll(doomed)
	err = os.Rename(filepath.Join(root, name), filepath.Join(doomed, name))
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(root, name)
	}
	if err == nil {
		err = syncFolder(root)
	}
	if err == nil {
		err = os.RemoveAll(doomed)
	}
	if err != nil {
		return removeError(name, err)
	}
	return nil
}

func removeError(name string, err error) error {
	return braid.Errorf(braid.Internal, "remove model %q: %w: check who owns its folder", name, err)
}

func checkFolderName(dir string, m Manifest) error {
	if folder := filepath.Base(dir); folder != m.Name {
		return braid.Errorf(braid.Corrupt, "model in %q is called %q by its manifest: rename the folder or the model", dir, m.Name)
	}
	return nil
}

// Install puts a model into root: it copies the manifest's files from source,
// verifies them on the way, and makes the folder appear under its name when it
// is whole and on disk. A model that is there already and passes Open with this
// very manifest is left as it is; another one is replaced, and only for the
// instant between two renames does the name have no folder.
//
// Files that are not what the manifest says are braid.Corrupt, a full disk is
// braid.StorageFull; after an error root is as it was. Two installations of one
// name at a time are the caller's to prevent.
func Install(root string, m Manifest, source fs.FS) (*Model, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	dir := filepath.Join(root, m.Name)
	text, err := yaml.Dump(m)
	if err != nil {
		return nil, braid.Errorf(braid.Internal, "install model %q: write its manifest: %w", m.Name, err)
	}
	if upToDate(dir, text) {
		return &Model{Manifest: m, Dir: dir}, nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, installError(m.Name, err)
	}
	staging, err := os.MkdirTemp(root, ".install-")
	if err != nil {
		return nil, installError(m.Name, err)
	}
	defer os.RemoveAll(staging)
	fresh := filepath.Join(staging, "new")
	if err := stage(fresh, m, text, source); err != nil {
		return nil, err
	}
	if err := replaceFolder(dir, fresh, filepath.Join(staging, "old")); err != nil {
		return nil, installError(m.Name, err)
	}
	return &Model{Manifest: m, Dir: dir}, nil
}

// upToDate reports whether dir holds a whole model with this manifest.
func upToDate(dir string, text []byte) bool {
	model, err := Open(dir)
	if err != nil {
		return false
	}
	have, err := yaml.Dump(model.Manifest)
	return err == nil && string(have) == string(text)
}

// stage fills the new folder dir with the files of m and its manifest.
func stage(dir string, m Manifest, text []byte, source fs.FS) error {
	for _, file := range m.Files {
		target := filepath.Join(dir, filepath.FromSlash(file.Path))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return installError(m.Name, err)
		}
		err := writeFile(target, func(w *os.File) error { return readVerified(source, file, w) })
		if err != nil {
			return sourceError(m.Name, err)
		}
	}
	err := writeFile(filepath.Join(dir, ManifestFile), func(w *os.File) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return installError(m.Name, err)
	}
	return nil
}

// writeFile creates a file, fills it, and sees it onto the disk.
func writeFile(path string, fill func(*os.File) error) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = fill(file)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// replaceFolder moves fresh to dir, and what was there to old. If it fails, dir
// is as it was.
func replaceFolder(dir, fresh, old string) error {
	err := os.Rename(dir, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	replaced := err == nil
	if err := os.Rename(fresh, dir); err != nil {
		if replaced {
			err = errors.Join(err, os.Rename(old, dir))
		}
		return err
	}
	return syncFolder(filepath.Dir(dir))
}

// syncFolder makes renames in dir last through a power failure.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

func installError(name string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return braid.Errorf(braid.StorageFull, "install model %q: %w: free some space and try again", name, err)
	}
	return braid.Errorf(braid.Internal, "install model %q: %w", name, err)
}

// sourceError is installError for a step that also reads the source, whose
// faults are not this program's.
func sourceError(name string, err error) error {
	failed := installError(name, err)
	if braid.CodeOf(failed) == braid.StorageFull {
		return failed
	}
	return braid.Errorf(braid.Corrupt, "install model %q: source: %w", name, err)
}
