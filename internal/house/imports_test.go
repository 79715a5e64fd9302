package house

import (
	"fmt"
	"slices"
	"strings"
)

// layer is a part of the architecture and what it may import of the others.
// Packages below a layer's own are private to it.
type layer struct {
	path       string   // of the package; those below it belong to the layer
	imports    []string // layers, besides the root package and itself
	thirdParty bool     // whether it may use libraries at all
}

// layers is the architecture from the bottom up. Packages under internal/ that
// are not named here are small tools: see toolbox.
var layers = []layer{
	{path: "models", thirdParty: true, imports: []string{toolbox}},
	{path: "inference", thirdParty: true, imports: []string{"models"}},
	{path: "index", thirdParty: true},
	{path: "fusion"},
	{path: "rerank"},
	{path: "search", thirdParty: true, imports: []string{"models", "inference", "index", "fusion", "rerank", toolbox}},
	{path: "internal/modelset", imports: []string{"models", "inference", "index", "search"}},
	{path: "internal/selfbench", imports: []string{"inference", "index", "search", "internal/modelset"}},
	{path: "internal/metrics", thirdParty: true, imports: []string{"inference", "index", "search"}},
	{path: "internal/querylog", imports: []string{"search"}},
	{path: "internal/httpapi", thirdParty: true, imports: []string{"models", "inference", "index", "rerank", "search", "internal/metrics", "internal/modelset", "internal/querylog", toolbox}},
	{path: "internal/eval", imports: []string{toolbox}},
	{path: "internal/tune", imports: []string{"inference", "index", "fusion", "search", "internal/eval", toolbox}},
	{path: "internal/house"},
	{path: "internal/testdisk"},
	{path: "internal/testvec"},
	{path: "internal/testenv", thirdParty: true, imports: []string{everything}},
	{path: toolbox, thirdParty: true, imports: []string{toolbox}},
	{path: "cmd", thirdParty: true, imports: []string{everything}},
	{path: "bench", thirdParty: true, imports: []string{everything}},
}

const (
	// toolbox is what all other packages under internal/ belong to. They import
	// each other and the root package.
	toolbox    = "internal"
	everything = "*"
)

// apart are the layers that do not know each other, in their tests neither.
var apart = []string{"index", "fusion", "rerank"}

// libraries are those that one package owns, with its path.
var libraries = map[string]string{
	"github.com/gin-gonic/gin":            "internal/httpapi",
	"github.com/getkin/kin-openapi":       "internal/httpapi",
	"github.com/prometheus/client_golang": "internal/metrics",
	"github.com/yalue/onnxruntime_go":     "inference",
	"github.com/daulet/tokenizers":        "inference",
	"github.com/RoaringBitmap/roaring":    "index/filter",
	"github.com/yuin/goldmark":            "search/split",
	"golang.org/x/net/html":               "search/split",
	"github.com/rivo/uniseg":              "search/split",
}

// testOnly are libraries that stay out of the binary.
var testOnly = []string{"github.com/getkin/kin-openapi"}

// testLibraries may be imported by every test.
var testLibraries = []string{"pgregory.net/rapid", "go.uber.org/goleak"}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// layerOf returns the most specific layer that holds the package.
func layerOf(rel string) (layer, bool) {
	var best layer
	for _, l := range layers {
		if within(rel, l.path) && len(l.path) > len(best.path) {
			best = l
		}
	}
	return best, best.path != ""
}

func dependencies(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		if p.rel == "" {
			for _, path := range p.Imports {
				if m.own(path) || m.thirdParty(path) {
					faults = append(faults, fmt.Sprintf("the root package imports %s: it is vocabulary and imports the standard library only", path))
				}
			}
			continue
		}
		l, ok := layerOf(p.rel)
		if !ok {
			faults = append(faults, fmt.Sprintf("%s is no layer of the architecture: give it a place there and in layers", p.rel))
			continue
		}
		for _, path := range p.Imports {
			if why := l.refuses(m, path); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s: %s", p.rel, m.rel(path), why))
			}
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			if why := l.refusesInTest(m, path); why != "" {
				faults = append(faults, fmt.Sprintf("%s imports %s in a test: %s", p.rel, m.rel(path), why))
			}
		}
	}
	return faults
}

// refuses says why code of the layer may not import path, or "".
func (l layer) refuses(m *module, path string) string {
	switch {
	case m.thirdParty(path):
		if !l.thirdParty {
			return "the layer uses the standard library only"
		}
		return ""
	case !m.own(path) || path == m.path || slices.Contains(l.imports, everything):
		return ""
	}
	other, _ := layerOf(m.rel(path))
	switch {
	case other.path == l.path:
		return ""
	case slices.Contains(l.imports, other.path):
		if other.path == toolbox || other.path == m.rel(path) {
			return ""
		}
		return fmt.Sprintf("packages below %s are private to it", other.path)
	}
	return fmt.Sprintf("%s may import, besides the root package, only %q: data flows from cmd to the root", l.path, l.imports)
}

// refusesInTest is refuses for tests, which may use more: only the layers that
// stand apart and those without libraries are held to it.
func (l layer) refusesInTest(m *module, path string) string {
	if m.thirdParty(path) {
		if !l.thirdParty && !slices.ContainsFunc(testLibraries, func(lib string) bool { return within(path, lib) }) {
			return "the layer uses the standard library only"
		}
		return ""
	}
	other, _ := layerOf(m.rel(path))
	if m.own(path) && other.path != l.path && slices.Contains(apart, l.path) && slices.Contains(apart, other.path) {
		return "these layers do not know each other"
	}
	return ""
}

func libraryOwners(m *module) []string {
	var faults []string
	for _, p := range m.packages {
		for _, path := range p.Imports {
			if slices.ContainsFunc(testOnly, func(lib string) bool { return within(path, lib) }) {
				faults = append(faults, fmt.Sprintf("%s imports %s: only tests may", p.rel, path))
			}
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for lib, owner := range libraries {
				if within(path, lib) && p.rel != owner {
					faults = append(faults, fmt.Sprintf("%s imports %s: only %s may", p.rel, path, owner))
				}
			}
		}
	}
	return faults
}
