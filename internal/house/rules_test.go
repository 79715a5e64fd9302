package house

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rules are all of them, each with the fault it must find in the module that
// TestRulesFindFaults makes, as file and part of the message.
var rules = []struct {
	name  string
	check func(*module) []string
}{
	{"dependencies point one way", dependencies},
	{"libraries stay in the package that owns them", libraryOwners},
	{"every package is described in its doc.go", packageComments},
	{"every package is in ARCHITECTURE.md", architecture},
	{"names say what is inside", names},
	{"files are short", fileLengths},
	{"no init functions", initFunctions},
	{"no mutable package variables", mutableVariables},
	{"the environment is read in cmd only", environment},
	{"exported signatures hold no third-party types", exportedTypes},
}

func TestRepositoryKeepsTheRules(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			for _, fault := range rule.check(m) {
				t.Error(fault)
			}
		})
	}
}

// Each rule finds exactly the faults it should in a module full of them.
func TestRulesFindFaults(t *testing.T) {
	m := load(t, write(t, broken()))
	want := map[string][]string{
		"dependencies point one way": {
			"root package imports example.test/braid/fusion",
			"root package imports example.test/lib",
			"fusion imports index",
			"fusion imports example.test/lib in a test",
			"index/store imports rerank in a test",
			"models imports inference",
			"search imports index/store: packages below index are private",
			"stray is no layer of the architecture",
		},
		"libraries stay in the package that owns them": {
			"search imports github.com/gin-gonic/gin: only internal/httpapi may",
			"search imports github.com/getkin/kin-openapi: only internal/httpapi may",
			"search imports github.com/getkin/kin-openapi: only tests may",
		},
		"every package is described in its doc.go": {
			"fusion/fusion.go:1: package comment",
			"rerank has no doc.go",
			"index/doc.go has no package comment",
			"models/doc.go: package comment does not begin with \"Package models \"",
		},
		"every package is in ARCHITECTURE.md": {
			"index/store is not named",
			"stray is not named",
		},
		"names say what is inside": {
			"search/query_utils.go:",
			"stray/helper:",
		},
		"files are short": {
			"search/long.go has 601 lines",
		},
		"no init functions": {
			"search/state.go:8:",
		},
		"no mutable package variables": {
			"search/state.go:9: assigns to package variable count",
			"search/state.go:13: assigns to package variable table",
			"search/state.go:14: assigns to package variable current",
			"search/state.go:21: package variable lock",
		},
		"the environment is read in cmd only": {
			"search/state.go:15: os.Getenv",
			"search/state.go:16: os.LookupEnv",
		},
		"exported signatures hold no third-party types": {
			"search/api.go:5: type Handle",
			"search/api.go:7: type Options",
			"search/api.go:12: type Wrapped",
			"search/api.go:16: type Sink",
			"search/api.go:20: func Open",
			"search/api.go:22: func (Options) Each",
			"search/api.go:24: var Default",
		},
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			got := rule.check(m)
			for _, fault := range want[rule.name] {
				if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, fault) }) {
					t.Errorf("does not find %q", fault)
				}
			}
			if len(got) != len(want[rule.name]) {
				t.Errorf("finds %d faults, want %d:\n%s", len(got), len(want[rule.name]), strings.Join(got, "\n"))
			}
		})
	}
}

// broken is a module that breaks every rule.
func broken() map[string]string {
	return map[string]string{
		"go.mod": `module example.test/braid

go 1.26

require (
	example.test/lib v0.0.0
	github.com/getkin/kin-openapi v0.0.0
	github.com/gin-gonic/gin v0.0.0
)

replace example.test/lib => ./.lib

replace github.com/getkin/kin-openapi => ./.kin

replace github.com/gin-gonic/gin => ./.gin
`,
		".lib/go.mod":     "module example.test/lib\n\ngo 1.26\n",
		".lib/lib.go":     "package lib\n\ntype DB struct{}\n\nfunc New() DB { return DB{} }\n",
		".kin/go.mod":     "module github.com/getkin/kin-openapi\n\ngo 1.26\n",
		".kin/kin.go":     "package openapi\n\ntype T struct{}\n",
		".gin/go.mod":     "module github.com/gin-gonic/gin\n\ngo 1.26\n",
		".gin/gin.go":     "package gin\n\ntype Engine struct{}\n",
		"ARCHITECTURE.md": "`braid`, `fusion/`, `rerank`, `index`, (models), cmd/server, inference, search, not indexindex/store nor strays\n",

		"doc.go":                "// Package braid is broken.\npackage braid\n\nimport (\n\t_ \"example.test/braid/fusion\"\n\t_ \"example.test/lib\"\n)\n",
		"fusion/doc.go":         "// Package fusion has two comments.\npackage fusion\n",
		"fusion/fusion.go":      "// Package fusion has this one too.\npackage fusion\n\nimport _ \"example.test/braid/index\"\n",
		"fusion/x_test.go":      "package fusion\n\nimport _ \"example.test/lib\"\n",
		"rerank/rerank.go":      "package rerank\n",
		"index/doc.go":          "package index\n",
		"index/store/doc.go":    "// Package store is in order, its test is not.\npackage store\n\nimport _ \"example.test/lib\"\n",
		"index/store/x_test.go": "package store_test\n\nimport _ \"example.test/braid/rerank\"\n",
		"models/doc.go":         "// Model files.\npackage models\n\nimport _ \"example.test/braid/inference\"\n",
		"inference/doc.go":      "// Package inference is in order.\npackage inference\n",
		"stray/doc.go":          "// Package stray has no place.\npackage stray\n",
		"stray/helper/x.md":     "A folder that says nothing.\n",
		"search/doc.go":         "// Package search breaks most rules.\npackage search\n\nimport (\n\t_ \"example.test/braid/index\"\n\t_ \"example.test/braid/index/store\"\n\t_ \"github.com/getkin/kin-openapi\"\n\t_ \"github.com/gin-gonic/gin\"\n)\n",
		"search/long.go":        "package search\n" + strings.Repeat("\n", 600),
		"search/generated.go":   "// Code generated by hand. DO NOT EDIT.\n\npackage search\n" + strings.Repeat("\n", 700),
		"search/query_utils.go": "package search\n",
		"search/state.go": `package search

import (
	"os"
	"sync"
)

func init() {
	count++
}

func mutate() {
	table["a"] = 1
	current.name = "x"
	_ = os.Getenv("A")
	_, _ = os.LookupEnv("B")
	count := 1 // another count
	count++
}

var lock sync.Mutex
var count int
var table = map[string]int{}
var current struct{ name string }
var constant = []string{"a"}
`,
		"search/api.go": `package search

import "example.test/lib"

type Handle = lib.DB

type Options struct {
	DB  *lib.DB
	own lib.DB
}

type Wrapped struct {
	lib.DB
}

type Sink interface {
	Put(map[string][]lib.DB)
}

func Open(string) (func() lib.DB, error) { return nil, nil }

func (Options) Each(yield func(lib.DB) bool) {}

var Default = lib.New()

type hidden struct{ DB lib.DB }

func (hidden) Get() lib.DB { return lib.DB{} }

func Inside() { _ = lib.New() }
`,
		"cmd/server/doc.go": "// Braid is a command: its comment begins as it likes.\npackage main\n\nimport \"os\"\n\nfunc main() { _ = os.Getenv(\"A\") }\n",
	}
}
