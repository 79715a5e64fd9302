package fusion_test

import (
	"fmt"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
)

func ExampleFuse() {
	rankings := []fusion.Ranking{
		{Branch: braid.Dense, Weight: 1, Hits: []braid.Hit{{ID: "reset-pin", Score: 0.83}, {ID: "err-104", Score: 0.71}, {ID: "err-105", Score: 0.70}}},
		{Branch: braid.Sparse, Weight: 1}, // found nothing: no votes
		{Branch: braid.Lexical, Weight: 1, Hits: []braid.Hit{{ID: "err-104", Score: 6.2}}},
	}
	results, err := fusion.Fuse(rankings, fusion.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, r := range results {
		fmt.Printf("%d. %s %.5f\n", i+1, r.ID, r.Score)
		for _, v := range r.Votes {
			fmt.Printf("   %s rank %d: %.5f\n", v.Branch, v.Rank, v.Contribution)
		}
	}
	// Output:
	// 1. err-104 0.03252
	//    dense rank 2: 0.01613
	//    lexical rank 1: 0.01639
	// 2. reset-pin 0.01639
	//    dense rank 1: 0.01639
	// 3. err-105 0.01587
	//    dense rank 3: 0.01587
}

func ExampleFuse_minMax() {
	rankings := []fusion.Ranking{
		{Branch: braid.Dense, Weight: 2, Hits: []braid.Hit{{ID: "a", Score: 0.9}, {ID: "b", Score: 0.8}, {ID: "c", Score: 0.4}}},
		{Branch: braid.Lexical, Weight: 1, Hits: []braid.Hit{{ID: "b", Score: 7.5}}},
	}
	results, err := fusion.Fuse(rankings, fusion.Options{Method: fusion.MinMax, Limit: new(2)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Printf("%s %.2f\n", r.ID, r.Score)
	}
	// Output:
	// b 2.60
	// a 2.00
}

func ExampleOptions_Validate() {
	fmt.Println(fusion.Options{K: new(0), Limit: new(0)}.Validate())
	// Output:
	// fusion options: k is 0, want at least 1; limit is 0, want at least 1
}
