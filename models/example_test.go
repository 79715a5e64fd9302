package models_test

import (
	"fmt"
	"os"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/models"
)

func ExampleCatalogue() {
	catalogue, err := models.Catalogue()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range catalogue {
		fmt.Printf("%-22s %-13s %-10s %2d MB\n", m.Name, m.Kind, m.Licence, m.Size()>>20)
	}
	// Output:
	// bge-small-en-v1.5      dense         MIT        33 MB
	// splade-tiny            sparse        Apache-2.0 21 MB
	// ms-marco-minilm-l12-v2 cross-encoder Apache-2.0 33 MB
}

func ExampleParseManifest() {
	_, err := models.ParseManifest([]byte("name: mine\nkind: dense\npoolign: cls\n"))
	fmt.Println(err)
	// Output: manifest cannot be read: yaml: construct errors: line 3: field poolign not found in type models.Manifest
}

func ExampleFind() {
	root, err := os.MkdirTemp("", "models")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	_, err = models.Find(root, "splade-tiny")
	fmt.Println(braid.CodeOf(err))
	// Output: not_found
}
