package inference_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"github.com/braid-search/braid/inference"
	"github.com/braid-search/braid/models"
)

// open starts a runtime with what set-up installed.
func open() *inference.Runtime {
	library, err := inference.FindLibrary("../.local/lib")
	if err != nil {
		log.Fatal(err)
	}
	runtime, err := inference.Open(inference.Options{Library: library})
	if err != nil {
		log.Fatal(err)
	}
	return runtime
}

func model(name string) *models.Model {
	m, err := models.Open(filepath.Join("../.local/models", name))
	if err != nil {
		log.Fatal(err)
	}
	return m
}

func ExampleDense_Embed() {
	runtime := open()
	defer runtime.Close()
	dense, err := runtime.NewDense(model("bge-small-en-v1.5"))
	if err != nil {
		log.Fatal(err)
	}
	embeddings, _, err := dense.Embed(context.Background(), inference.Request{
		Texts: []string{"replace the pump seal", "the museum is closed on Mondays"},
		Role:  inference.RolePassage,
		Lane:  inference.LaneIngest,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range embeddings {
		fmt.Println(len(e.Vector), "dimensions of", e.Tokens, "tokens")
	}
	// Output:
	// 384 dimensions of 6 tokens
	// 384 dimensions of 8 tokens
}

func ExampleSparse_Expand() {
	runtime := open()
	defer runtime.Close()
	sparse, err := runtime.NewSparse(model("splade-tiny"))
	if err != nil {
		log.Fatal(err)
	}
	expansions, _, err := sparse.Expand(context.Background(), inference.Request{Texts: []string{"a big fat potato"}})
	if err != nil {
		log.Fatal(err)
	}
	vector := expansions[0].Vector
	for i, weight := range vector.Values {
		if weight > 2 {
			fmt.Printf("%s %.2f\n", sparse.Token(vector.Indices[i]), weight)
		}
	}
	// Output:
	// fat 2.63
	// potato 2.62
}

func ExamplePair_Score() {
	runtime := open()
	defer runtime.Close()
	pair, err := runtime.NewPair(model("ms-marco-minilm-l12-v2"))
	if err != nil {
		log.Fatal(err)
	}
	scores, _, err := pair.Score(context.Background(), inference.PairRequest{Query: "what is the capital of france", Passages: []inference.Passage{
		{Text: "The capital of France is Paris."},
		{Text: "I had a turkey sandwich."},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scores {
		fmt.Println("relevant:", s.Logit > 0)
	}
	// Output:
	// relevant: true
	// relevant: false
}
