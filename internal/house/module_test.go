package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is a Go module with the packages of its own, parsed.
type module struct {
	dir      string
	path     string
	fset     *token.FileSet
	packages []*pkg
	known    map[string]*pkg // every package that is imported, too, by path
}

// pkg is a package as go list describes it; only those of the module have
// syntax.
type pkg struct {
	ImportPath, Name, Dir              string
	DepOnly                            bool
	GoFiles, CgoFiles                  []string
	Imports, TestImports, XTestImports []string
	Module                             *struct{ Path, Dir string }

	rel   string // path within the module, "" for its root
	files []*ast.File
	uses  map[*ast.Ident]types.Object
	scope *types.Scope
}

// load reads the module in dir.
func load(t *testing.T, dir string) *module {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,Name,Dir,DepOnly,GoFiles,CgoFiles,Imports,TestImports,XTestImports,Module", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list in %s: %v\n%s", dir, err, stderr.Bytes())
	}
	m := &module{dir: dir, fset: token.NewFileSet(), known: map[string]*pkg{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		m.known[p.ImportPath] = p
		if !p.DepOnly {
			m.path = p.Module.Path
			p.rel = strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
			m.packages = append(m.packages, p)
		}
	}
	for _, p := range m.packages {
		m.parse(t, p)
	}
	if len(m.packages) == 0 {
		t.Fatalf("go list in %s found no packages", dir)
	}
	return m
}

// parse reads the package's files, without those of tests, and resolves names
// within it. Imported packages stand for themselves without content: which
// package a name comes from is all that the rules ask, and it costs no build.
func (m *module) parse(t *testing.T, p *pkg) {
	t.Helper()
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(m.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, file)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: m, FakeImportC: true, Error: func(error) {}}
	checked, _ := config.Check(p.ImportPath, m.fset, p.files, &info) // what imports lack is no fault here
	p.uses, p.scope = info.Uses, checked.Scope()
}

// Import implements types.Importer with packages that have a name and nothing
// else.
func (m *module) Import(path string) (*types.Package, error) {
	p, ok := m.known[path]
	if !ok {
		return nil, fmt.Errorf("package %q is not known to go list", path)
	}
	imported := types.NewPackage(path, p.Name)
	imported.MarkComplete()
	return imported, nil
}

// thirdParty reports whether an import path is neither the module's own nor of
// the standard library, whose paths do not begin with a host name.
func (m *module) thirdParty(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return strings.Contains(host, ".") && !m.own(path)
}

func (m *module) own(path string) bool {
	return path == m.path || strings.HasPrefix(path, m.path+"/")
}

// rel is an import path of the module as the rules write it.
func (m *module) rel(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, m.path), "/")
}

// at is the place of pos as file:line within the module.
func (m *module) at(pos token.Pos) string {
	p := m.fset.Position(pos)
	return fmt.Sprintf("%s:%d", m.relFile(p.Filename), p.Line)
}

func (m *module) relFile(path string) string {
	rel, err := filepath.Rel(m.dir, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// walk calls visit with every folder and file of the source tree, by path
// within the module. Hidden folders, test data and build outputs are left out.
func (m *module) walk(visit func(rel string, entry fs.DirEntry)) error {
	return filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != m.dir && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "node_modules") {
			return fs.SkipDir
		}
		visit(m.relFile(path), entry)
		return nil
	})
}

// importedFrom is the path of the package that a selector's left side names, or
// "" where it names something else.
func (p *pkg) importedFrom(x ast.Expr) string {
	if ident, ok := x.(*ast.Ident); ok {
		if name, ok := p.uses[ident].(*types.PkgName); ok {
			return name.Imported().Path()
		}
	}
	return ""
}

// write makes a module of files in a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
