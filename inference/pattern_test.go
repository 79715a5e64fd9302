package inference

import (
	"context"
	"testing"
)

// TestScoresDoNotDependOnWhatRanBefore: the first run of a length plans the memory of
// later ones, and runs of other lengths on other slots take memory in between. No
// bit of a score may change by that.
func TestScoresDoNotDependOnWhatRanBefore(t *testing.T) {
	p := openPair(t, openRuntime(t, Options{Slots: 3}))
	const query = "how do I reset the pump?"
	list := make([]Passage, 24)
	for i := range list {
		list[i].Text = words(3 + i%12*11) // each length twice
	}
	alone := make([]float32, len(list))
	for i := range list {
		scores, _, err := p.Score(context.Background(), PairRequest{Query: query, Passages: list[i : i+1]})
		if err != nil {
			t.Fatal(err)
		}
		alone[i] = scores[0].Logit
	}
	for round := range 4 {
		scores, _, err := p.Score(context.Background(), PairRequest{Query: query, Passages: list})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			if s.Logit != alone[i] {
				t.Errorf("round %d, passage %d: logit %v, alone %v", round, i, s.Logit, alone[i])
			}
		}
	}
}
