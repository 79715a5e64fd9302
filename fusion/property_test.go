package fusion_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/braid-search/braid"
	"github.com/braid-search/braid/fusion"
)

// rankings draws up to five rankings over a dozen passages of six documents, with ties, empty
// rankings and weights of 0, at least one weight being positive.
func rankings(t *rapid.T) []fusion.Ranking {
	n := rapid.IntRange(1, 5).Draw(t, "rankings")
	drawn := make([]fusion.Ranking, n)
	for i := range drawn {
		docs := rapid.SliceOfNDistinct(rapid.IntRange(0, 11), 0, 12, rapid.ID).Draw(t, "docs")
		drawn[i] = fusion.Ranking{
			Branch: braid.Branch(fmt.Sprintf("branch %d", i)),
			Weight: rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2}), rapid.Float64Range(0, 1e6)).Draw(t, "weight"),
		}
		for _, doc := range docs {
			score := rapid.OneOf(rapid.SampledFrom([]float64{-1, 0, 0.1, 0.5}), rapid.Float64()).Draw(t, "score")
			drawn[i].Hits = append(drawn[i].Hits, braid.Hit{ID: fmt.Sprintf("d%d", doc/2), Passage: doc % 2, Score: score})
		}
		slices.SortFunc(drawn[i].Hits, inOrder)
	}
	if !slices.ContainsFunc(drawn, func(r fusion.Ranking) bool { return r.Weight > 0 }) {
		drawn[0].Weight = 1
	}
	return drawn
}

func inOrder(a, b braid.Hit) int {
	if a.Before(b) {
		return -1
	}
	return 1
}

func options(t *rapid.T) fusion.Options {
	opts := fusion.Options{Method: rapid.SampledFrom(fusion.Methods()).Draw(t, "method")}
	if opts.Method == fusion.RRF {
		opts.K = new(rapid.IntRange(1, 1000).Draw(t, "k"))
	}
	return opts
}

func mustFuse(t *rapid.T, rankings []fusion.Ranking, opts fusion.Options) []fusion.Result {
	results, err := fusion.Fuse(rankings, opts)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func hitsOf(results []fusion.Result) []braid.Hit {
	hits := make([]braid.Hit, len(results))
	for i, r := range results {
		hits[i] = r.Hit
	}
	return hits
}

// votesOf returns the vote of every branch on every passage it found.
func votesOf(results []fusion.Result) map[braid.Hit]map[braid.Branch]fusion.Vote {
	votes := map[braid.Hit]map[braid.Branch]fusion.Vote{}
	for _, r := range results {
		votes[r.Place()] = map[braid.Branch]fusion.Vote{}
		for _, v := range r.Votes {
			votes[r.Place()][v.Branch] = v
		}
	}
	return votes
}

func TestResultIsARanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rankings(t)
		results := mustFuse(t, in, options(t))
		want := map[braid.Hit]bool{}
		for _, r := range in {
			for _, hit := range r.Hits {
				if r.Weight > 0 {
					want[hit.Place()] = true
				}
			}
		}
		for i, r := range results {
			if i > 0 && !results[i-1].Before(r.Hit) {
				t.Fatalf("%+v stands before %+v", results[i-1].Hit, r.Hit)
			}
			if !want[r.Place()] {
				t.Fatalf("%v is in the result though no branch with a vote found it, or it is there twice", r.Hit)
			}
			delete(want, r.Place())
		}
		if len(want) > 0 {
			t.Fatalf("lost passages: %v", want)
		}
	})
}

func TestVotesExplainTheScoreExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, r := range mustFuse(t, rankings(t), options(t)) {
			parts := []float64{}
			for _, v := range r.Votes {
				parts = append(parts, v.Contribution)
			}
			slices.Sort(parts)
			sum := 0.0
			for _, p := range parts {
				sum += p
			}
			if sum != r.Score {
				t.Fatalf("%s: votes add up to %v, the score is %v", r.ID, sum, r.Score)
			}
		}
	})
}

func TestOrderOfRankingsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, opts := rankings(t), options(t)
		want := mustFuse(t, in, opts)
		got := mustFuse(t, rapid.Permutation(in).Draw(t, "permuted"), opts)
		if !slices.Equal(hitsOf(got), hitsOf(want)) {
			t.Fatalf("permuted %v, before %v", hitsOf(got), hitsOf(want))
		}
		if !reflect.DeepEqual(votesOf(got), votesOf(want)) {
			t.Fatalf("permuted votes %v, before %v", votesOf(got), votesOf(want))
		}
	})
}

func TestEmptyRankingChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, opts := rankings(t), options(t)
		empty := fusion.Ranking{Branch: "empty", Weight: rapid.Float64Range(0, 10).Draw(t, "weight of the empty one")}
		with := mustFuse(t, append(slices.Clone(in), empty), opts)
		if without := mustFuse(t, in, opts); !reflect.DeepEqual(with, without) {
			t.Fatalf("with an empty ranking %v, without %v", with, without)
		}
	})
}

// A document that every branch ranks above another never scores less.
func TestAgreedOrderIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		results := mustFuse(t, rankings(t), options(t))
		votes := votesOf(results)
		above := func(a, b braid.Hit) bool {
			for branch, theirs := range votes[b] {
				ours, found := votes[a][branch]
				if theirs.Weight > 0 && (!found || ours.Rank > theirs.Rank) {
					return false
				}
			}
			return true
		}
		for _, a := range results {
			for _, b := range results {
				if above(a.Place(), b.Place()) && a.Score < b.Score {
					t.Fatalf("%+v is above %+v in every branch and scores less", a, b)
				}
			}
		}
	})
}

// Moving a document to the front of one ranking never lowers its RRF score.
func TestBetterRankNeverHurts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rankings(t)
		which := rapid.IntRange(0, len(in)-1).Draw(t, "which ranking")
		if len(in[which].Hits) == 0 {
			t.Skip("no document to move")
		}
		at := rapid.IntRange(0, len(in[which].Hits)-1).Draw(t, "which hit")
		who := in[which].Hits[at].Place()
		before := scores(mustFuse(t, in, fusion.Options{}))

		moved := slices.Clone(in[which].Hits)
		moved[at], moved[0] = moved[0], moved[at]
		for i := range moved { // RRF sees ranks only: any descending scores do
			moved[i].Score = float64(-i)
		}
		in[which].Hits = moved
		if after := scores(mustFuse(t, in, fusion.Options{})); after[who] < before[who] {
			t.Fatalf("score of %v fell from %v to %v", who, before[who], after[who])
		}
	})
}

// The unit in which a branch measures does not matter to score fusion.
func TestScaleOfScoresDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rankings(t)
		opts := fusion.Options{Method: rapid.SampledFrom([]fusion.Method{fusion.MinMax, fusion.DBSF}).Draw(t, "method")}
		for i := range in {
			for j := range in[i].Hits { // small integers, so that doubling is exact
				in[i].Hits[j].Score = float64(int(in[i].Hits[j].Score) % 1000)
			}
			slices.SortFunc(in[i].Hits, inOrder)
		}
		want := hitsOf(mustFuse(t, in, opts))
		for i := range in {
			in[i].Hits = slices.Clone(in[i].Hits)
			for j := range in[i].Hits {
				in[i].Hits[j].Score *= 1 << 20
			}
		}
		if got := hitsOf(mustFuse(t, in, opts)); !slices.Equal(got, want) {
			t.Fatalf("scores times 2^20 give %v, before %v", got, want)
		}
	})
}

func TestInputIsNotChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rankings(t)
		kept := slices.Clone(in)
		for i := range kept {
			kept[i].Hits = slices.Clone(in[i].Hits)
		}
		mustFuse(t, in, options(t))
		if !reflect.DeepEqual(in, kept) {
			t.Fatalf("rankings became %v, were %v", in, kept)
		}
	})
}

// A ranking of another wording votes like one of another branch.
func TestWordingsVoteLikeBranches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in, opts := rankings(t), options(t)
		want := mustFuse(t, in, opts)
		worded := slices.Clone(in)
		for i := range worded {
			worded[i].Branch, worded[i].Wording = braid.Dense, i
		}
		got := mustFuse(t, worded, opts)
		if !reflect.DeepEqual(hitsOf(got), hitsOf(want)) {
			t.Fatalf("wordings give %v, branches %v", hitsOf(got), hitsOf(want))
		}
		for i, r := range got {
			for j, v := range r.Votes {
				if branch := want[i].Votes[j].Branch; in[v.Wording].Branch != branch {
					t.Fatalf("vote %d of %v is of wording %d, want the ranking of %v", j, r.Hit, v.Wording, branch)
				}
			}
		}
	})
}
