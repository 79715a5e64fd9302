package house

import (
	"fmt"
	"go/ast"
	"go/token"
)

// exportedTypes finds third-party packages in what a package exports: whoever
// uses it would depend on them, too.
func exportedTypes(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		report := func(pos token.Pos, what string, nodes ...ast.Node) {
			for _, node := range nodes {
				for _, path := range p.importsIn(node) {
					if m.thirdParty(path) {
						faults = append(faults, fmt.Sprintf("%s: %s mentions a type of %s: say it in types of our own", m.at(pos), what, path))
						return
					}
				}
			}
		}
		for _, file := range p.files {
			for _, decl := range file.Decls {
				switch decl := decl.(type) {
				case *ast.FuncDecl:
					if receiver, visible := receiverOf(decl); visible && decl.Name.IsExported() {
						report(decl.Pos(), "func "+receiver+decl.Name.Name, decl.Type)
					}
				case *ast.GenDecl:
					for _, spec := range decl.Specs {
						reportSpec(spec, report)
					}
				}
			}
		}
	}
	return faults
}

// reportSpec reports what a type, variable or constant shows to importers.
func reportSpec(spec ast.Spec, report func(token.Pos, string, ...ast.Node)) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			report(spec.Pos(), "type "+spec.Name.Name, visibleParts(spec)...)
		}
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			switch {
			case !name.IsExported():
			case spec.Type != nil:
				report(name.Pos(), "var "+name.Name, spec.Type)
			case i < len(spec.Values): // the type is that of the value
				report(name.Pos(), "var "+name.Name, spec.Values[i])
			}
		}
	}
}

// visibleParts are the parts of a type that importers see: of a struct its
// exported and embedded fields, of any other type all of it.
func visibleParts(spec *ast.TypeSpec) []ast.Node {
	var parts []ast.Node
	if spec.TypeParams != nil {
		parts = append(parts, spec.TypeParams)
	}
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return append(parts, spec.Type)
	}
	for _, field := range structure.Fields.List {
		visible := len(field.Names) == 0
		for _, name := range field.Names {
			visible = visible || name.IsExported()
		}
		if visible {
			parts = append(parts, field.Type)
		}
	}
	return parts
}

// receiverOf is how a function's receiver is shown, and whether importers see
// the function as far as the receiver is concerned.
func receiverOf(fn *ast.FuncDecl) (string, bool) {
	if fn.Recv == nil {
		return "", true
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return "(" + x.Name + ") ", x.IsExported()
		default:
			return "", true
		}
	}
}

// importsIn returns the packages that node mentions names of.
func (p *pkg) importsIn(node ast.Node) []string {
	var paths []string
	if node == nil {
		return nil
	}
	ast.Inspect(node, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if path := p.importedFrom(sel.X); path != "" {
				paths = append(paths, path)
			}
		}
		return true
	})
	return paths
}
