package rerank_test

import (
	"context"
	"fmt"

	"github.com/braid-search/braid/rerank"
)

// lengths prefers short passages; a real scorer is a cross-encoder.
type lengths struct{}

func (lengths) Score(_ context.Context, _ string, passages []rerank.Passage) ([]float32, error) {
	logits := make([]float32, len(passages))
	for i, p := range passages {
		logits[i] = 10 - float32(len(p.Text))
	}
	return logits, nil
}

func ExampleRerank() {
	candidates := []rerank.Candidate{
		{ID: "long", Passage: rerank.Passage{Text: "a longer passage"}},
		{ID: "short", Passage: rerank.Passage{Text: "short"}},
		{ID: "beyond the window"},
	}
	items, err := rerank.Rerank(context.Background(), lengths{}, "any query", candidates, rerank.Options{Depth: new(2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, i := range items {
		fmt.Printf("%d (was %d) %s", i.To, i.From, i.ID)
		if i.Scored {
			fmt.Printf(": logit %v, probability %.4f", i.Logit, i.Probability)
		}
		fmt.Println()
	}
	// Output:
	// 1 (was 2) short: logit 5, probability 0.9933
	// 2 (was 1) long: logit -6, probability 0.0025
	// 3 (was 3) beyond the window
}
