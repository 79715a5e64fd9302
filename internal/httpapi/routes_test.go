package httpapi

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"
)

func TestEveryRouteIsInTheDocumentAndBack(t *testing.T) {
	data, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(data)
	if err != nil {
		t.Fatal(err)
	}
	var documented, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	param := regexp.MustCompile(`:(\w+)`)
	for _, r := range New(Options{}).handler.(*gin.Engine).Routes() {
		if r.Method == "HEAD" {
			continue // HTTP defines it as GET without the body
		}
		served = append(served, r.Method+" "+param.ReplaceAllString(r.Path, "{$1}"))
	}
	slices.Sort(documented)
	slices.Sort(served)
	for _, route := range served {
		if !slices.Contains(documented, route) {
			t.Errorf("%s is not in openapi.yaml", route)
		}
	}
	for _, route := range documented {
		if !slices.Contains(served, route) {
			t.Errorf("%s is in openapi.yaml only", route)
		}
	}
}
