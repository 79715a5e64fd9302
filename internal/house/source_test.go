package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const maxLines = 600

func packageComments(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		name := "the root package"
		if p.rel != "" {
			name = p.rel
		}
		found := false
		for _, file := range p.files {
			place := m.at(file.Package)
			path, _, _ := strings.Cut(place, ":")
			switch isDoc := filepath.Base(path) == "doc.go"; {
			case !isDoc && file.Doc != nil:
				faults = append(faults, fmt.Sprintf("%s: package comment: it belongs into doc.go", m.at(file.Doc.Pos())))
			case isDoc && file.Doc == nil:
				faults = append(faults, fmt.Sprintf("%s has no package comment", path))
			case isDoc && p.Name != "main" && !strings.HasPrefix(file.Doc.Text(), "Package "+p.Name+" "):
				faults = append(faults, fmt.Sprintf("%s: package comment does not begin with %q", path, "Package "+p.Name+" "))
			}
			found = found || filepath.Base(path) == "doc.go"
		}
		if !found {
			faults = append(faults, fmt.Sprintf("%s has no doc.go: it states job, invariants and what the package does not do", name))
		}
	}
	return faults
}

func architecture(m *module) []string {
	text, err := os.ReadFile(filepath.Join(m.dir, "ARCHITECTURE.md"))
	if err != nil {
		return []string{err.Error()}
	}
	var faults []string
	for _, p := range m.packages {
		name := p.rel
		if name == "" {
			name = p.Name
		}
		named := regexp.MustCompile(`(^|[^\w/.-])` + regexp.QuoteMeta(name) + `/?($|[^\w/-])`)
		if !named.Match(text) {
			faults = append(faults, fmt.Sprintf("%s is not named in ARCHITECTURE.md: say there what it owns", name))
		}
	}
	return faults
}

// emptyNames say nothing about what is inside.
var emptyNames = []string{"util", "utils", "common", "commons", "helper", "helpers", "manager", "managers", "misc"}

func names(m *module) []string {
	var faults []string
	separators := func(r rune) bool { return r == '_' || r == '-' || r == '.' }
	err := m.walk(func(rel string, entry fs.DirEntry) {
		for _, word := range strings.FieldsFunc(strings.ToLower(entry.Name()), separators) {
			if slices.Contains(emptyNames, word) {
				faults = append(faults, fmt.Sprintf("%s: the name %q does not say what is inside", rel, word))
			}
		}
	})
	return withError(faults, err)
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func fileLengths(m *module) []string {
	var faults []string
	var unreadable error
	err := m.walk(func(rel string, entry fs.DirEntry) {
		if entry.IsDir() || filepath.Ext(rel) != ".go" {
			return
		}
		source, err := os.ReadFile(filepath.Join(m.dir, rel))
		if err != nil {
			unreadable = err
			return
		}
		if lines := bytes.Count(source, []byte("\n")); lines > maxLines && !generated.Match(source) {
			faults = append(faults, fmt.Sprintf("%s has %d lines, at most %d: it usually holds two ideas", rel, lines, maxLines))
		}
	})
	return withError(withError(faults, err), unreadable)
}

func withError(faults []string, err error) []string {
	if err != nil {
		return append(faults, err.Error())
	}
	return faults
}

func initFunctions(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		for fn := range p.functions {
			if fn.Recv == nil && fn.Name.Name == "init" {
				faults = append(faults, fmt.Sprintf("%s: func init: nothing happens on import, let the caller make it", m.at(fn.Pos())))
			}
		}
	}
	return faults
}

// functions yields the functions and methods of the package.
func (p *pkg) functions(yield func(*ast.FuncDecl) bool) {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && !yield(fn) {
				return
			}
		}
	}
}

// mutableVariables finds package variables that a function assigns to, whole
// or in part, and those that are locks or atomics, which exist to be changed.
func mutableVariables(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		for fn := range p.functions {
			for _, target := range assigned(fn) {
				if v := p.packageVariable(target); v != "" {
					faults = append(faults, fmt.Sprintf("%s: assigns to package variable %s: keep state in a value that the caller makes", m.at(target.Pos()), v))
				}
			}
		}
		for spec := range p.variables {
			if from := p.importsIn(spec.Type); slices.ContainsFunc(from, func(path string) bool { return within(path, "sync") }) {
				faults = append(faults, fmt.Sprintf("%s: package variable %s guards or is state: keep it in a value that the caller makes", m.at(spec.Pos()), spec.Names[0].Name))
			}
		}
	}
	return faults
}

// assigned returns the left sides of all assignments in a function.
func assigned(fn *ast.FuncDecl) []ast.Expr {
	var targets []ast.Expr
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				targets = append(targets, n.Lhs...)
			}
		case *ast.IncDecStmt:
			targets = append(targets, n.X)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				targets = append(targets, n.Key)
				if n.Value != nil {
					targets = append(targets, n.Value)
				}
			}
		}
		return true
	})
	return targets
}

// packageVariable is the name of the package's variable that target is, or is
// a part of, or "".
func (p *pkg) packageVariable(target ast.Expr) string {
	for {
		switch x := target.(type) {
		case *ast.SelectorExpr:
			target = x.X
		case *ast.IndexExpr:
			target = x.X
		case *ast.StarExpr:
			target = x.X
		case *ast.ParenExpr:
			target = x.X
		case *ast.Ident:
			if v, ok := p.uses[x].(*types.Var); ok && v.Parent() == p.scope {
				return v.Name()
			}
			return ""
		default:
			return ""
		}
	}
}

// variables yields the declarations of package variables.
func (p *pkg) variables(yield func(*ast.ValueSpec) bool) {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok && !yield(spec) {
					return
				}
			}
		}
	}
}

var environmentReaders = []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"}

func environment(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		if within(p.rel, "cmd") {
			continue
		}
		for _, file := range p.files {
			ast.Inspect(file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(environmentReaders, sel.Sel.Name) {
					if from := p.importedFrom(sel.X); from == "os" || from == "syscall" {
						faults = append(faults, fmt.Sprintf("%s: %s.%s: the environment is read in cmd and passed on", m.at(sel.Pos()), from, sel.Sel.Name))
					}
				}
				return true
			})
		}
	}
	return faults
}
